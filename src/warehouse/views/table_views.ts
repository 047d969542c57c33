import { sql } from "kysely";
import type { Column, Table } from "../../catalog/columns.ts";
import { OBSERVED_ON, type Stream } from "../../catalog/stream.ts";
import type { Fragment, Schemas } from "../database.ts";
import { columnComment } from "../ddl/comments.ts";
import type { Catalog } from "../ddl/database_catalog.ts";
import { type Shape, type ShapedColumn, shapesOf } from "../ddl/shape.ts";
import type { Dialect } from "../dialect.ts";
import type { View, ViewOrder } from "./view.ts";

/** What an analyst has no use for: what was not understood, and when a row came. */
const hidden: readonly string[] = ["_extra", "_problems", "_first_seen_at"];

/** A fragment's text; it has no parameters. */
export type Compile = (fragment: Fragment) => string;

interface Tables {
  readonly catalog: Catalog;
  readonly made: ReadonlySet<string>;
}

export const isThere = ({ schema }: Pick<Schemas, "schema">, { catalog, made }: Tables, name: string): boolean =>
  made.has(name) || catalog.tables.get(`${schema}.${name}`)?.isTable === true;

/**
 * The views of the tables that are there or being made: live rows, for snapshots those of the latest day, and beside them
 * `<table>_daily` with all days.
 */
export function tableViews(
  dialect: Dialect,
  place: Schemas,
  order: ViewOrder,
  there: Tables,
  compile: Compile,
): readonly View[] {
  const has = (name: string) => isThere(place, there, name);
  return order.catalogue
    .filter(stream => has(stream.name))
    .flatMap(stream => {
      const { main, children } = stream.tables;
      const shapes = shapesOf(dialect, place, stream.tables, table => order.comment(stream, table));
      return [main, ...children]
        .filter(table => has(table.name))
        .flatMap(table => {
          const shape = shapes.find(candidate => candidate.role !== "row_state" && candidate.name === table.name)!;
          const columns = [
            ...shownColumns(shape, there),
            ...(table.excluded ?? []).map(column => leftOut(dialect, column)),
          ];
          return viewsOf(stream, table, shape, columns, compile);
        });
    });
}

/** A column of a view; one that is not there is NULL in each row. */
interface ViewColumn {
  readonly name: string;
  readonly comment: string | undefined;
  readonly isThere: boolean;
  readonly type: string;
}

/** Views keep the columns that the configuration leaves out, so that what is built on them goes on working. */
export function leftOut(dialect: Dialect, column: Column): ViewColumn & { readonly comment: string } {
  const comment = `Left out by the configuration: always NULL. ${columnComment(column)}`;
  return { name: column.name, type: dialect.columnType(column.kind), comment, isThere: false };
}

/** In the order of the table: what was added later stands at its end. */
function shownColumns(shape: Shape, { catalog, made }: Tables): readonly ViewColumn[] {
  const present = [...(catalog.tables.get(`${shape.schema}.${shape.name}`)?.columns.keys() ?? [])];
  const kept = shape.columns.filter(({ name }) => made.has(shape.name) || present.includes(name));
  const known = kept.filter(({ name }) => !hidden.includes(name));
  const placeOf = ({ name }: ShapedColumn) => (present.includes(name) ? present.indexOf(name) : present.length);
  return known.toSorted((a, b) => placeOf(a) - placeOf(b)).map(column => ({ ...column, isThere: true }));
}

function viewsOf(
  stream: Stream,
  table: Table,
  shape: Shape,
  columns: readonly ViewColumn[],
  compile: Compile,
): readonly View[] {
  const from = sql.id(shape.schema, shape.name);
  const list = sql.join(
    columns.map(({ name, type, isThere }) =>
      isThere ? sql.id(name) : sql`cast(null as ${sql.raw(type)}) as ${sql.id(name)}`,
    ),
  );
  const select = sql`select ${list} from ${from}`;
  const live = sql`${select} where _deleted_at is null`;
  const shared = { columns: columns.map(({ name, comment }) => ({ name, comment })) };
  const comment = shape.comment ?? "";
  if (stream.mode.kind !== "snapshot")
    return [{ ...shared, name: table.name, select: compile(live), comment: `Live rows. ${comment}` }];
  const { main } = stream.tables;
  const each = sql.join(["_company", ...main.key.filter(name => name !== OBSERVED_ON)].map(name => sql.id(name)));
  const day = sql.id(OBSERVED_ON);
  // The main table says which day is the latest: a child table may have had no rows on it. A join, because DuckDB 1.1 knows no `in` of several columns.
  const latest = sql`${select} join (select ${each}, max(${day}) as ${day} from ${sql.id(
    shape.schema,
    main.name,
  )} where _deleted_at is null group by ${each}) as latest using (${each}, ${day}) where _deleted_at is null`;
  const daily = dailyName(table.name);
  return [
    {
      ...shared,
      name: table.name,
      select: compile(latest),
      comment: `The latest day's rows; ${daily} has every day. ${comment}`,
    },
    {
      ...shared,
      name: daily,
      select: compile(live),
      comment: `Every day's rows; ${table.name} has the latest. ${comment}`,
    },
  ];
}

/** The view of a snapshot's table that keeps all days. */
export const dailyName = (table: string): string => `${table}_daily`;
