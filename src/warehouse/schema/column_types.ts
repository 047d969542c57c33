import { sql } from "kysely";
import type { Message } from "../../message.ts";
import type { Db, Fragment, Schemas } from "../database.ts";
import { canonicalType, type PresentTable } from "../ddl/database_catalog.ts";
import type { Shape, ShapedColumn } from "../ddl/shape.ts";
import type { Dialect } from "../dialect.ts";
import { type Dependents, dependentsOf } from "../views/dependents.ts";
import { presentViews } from "../views/present_views.ts";
import { refillStatement } from "./fill_from_extra.ts";
import { tablesMessages } from "./messages.ts";

/** Columns of a table that are there under another type than the wanted one, and can become it. */
export interface Retyped {
  readonly table: string;
  readonly columns: readonly ShapedColumn[];
}

/** The types that a column may be given in place, by the type it has: each holds whatever the other did. */
const ROOMIER: Readonly<Record<string, string>> = { bigint: "numeric(38,9)", "numeric(38,9)": "varchar" };

/** A key's column, and one whose values are hashed or masked, is not among them: its values stand elsewhere too. */
export function retyped(shape: Shape, present: PresentTable): Retyped {
  const columns = shape.columns.filter(({ name, type, of }) => {
    const there = present.columns.get(name)?.type;
    const isOwn = of !== undefined && of.treatment === undefined && !shape.primaryKey.includes(name);
    return isOwn && there !== undefined && there !== canonicalType(type) && ROOMIER[there] === canonicalType(type);
  });
  return { table: shape.name, columns };
}

/** Gives the columns their types; what did not fit the former ones comes out of `_problems`. */
export function retyping(dialect: Dialect, table: Fragment, { columns }: Retyped) {
  const changes = columns.map(
    ({ name, type }) => sql`alter column ${sql.id(name)} type ${sql.raw(type)} using ${inType(name, type)}`,
  );
  const groups = dialect.altersTogether ? [changes] : changes.map(change => [change]);
  const statements = dialect.retypesInPlace
    ? groups.map(group => sql`alter table ${table} ${sql.join(group)}`)
    : columns.flatMap(column => replaced(table, column));
  return {
    statements,
    onRows: columns.map(({ of }) => refillStatement(dialect, table, of!)),
  };
}

/** A decimal is written with all its places, the service's own text had other ones. */
function inType(name: string, type: string): Fragment {
  const own = sql.id(name);
  return ["text", "varchar"].includes(type.toLowerCase())
    ? sql`rtrim(rtrim(cast(${own} as varchar), '0'), '.')`
    : sql`cast(${own} as ${sql.raw(type)})`;
}

/** Another column, at the end of the table, takes the place of one. */
function replaced(table: Fragment, { name, type, comment }: ShapedColumn): readonly Fragment[] {
  const [own, next] = [sql.id(name), sql.id(`_${name}_retyped`)];
  return [
    sql`alter table ${table} add column ${next} ${sql.raw(type)}`,
    sql`update ${table} set ${next} = ${inType(name, type)}`,
    sql`alter table ${table} drop column ${own}`,
    sql`alter table ${table} rename column ${next} to ${own}`,
    ...(comment === undefined ? [] : [sql`comment on column ${table}.${own} is ${sql.lit(comment)}`]),
  ];
}

/** PostgreSQL changes no column that a view reads: ours, which are made again afterwards, and somebody's own. */
export async function viewsInTheWay(
  db: Db,
  dialect: Dialect,
  place: Schemas & { readonly views: string },
  tables: readonly Retyped[],
): Promise<Dependents> {
  if (!dialect.viewsHoldTables || tables.length === 0) return { ours: [], foreign: [] };
  const columns = tables.flatMap(({ table, columns }) => columns.map(({ name }) => `${table}.${name}`));
  const { record } = await presentViews(db, dialect, place.views);
  const isOurs = (view: { schema: string; name: string }) =>
    view.schema === place.views && Object.hasOwn(record, view.name);
  return dependentsOf(db, dialect, place.schema, { columns }, isOurs);
}

/** What has to be done about somebody's own views before their columns can change. */
export function viewRefusals(foreign: readonly string[], tables: readonly Retyped[]): readonly Message[] {
  if (foreign.length === 0) return [];
  const named = tables.map(({ table, columns }) => ({ table, columns: columns.map(({ name }) => name) }));
  return [tablesMessages.views_read_columns({ views: foreign, tables: named })];
}
