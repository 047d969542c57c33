import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Relation } from "../../catalog/relation.ts";
import type { Destination } from "../destination.ts";
import type { StateTables } from "../state_tables.ts";
import { analyticsSchema } from "../views/view.ts";

/** Who measures, and when. */
export interface Measuring {
  readonly company: string;
  readonly runId: string;
  readonly now: string;
  /** Relations whose target is made of their own table: whoever names one has it. */
  readonly isMadeOf: (relation: Relation) => boolean;
}

interface Measured {
  readonly matched: number;
  readonly unmatched: number;
  readonly nulls: number;
}

/** Counts over live rows how often the relations are true, one query each, and keeps the result. Those without their tables are left out. */
export async function measureRelations(
  destination: Pick<Destination, "db" | "schema" | "stateSchema">,
  relations: readonly Relation[],
  measuring: Measuring,
): Promise<void> {
  const { db, schema } = destination;
  const there = await presentTables(db, schema, relations);
  for (const relation of relations) {
    const target = there(relation.to.table);
    const source = there(relation.from.table);
    if (source?.schema !== schema || target === undefined) continue;
    const measured = await measure(db, relation, source.schema, target.schema, target.schema === schema, measuring);
    await keep(db, relation, measured, measuring);
  }
}

/** Where a table of that name stands: among the tables, or among the views beside them. */
async function presentTables(db: Kysely<StateTables>, schema: string, relations: readonly Relation[]) {
  const names = [...new Set(relations.flatMap(({ from, to }) => [from.table, to.table]))];
  if (names.length === 0) return () => undefined;
  const schemas = [schema, analyticsSchema(schema)];
  const { rows } = await sql<{ schema: string; name: string }>`
    select table_schema as "schema", table_name as "name" from information_schema.tables
    where table_schema in (${sql.join(schemas)}) and table_name in (${sql.join(names)})`.execute(db);
  return (name: string) =>
    rows.find(row => row.name === name && row.schema === schema) ?? rows.find(row => row.name === name);
}

async function measure(
  db: Kysely<StateTables>,
  relation: Relation,
  fromSchema: string,
  toSchema: string,
  isTable: boolean,
  { company, isMadeOf }: Measuring,
): Promise<Measured> {
  const { from, to, where } = relation;
  const both = (of: string, names: readonly string[]) => names.map(name => sql`${sql.id(of, name)}`);
  const named = sql.join(
    both("f", from.columns).map(column => sql`${column} is not null`),
    sql` and `,
  );
  const only =
    where === undefined
      ? sql``
      : sql` and ${sql.id("f", where.column)} in (${sql.join(where.values.map(value => sql.lit(value)))})`;
  const pairs = both("t", to.columns).map((column, at) => sql`${column} = ${sql.id("f", from.columns[at]!)}`);
  const isLive = isTable ? sql` and _deleted_at is null` : sql``;
  const found: RawBuilder<unknown> = isMadeOf(relation) ? sql`true` : sql`t._company is not null`;
  // Distinct, and joined once: a subquery a row is what PostgreSQL may make of EXISTS within an aggregate.
  const counterparts = isMadeOf(relation)
    ? sql``
    : sql` left join (select distinct _company, ${sql.join(to.columns.map(name => sql.id(name)))}
        from ${sql.id(toSchema, to.table)} where _company = ${company}${isLive}) t on ${sql.join(pairs, sql` and `)}`;
  const { rows } = await sql<Measured>`
    select count(*) filter (where ${named} and ${found}) as matched,
      count(*) filter (where ${named} and not (${found})) as unmatched,
      count(*) filter (where not (${named})) as nulls
    from ${sql.id(fromSchema, from.table)} f${counterparts}
    where f._company = ${company} and f._deleted_at is null${only}`.execute(db);
  const { matched = 0, unmatched = 0, nulls = 0 } = rows[0] ?? {};
  return { matched: Number(matched), unmatched: Number(unmatched), nulls: Number(nulls) };
}

async function keep(
  db: Kysely<StateTables>,
  { from, to, where }: Relation,
  measured: Measured,
  { company, runId, now }: Measuring,
): Promise<void> {
  const key = { company, from_table: from.table, from_columns: from.columns.join(", "), to_table: to.table };
  await db.transaction().execute(async trx => {
    let old = trx.deleteFrom("relations");
    for (const [name, value] of Object.entries(key)) old = old.where(name as keyof typeof key, "=", value);
    await old.execute();
    await trx
      .insertInto("relations")
      .values({
        ...key,
        to_columns: to.columns.join(", "),
        only_where:
          where === undefined
            ? null
            : `${where.column} in (${where.values.map(value => `'${value.replaceAll("'", "''")}'`).join(", ")})`,
        ...measured,
        run_id: runId,
        measured_at: now,
      })
      .execute();
  });
}
