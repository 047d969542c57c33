import { sql } from "kysely";
import type { TableSet } from "../../catalog/columns.ts";
import type { Fragment } from "../database.ts";
import { withTables } from "../ddl/present_tables.ts";
import type { Destination } from "../destination.ts";
import { equal, rowStateRef, tableRef } from "../sql_fragments.ts";

/** A column's value that a row must have. */
interface Only {
  readonly column: string;
  readonly value: string;
}

/** One request for each live row of another stream. */
interface RowParents extends ChildStream {
  readonly kind: "rows";
  readonly only: Only | undefined;
}

/** One request for each distinct value that live rows of other streams carry; no row is the parent by itself. */
interface ValueParents {
  readonly kind: "values";
  /** The detail's key column that holds the value. */
  readonly own: string;
  readonly sources: readonly ValueSource[];
  /** Its age alone makes a detail due again, whatever becomes of the rows. */
  readonly aged: boolean;
}

/** A column whose values are asked for: of a JSON object its field names. */
export interface ValueSource {
  readonly stream: string;
  readonly tables: TableSet;
  readonly column: string;
  readonly only: Only | undefined;
  /** Of a snapshot: the column that only the rows with its greatest value count by. */
  readonly latestBy: string | undefined;
}

/** What a detail is asked for. */
export type Parents = RowParents | ValueParents;

/** Columns of the parents that decide order and range of the work; rows of a source that has no such column have no value. */
interface ParentColumns {
  readonly open: string | undefined;
  readonly newest: string | undefined;
  /** What the path needs, each as `p_<name>`. */
  readonly params: readonly string[];
}

type Place = Pick<Destination, "schema" | "stateSchema" | "dialect">;

/** Without the further sources whose tables are not there: they were never on. The first is the parent itself. */
export async function presentParents<P extends Parents>(
  looked: Pick<Destination, "db" | "dialect" | "schema">,
  parents: P,
): Promise<P> {
  if (parents.kind === "rows" || parents.sources.length < 2) return parents;
  const [first, ...others] = parents.sources;
  return { ...parents, sources: [first, ...(await withTables(looked, others))] };
}

/** Live parents: `parent_key` text, `parent_hash` bigint. */
export function liveParents(place: Place, company: string, parents: Parents): Fragment {
  if (parents.kind === "rows" && parents.only === undefined) {
    return sql`(select ${parentKey("p", parents)} as parent_key, p.hash as parent_hash
      from ${rowStateRef(place, parents.tables.main)} p where p._company = ${company} and p.deleted_at is null)`;
  }
  const none = { open: undefined, newest: undefined, params: [] };
  return parentRows(place, company, parents, none);
}

/** Live parents with what decides the work: `parent_key`, `parent_hash`, `open`, `newest`, `p_…`. */
export function parentRows(place: Place, company: string, parents: Parents, columns: ParentColumns): Fragment {
  if (parents.kind === "values") return distinctValues(place, company, parents, columns);
  const { main } = parents.tables;
  const { open, newest } = deciding(main.columns, columns);
  const params = columns.params.map(name => sql`, cast(${sql.id("m", name)} as varchar) as ${sql.id(`p_${name}`)}`);
  return sql`(select ${parentKey("p", parents)} as parent_key, p.hash as parent_hash, ${open} as open, ${newest} as newest${sql.join(params, sql``)}
    from ${liveRowsOf(place, company, parents.tables)}${onlyThose(parents.only)})`;
}

const liveRowsOf = (
  place: Place,
  company: string,
  { main }: TableSet,
  joined = sql``,
): Fragment => sql`${rowStateRef(place, main)} p
    join ${tableRef(place, main)} m on m._company = p._company and ${equal("m", "p", main.key)}${joined}
    where p._company = ${company} and p.deleted_at is null`;

const onlyThose = (only: Only | undefined): Fragment =>
  only === undefined ? sql`` : sql` and cast(${sql.id("m", only.column)} as varchar) = ${only.value}`;

function deciding(columns: TableSet["main"]["columns"], { open, newest }: ParentColumns) {
  const known = (name: string | undefined) => columns.some(column => column.name === name);
  const flag = (name: string | undefined) =>
    name !== undefined && known(name) ? sql`coalesce(${sql.id("m", name)}, false)` : sql`false`;
  return {
    open: flag(open),
    newest: newest !== undefined && known(newest) ? sql.id("m", newest) : sql`cast(null as date)`,
  };
}

/**
 * A value's hash is the sum of the carrying rows' hashes, within a bigint: the same in both databases, whatever the order,
 * and another one when a row comes, goes or changes.
 */
