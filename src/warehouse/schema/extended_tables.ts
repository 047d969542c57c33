import type { Table } from "../../catalog/columns.ts";
import type { Stream } from "../../catalog/stream.ts";
import type { Db } from "../database.ts";
import { type Catalog, readCatalog } from "../ddl/database_catalog.ts";
import type { Dialect } from "../dialect.ts";
import type { Extensions } from "./look.ts";
import { recordedColumns } from "./table_record.ts";
import { type TableOrder, wantedShapes } from "./tables.ts";

/** Finds the tables to which somebody added columns. `ensureTables` has recorded those that tributary made. */
export async function readExtensions(
  db: Db,
  dialect: Dialect,
  order: TableOrder,
  catalog?: Catalog,
): Promise<Extensions> {
  const { tables } = catalog ?? (await readCatalog(db, dialect, [order.schema]));
  const further = wantedShapes(dialect, order).flatMap(({ schema, name, role, columns }) => {
    const there =
      role === "main" || role === "child" ? [...(tables.get(`${schema}.${name}`)?.columns.keys() ?? [])] : [];
    const more = there.filter(column => !columns.some(own => own.name === column));
    return more.length === 0 ? [] : [{ name, more }];
  });
  const given = further.length === 0 ? undefined : await recordedColumns(db);
  const extensions = further.map(({ name, more }) => {
    const { others = [], left = [] } = Object.groupBy(more, column =>
      given?.get(name)?.has(column) ? "left" : "others",
    );
    return [name, { others, left }] as const;
  });
  return new Map(extensions.filter(([, { others }]) => others.length > 0));
}

export function withExtensions(stream: Stream, extensions: Extensions): Stream {
  if (extensions.size === 0) return stream;
  const { main, children } = stream.tables;
  const marked = (table: Table): Table => ({ ...table, extended: extensions.get(table.name) });
  return { ...stream, tables: { main: marked(main), children: children.map(marked) } };
}
