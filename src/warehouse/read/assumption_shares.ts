import { sql } from "kysely";
import { z } from "zod";
import type { Destination } from "../destination.ts";
import { analyticsSchema } from "../views/view.ts";

const KEY = "assumptions";

const share = z.object({
  company: z.string(),
  meaning: z.string(),
  /** Null: all rules of the meaning together. */
  column: z.string().nullable(),
  config_line: z.string(),
  rows: z.number(),
  touched: z.number(),
  /** The highest share of the money in one currency. */
  money: z.number(),
});

/** How much of a company's rows a rule of the meanings is true of. */
export type AssumptionShare = Readonly<z.output<typeof share>>;

type Place = Pick<Destination, "db" | "schema" | "stateSchema">;

/** What the model `assumptions` says, over all months; shares of the money of fewer rows than `least` don't count. */
export async function measureAssumptions({ db, schema }: Place, least: number): Promise<readonly AssumptionShare[]> {
  const { rows } = await sql<Record<keyof AssumptionShare, string | null>>`
    select company, meaning, column_name as "column", config_line, sum(rows) as rows, sum(touched) as touched,
      coalesce(max(case when rows >= ${sql.lit(least)} then money end), 0) as money
    from (
      select _company as company, meaning, column_name, config_line, currency_code, sum(row_count) as rows, sum(touched_count) as touched,
        cast(sum(touched_amount) as double precision) / nullif(cast(sum(amount) as double precision), 0) as money
      from ${sql.id(analyticsSchema(schema), "assumptions")}
      group by _company, meaning, column_name, config_line, currency_code
    ) currencies
    group by company, meaning, column_name, config_line
    order by company, meaning, column_name nulls first`.execute(db);
  return rows.map(row =>
    share.parse({ ...row, rows: Number(row.rows), touched: Number(row.touched), money: Number(row.money) }),
  );
}

/** What was measured last; none where nothing was. */
export async function recordedAssumptions({ db }: Place): Promise<readonly AssumptionShare[]> {
  const row = await db.selectFrom("warehouse").select("value").where("key", "=", KEY).executeTakeFirst();
  return z.array(share).safeParse(row?.value).data ?? [];
}

export async function recordAssumptions({ db }: Place, shares: readonly AssumptionShare[]): Promise<void> {
  await db.transaction().execute(async trx => {
    await trx.deleteFrom("warehouse").where("key", "=", KEY).execute();
    await trx
      .insertInto("warehouse")
      .values({ key: KEY, value: JSON.stringify(shares) })
      .execute();
  });
}
