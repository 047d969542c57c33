import { sql } from "kysely";
import { z } from "zod";
import { askedColumns, questionsOf, type ReadMeaning } from "../../catalog/meaning.ts";
import type { Stream } from "../../catalog/stream.ts";
import { columnsIn } from "../ddl/database_catalog.ts";
import type { Destination } from "../destination.ts";
import { factOf, keepFact } from "../state/facts.ts";

const KEY = "assumptions";

const share = z.object({
  company: z.string(),
  table: z.string(),
  meaning: z.string(),
  /** Null: all rules of the meaning together. */
  column: z.string().nullable(),
  config_line: z.string(),
  rows: z.number(),
  touched: z.number(),
  /** Of all amounts, whatever their currency. */
  money: z.number(),
});

/** How much of a company's rows a rule of the meanings is true of. */
export type AssumptionShare = Readonly<z.output<typeof share>>;

type Place = Pick<Destination, "db" | "schema">;

/** Counts the rows of these tables by all that is asked of them, in one pass over each; those that are not there have none. */
export async function measureAssumptions(
  { db, schema }: Place,
  meanings: readonly ReadMeaning[],
  tables: ReadonlySet<string>,
  catalogue: readonly Stream[],
): Promise<readonly AssumptionShare[]> {
  const there = await columnsIn(db, schema);
  const shares: AssumptionShare[] = [];
  // A stream that has long been off may have tables of an earlier version.
  const present = (meaning: ReadMeaning): ReadMeaning => {
    const isThere = ({ column, isBeside }: ReadMeaning["rules"][number]) =>
      there.get((isBeside ? meaning.beside : meaning.table) ?? "")?.has(column.name) === true;
    return { ...meaning, rules: meaning.rules.filter(isThere) };
  };
  for (const [table, all] of Map.groupBy(meanings, meaning => meaning.table)) {
    if (!tables.has(table) || !there.has(table)) continue;
    const own = all.map(present);
    const [{ beside, withDeleted, amount }] = own as [ReadMeaning];
    const key = catalogue.find(({ name }) => name === beside)?.tables.main.key[0];
    const isBeside = beside !== undefined && key !== undefined && there.has(beside);
    const aliases = { own: "r", beside: isBeside ? "b" : undefined };
    const asked = askedColumns(own, aliases);
    const joined = isBeside
      ? sql`left join ${sql.id(schema, beside)} b on b._company = r._company and ${sql.id("b", key)} = ${sql.id("r", key)}`
      : sql``;
    const live = withDeleted === true ? sql`` : sql`where r._deleted_at is null`;
    const { rows } = await sql<Record<string, unknown>>`
      select company, ${sql.raw(asked.names)}, count(*) as n, coalesce(sum(abs(cast(amount as double precision))), 0) as money
      from (select r._company as company, ${sql.id("r", amount)} as amount, ${sql.raw(asked.sql)}
        from ${sql.id(schema, table)} r ${joined} ${live}) asked
      group by company, ${sql.raw(asked.names)}`.execute(db);
    for (const [company, groups] of Map.groupBy(rows, row => String(row["company"]))) {
      const sum = (name: string, of: typeof groups) => of.reduce((total, row) => total + Number(row[name]), 0);
      const [counts, amounts] = [sum("n", groups), sum("money", groups)];
      questionsOf(own, aliases).forEach(({ meaning, column = null, line: config_line }, at) => {
        const touched = groups.filter(row => row[`asked_${at + 1}`] === true);
        const money = amounts > 0 ? sum("money", touched) / amounts : 0;
        const counted = { rows: counts, touched: sum("n", touched), money };
        shares.push({ company, table, meaning: meaning.name, column, config_line, ...counted });
      });
    }
  }
  return shares;
}

export async function recordedAssumptions({ db }: Place): Promise<readonly AssumptionShare[]> {
  return z.array(share).safeParse(await factOf(db, KEY)).data ?? [];
}

export async function recordAssumptions({ db }: Place, shares: readonly AssumptionShare[]): Promise<void> {
  await db.transaction().execute(trx => keepFact(trx, KEY, shares));
}