function distinctValues(
  place: Place,
  company: string,
  { sources, aged }: ValueParents,
  columns: ParentColumns,
): Fragment {
  if (sources.length === 0) return sql`(${noValues(columns)})`;
  const carriers = sources.map(source => {
    const { open, newest } = deciding(source.tables.main.columns, columns);
    return sql`select v.value, v.hash, v.open, v.newest from (${carried(place, company, source, {
      hash: sql`p.hash`,
      open,
      newest: sql`cast(${newest} as date)`,
    })}) v where v.value is not null and v.value <> '' and length(v.value) <= ${sql.lit(LONGEST_VALUE)}`;
  });
  const hash = aged ? sql`cast(0 as bigint)` : withinBigint(sql`sum(c.hash)`);
  const params = columns.params.map(name => sql`, c.value as ${sql.id(`p_${name}`)}`);
  return sql`(select c.value as parent_key, ${hash} as parent_hash, bool_or(c.open) as open, max(c.newest) as newest${sql.join(params, sql``)}
    from (${sql.join(carriers, sql` union all `)}) c group by c.value)`;
}

/** A longer text fits neither into a path nor into the detail state's index: nothing is asked for it, as for an empty one. */
const LONGEST_VALUE = 500;

const noValues = ({ params }: ParentColumns): Fragment => sql`select cast(null as varchar) as parent_key,
    cast(0 as bigint) as parent_hash, false as open, cast(null as date) as newest${sql.join(
      params.map(name => sql`, cast(null as varchar) as ${sql.id(`p_${name}`)}`),
      sql``,
    )} where false`;

/** Each live row of a source with the values it carries, as `value`, and further expressions over `p` (rowState), `m` (table) and what is joined. */
function carried(
  place: Place,
  company: string,
  { tables, column, only, latestBy }: ValueSource,
  more: Readonly<Record<string, Fragment>>,
  joined = sql``,
): Fragment {
  const { main } = tables;
  const named = sql.join(
    Object.entries(more).map(([name, expression]) => sql`, ${expression} as ${sql.id(name)}`),
    sql``,
  );
  const latest =
    latestBy === undefined
      ? sql``
      : sql` and ${sql.id("p", latestBy)} = (select max(${sql.id("x", latestBy)}) from ${rowStateRef(place, main)} x
          where x._company = ${company} and x.deleted_at is null)`;
  const rows = sql`${liveRowsOf(place, company, tables, joined)}${onlyThose(only)}${latest}`;
  const isObject = main.columns.some(({ name, kind }) => name === column && kind === "json");
  if (!isObject) return sql`select cast(${sql.id("m", column)} as varchar) as value${named} from ${rows}`;
  return sql`select f.value${sql.join(
    Object.keys(more).map(name => sql`, r.${sql.id(name)}`),
    sql``,
  )}
    from (select ${sql.id("m", column)} as object${named} from ${rows}) r
    cross join lateral ${place.dialect.fieldNames(sql`r.object`)} as f`;
}

/** 2^63 − 1: sums are kept below it, so that adding to a stored one gives what the whole sum would. */
const CEILING = sql`9223372036854775807`;

const withinBigint = (sum: Fragment): Fragment =>
  sql`cast(((${sum} % ${CEILING}) + ${CEILING}) % ${CEILING} as bigint)`;

/**
 * By value, what a change of `was_hash` to `_hash` of the rows in `changed` adds to its hash, as an UPDATE of the details
 * detail state: the rows are the same under other hashes, so nothing has to be fetched again for their values.
 */
export function restamped(
  place: Place,
  company: string,
  detail: { readonly stream: string; readonly source: ValueSource },
  changed: Fragment,
): Fragment {
  const { source, stream } = detail;
  const same = sql` join ${changed} c on c.op = 's' and ${equal("c", "p", source.tables.main.key)}`;
  const more = sql`cast(c._hash as decimal(38,0)) - cast(c.was_hash as decimal(38,0))`;
  const by = sql`(select value, sum(more) as more from (${carried(place, company, source, { more }, same)}) v group by value)`;
  return sql`update ${sql.id(place.stateSchema, "details")} d
    set parent_hash = ${withinBigint(sql`(cast(d.parent_hash as decimal(38,0)) + v.more)`)}
    from ${by} v where d.company = ${company} and d.stream = ${stream} and d.parent_key = v.value`;
}

/** The parent's key as the detail state names it: the parent's column that the detail's key begins with. */
export const parentKey = (of: string, detail: ChildStream): Fragment =>
  sql`cast(${sql.id(of, detail.on[0]![1])} as varchar)`;

/** A stream whose rows belong to another stream's: `on` pairs its key columns with that stream's. */
export interface ChildStream {
  readonly stream: string;
  readonly tables: TableSet;
  readonly on: readonly (readonly [own: string, parents: string])[];
}
