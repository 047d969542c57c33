import { sql } from "kysely";
import type { Relation } from "../../catalog/relation.ts";
import type { Db, Fragment } from "../database.ts";
import type { Destination } from "../destination.ts";
import { putRow, rowWith } from "../state_rows.ts";
import { analyticsSchema } from "../views/view.ts";

export interface Measuring {
  readonly company: string;
  readonly runId: string;
  readonly now: string;
  /** Relations whose target is made of their own table: whoever names one has it. */
  readonly isMadeOf: (relation: Relation) => boolean;
  /** What the target can hold; undefined for one that no stream loads. */
  readonly coverageOf: (relation: Relation) => Coverage | undefined;
}

/** What a relation's target can hold: a row outside of it says nothing of the relation. */
export interface Coverage {
  readonly stream: string;
  /** When a row of the other side came about: one later than what the target is complete to has no counterpart yet. */
  readonly time: string | undefined;
  /** Of rows that come inside a detail: the detail's own table, and its key as both sides call it. Orders whose detail was never fetched have none. */
  readonly fetched: { readonly table: string; readonly key: readonly { from: string; to: string }[] } | undefined;
}

interface Counted extends Measured {
  readonly kind: string | null;
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
    const coverage = measuring.coverageOf(relation);
    if (coverage !== undefined && !(await isKept(db, coverage, measuring))) continue;
    const counted = await measure(db, relation, { schema, target: target.schema, coverage }, measuring);
    const matching = relation.kind === undefined ? [] : counted.filter(({ matched }) => Number(matched) > 0);
    const measured = sumOf(matching.length === 0 ? counted : matching);
    await keep(db, relation, measured, matching, measuring);
  }
}

/** Whether the stream is on and has been loaded: what it left behind when it was switched off is no measure. */
async function isKept(db: Db, { stream }: Coverage, { company }: Measuring): Promise<boolean> {
  const found = await rowWith(db, "streams", { company, stream });
  return found?.on === true && found.last_success_at !== null;
}

function sumOf(counted: readonly Counted[]): Measured {
  const sum = (name: keyof Measured) => counted.reduce((total, one) => total + Number(one[name]), 0);
  return { matched: sum("matched"), unmatched: sum("unmatched"), nulls: sum("nulls") };
}

/** Where a table of that name stands: among the tables, or among the views beside them. */
async function presentTables(db: Db, schema: string, relations: readonly Relation[]) {
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
  db: Db,
  relation: Relation,
  {
    schema,
    target,
    coverage,
  }: { readonly schema: string; readonly target: string; readonly coverage: Coverage | undefined },
  { company, isMadeOf }: Measuring,
): Promise<readonly Counted[]> {
  const { from, to, where, kind } = relation;
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
  const isLive = target === schema ? sql` and _deleted_at is null` : sql``;
  const found: Fragment = isMadeOf(relation) ? sql`true` : sql`t._company is not null`;
  // Distinct, and joined once: a subquery a row is what PostgreSQL may make of EXISTS within an aggregate.
  const counterparts = isMadeOf(relation)
    ? sql``
    : sql` left join (select distinct _company, ${sql.join(to.columns.map(name => sql.id(name)))}
        from ${sql.id(target, to.table)} where _company = ${company}${isLive}) t on ${sql.join(pairs, sql` and `)}`;
  const covered = coverage === undefined ? sql`true` : within(db, coverage, schema, company);
  const { rows } = await sql<Counted>`
    select ${kind === undefined ? sql`null` : sql.id("f", kind)} as kind,
      count(*) filter (where ${named} and ${found}) as matched,
      count(*) filter (where ${named} and not (${found}) and ${covered}) as unmatched,
      count(*) filter (where not (${named})) as nulls
    from ${sql.id(schema, from.table)} f${counterparts}
    where f._company = ${company} and f._deleted_at is null${only} group by 1 order by 1`.execute(db);
  return rows;
}

/** Whether a row may have a counterpart in what has been loaded. */
function within(db: Db, { stream, time, fetched }: Coverage, schema: string, company: string): Fragment {
  const completeTo = db
    .selectFrom("streams")
    .select("complete_to")
    .where("company", "=", company)
    .where("stream", "=", stream);
  const inTime = time === undefined ? sql`true` : sql`coalesce(${sql.id("f", time)} <= (${completeTo}), true)`;
  if (fetched === undefined) return inTime;
  const pairs = fetched.key.map(each => sql`d.${sql.id(each.to)} = ${sql.id("f", each.from)}`);
  return sql`${inTime} and exists (select 1 from ${sql.id(schema, fetched.table)} d
    where d._company = ${company} and d._deleted_at is null and ${sql.join(pairs, sql` and `)})`;
}

async function keep(
  db: Db,
  { from, to, where, kind }: Relation,
  measured: Measured,
  matching: readonly Counted[],
  { company, runId, now }: Measuring,
): Promise<void> {
  const conditions = where === undefined ? [] : [among(where.column, where.values)];
  const kinds = matching.flatMap(one => one.kind ?? []);
  if (kind !== undefined && matching.length > 0) conditions.push(among(kind, kinds));
  await putRow(db, "relations", {
    ...{ company, from_table: from.table, from_columns: from.columns.join(", "), to_table: to.table },
    to_columns: to.columns.join(", "),
    only_where: conditions.join(" and ") || null,
    ...measured,
    run_id: runId,
    measured_at: now,
  });
}

const among = (column: string, values: readonly string[]): string =>
  `${column} in (${values.map(value => `'${value.replaceAll("'", "''")}'`).join(", ")})`;
