import { type Column, snakeCase, type Table, type TableSet } from "../../catalog/columns.ts";
import { isReserved } from "../../catalog/reserved_words.ts";
import type { Stream } from "../../catalog/stream.ts";
import type { Db } from "../database.ts";
import { altering } from "../ddl/alteration.ts";
import { columnsIn } from "../ddl/database_catalog.ts";
import type { Destination } from "../destination.ts";
import { newFieldType } from "../state/schema_changes.ts";
import { insertRows } from "../state_rows.ts";

/** A column that stands for a field which the service sends and its documents don't name. It belongs to all companies. */
export interface AddedColumn {
  readonly stream: string;
  readonly table: string;
  readonly name: string;
  /** Below the row or array element. */
  readonly path: readonly string[];
  readonly kind: "text" | "json";
}

const LONGEST_NAME = 63;
/** Columns that are added to one table at most. */
const MOST = 100;
// What begins with an underscore is the engine's own, in the tables and in stages.
const NAMEABLE = /^[a-z0-9]\w*$/;
const PATH = /^\w+(\.\w+)*$/;
// Every table of PostgreSQL has columns of these names already; those at the end a lake's catalog has.
const SYSTEM: readonly string[] = [
  ...["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"],
  ...["row_id", "begin_snapshot", "end_snapshot"],
];
const SCALARS: readonly string[] = ["string", "number", "boolean", "null"];

/** What a field's column is called, as a documented field's would be; undefined where it can have none and stays in `_extra`. */
export function nameFor(table: Table, path: string): string | undefined {
  if (!PATH.test(path)) return undefined;
  const plain = path.split(".").map(snakeCase).join("_");
  const taken = isReserved(plain) || SYSTEM.includes(plain) || (table.path.length > 0 && table.key.includes(plain));
  const name = taken ? `${plain}_` : plain;
  if (!NAMEABLE.test(name) || name.length > LONGEST_NAME) return undefined;
  return table.columns.some(column => column.name.toLowerCase() === name) ? undefined : name;
}

export async function addedColumns({ db }: Pick<Destination, "db">): Promise<readonly AddedColumn[]> {
  const rows = await db.selectFrom("added_columns").selectAll().orderBy("added_at").orderBy("column_name").execute();
  return rows.map(({ stream, table_name, column_name, path, kind }) => ({
    stream,
    table: table_name,
    name: column_name,
    path: path.split("."),
    kind: kind === "text" ? "text" : "json",
  }));
}

/** Those that their tables have. A run that was killed may have written one down and not made it: the next one will. */
export async function addedColumnsOf({
  db,
  schema,
}: Pick<Destination, "db"> & { readonly schema: string }): Promise<readonly AddedColumn[]> {
  const added = await addedColumns({ db });
  if (added.length === 0) return added;
  const columns = await columnsIn(db, schema);
  return added.filter(({ table, name }) => columns.get(table)?.has(name));
}

/** Decides which of the fields that were told so far get columns, and remembers it. Answers all columns that were ever added. */
export async function chooseUnknownFieldColumns(
  destination: Destination,
  streams: readonly Stream[],
  now: string,
): Promise<readonly AddedColumn[]> {
  const { db, dialect } = destination;
  const { before, fresh } = await choice(db, streams);
  if (fresh.length === 0) return before;
  // Chosen again where alterations of other companies' runs wait.
  return altering(db, dialect, async trx => {
    const { before, fresh } = await choice(trx, streams);
    const rows = fresh.map(({ stream, table, name, path, kind }) => ({
      ...{ stream, table_name: table, column_name: name, path: path.join("."), kind, added_at: now },
    }));
    await insertRows(trx, "added_columns", rows);
    return [...before, ...fresh];
  });
}

/** What was added, and what of the fields that were told so far is to be. */
async function choice(
  db: Db,
  streams: readonly Stream[],
): Promise<{ readonly before: readonly AddedColumn[]; readonly fresh: readonly AddedColumn[] }> {
  const before = await addedColumns({ db });
  const fresh: AddedColumn[] = [];
  for (const stream of streams) {
    const told = await toldFields(db, stream.name);
    if (told.length === 0) continue;
    for (const table of tablesIn(stream.tables)) {
      const own = told.filter(field => field.table === table.name);
      const known = before.filter(column => column.table === table.name);
      fresh.push(...chosen(stream.name, table, own, known));
    }
  }
  return { before, fresh };
}

interface ToldField {
  readonly table: string;
  readonly path: string;
  readonly types: readonly string[];
}

/** The new fields of all companies, those first that were seen first. */
async function toldFields(db: Db, stream: string): Promise<readonly ToldField[]> {
  const rows = await db
    .selectFrom("schema_changes")
    .select(["table_name", "column_name", "change", "first_seen_at"])
    .where("stream", "=", stream)
    .execute();
  // By letters as they are: databases order by their own rules.
  const order = (row: (typeof rows)[number]) => `${row.first_seen_at.toISOString()} ${row.column_name}`;
  rows.sort((a, b) => (order(a) < order(b) ? -1 : 1));
  const fields = rows.flatMap(({ table_name: table, column_name: path, change }) => {
    const type = newFieldType(change);
    return type === undefined ? [] : [{ table, path, type }];
  });
  const grouped = Map.groupBy(fields, ({ table, path }) => JSON.stringify([table, path]));
  return [...grouped.values()].map(all => ({ ...all[0]!, types: all.map(({ type }) => type) }));
}

function chosen(
  stream: string,
  table: Table,
  told: readonly ToldField[],
  known: readonly AddedColumn[],
): readonly AddedColumn[] {
  const added = [...known];
  for (const { path, types } of told) {
    const name = nameFor(table, path);
    // Of a field that never had a value nobody knows what it is.
    if (name === undefined || types.every(type => type === "null") || added.length >= MOST) continue;
    if (added.some(column => column.name === name)) continue;
    const kind = types.every(type => SCALARS.includes(type)) ? "text" : "json";
    added.push({ stream, table: table.name, name, path: path.split("."), kind });
  }
  return added.slice(known.length);
}

const tablesIn = ({ main, children }: TableSet): readonly Table[] => [main, ...children];

/** The stream with the columns that were added to its tables. One that the documents name by now is theirs. */
export function withAdded(stream: Stream, added: readonly AddedColumn[], volatile: readonly string[]): Stream {
  if (!added.some(column => column.stream === stream.name)) return stream;
  const widened = (table: Table): Table => {
    const taken = new Set(table.columns.map(column => column.name.toLowerCase()));
    const own = added.filter(column => column.table === table.name && !taken.has(column.name));
    return { ...table, columns: [...table.columns, ...own.map(column => columnOf(column, volatile))] };
  };
  return {
    ...stream,
    tables: { main: widened(stream.tables.main), children: stream.tables.children.map(widened) },
  };
}

const columnOf = ({ name, path, kind }: AddedColumn, volatile: readonly string[]): Column => ({
  name,
  path,
  source: "row",
  kind,
  nullable: true,
  volatile: volatile.includes(name),
  added: true,
  currency: undefined,
  description: "A field that the service's documents don't name.",
});
