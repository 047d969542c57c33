import type { Simulator } from "../../simulator/simulator.ts";
import type { Column, Table } from "../../src/catalog/columns.ts";
import type { Stream } from "../../src/catalog/stream.ts";
import {
  agrees,
  canonical,
  expectedValue,
  inWords,
  isUnfit,
  parseExactly,
  sameJson,
  saysMoreThanDay,
} from "./expected.ts";
import { at, type Told, toldBy } from "./told.ts";
import type { View, Warehouse } from "./warehouse.ts";

type Row = Record<string, unknown>;

/** What a comparison saw; `differences` in words, the first of each table. */
export interface Compared {
  rows: number;
  values: number;
  different: number;
  readonly differences: string[];
}

const CHUNK = 400;
/** Holds every table of the streams against what the service would say now, value by value; `catalogue` has their parents. */
export async function compareWithTruth(
  simulator: Simulator,
  warehouse: Warehouse,
  streams: readonly Stream[],
  day: string,
  catalogue = streams,
): Promise<Compared> {
  return warehouse.look(view => compareView(simulator, view, streams, day, catalogue));
}

async function compareView(
  simulator: Simulator,
  warehouse: View,
  streams: readonly Stream[],
  day: string,
  catalogue: readonly Stream[],
): Promise<Compared> {
  const seen: Compared = { rows: 0, values: 0, different: 0, differences: [] };
  for (const stream of streams) {
    const tables = [stream.tables.main, ...stream.tables.children];
    const counts = tables.map(() => 0);
    for (const chunk of chunks(toldBy(simulator, stream, catalogue, day))) {
      for (const [i, table] of tables.entries()) {
        counts[i]! += await compareChunk(warehouse, table, chunk, seen);
      }
    }
    for (const [i, table] of tables.entries()) {
      const key = table.key.map(name => `"${name}"`).join(", ");
      const other = table.path.length === 0 ? key : key.replace('"_index"', '"_line_id"');
      const [live] = await warehouse.query<{ n: number; keys: number; others: number }>(
        `select count(*) as n, count(distinct (${key})) as keys, count(distinct (${other})) as others
          from procurement.${table.name} where _company = 'acme' and _deleted_at is null`,
      );
      if ([live!.n, live!.keys, live!.others].some(n => Number(n) !== counts[i]))
        differ(
          seen,
          `${table.name}: ${live!.n} live rows with ${live!.keys} keys, ${live!.others} by what tells them apart, but the service has ${counts[i]}`,
        );
    }
  }
  return seen;
}

function* chunks(all: Iterable<Told>): Generator<Told[]> {
  let chunk: Told[] = [];
  for (const told of all) {
    chunk.push(told);
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}

async function compareChunk(warehouse: View, table: Table, chunk: readonly Told[], seen: Compared) {
  const parentKey = table.path.length === 0 ? table.key : table.key.slice(0, -1);
  const last = parentKey.at(-1)!;
  const keys = chunk.map(told => literal(told.key.at(-1)!)).join(", ");
  const columns = table.columns.map(column => inWords(warehouse.name, column.kind, column.name));
  const found = new Map<string, Row>();
  const rows = await warehouse.query(
    `select ${columns.join(", ")}, cast(_extra as varchar) as _extra, cast(_problems as varchar) as _problems
      from procurement.${table.name} where _company = 'acme' and _deleted_at is null and cast("${last}" as varchar) in (${keys})`,
  );
  for (const row of rows) found.set(JSON.stringify(table.key.map(name => String(row[name]))), row);
  let count = 0;
  for (const told of chunk) {
    const all = elements(told, table);
    const ids = table.path.length === 0 ? [] : lineIds(table, all);
    for (const [index, element] of all.entries()) {
      count++;
      seen.rows++;
      const key = table.path.length === 0 ? told.key : [...told.key, String(index)];
      const row = found.get(JSON.stringify(key));
      if (row === undefined) differ(seen, `${table.name} ${key.join(" ")}: missing`);
      else {
        const name = `${table.name} ${key.join(" ")}`;
        compareRow(table, told, element, index, row, name, seen);
        const wanted = ids[index] ?? HASHED;
        if (table.path.length > 0 && !wanted.test(String(row["_line_id"])))
          differ(seen, `${name}._line_id: expected ${wanted}, the table has ${row["_line_id"]}`);
      }
    }
  }
  return count;
}

const HASHED = /^~[0-9a-v]{1,13}(#\d+)?$/;

/** Of lines with a number that no other line of theirs has, that number; the others go by what they say. */
function lineIds({ columns }: Table, lines: readonly unknown[]): readonly (RegExp | undefined)[] {
  const number = columns.find(({ identifies }) => identifies);
  if (number === undefined) return [];
  const numbers = lines.map(line => expectedValue("id", at(line, number.path)));
  return numbers.map(own =>
    typeof own === "string" && own !== "" && numbers.filter(other => other === own).length === 1
      ? new RegExp(`^${RegExp.escape(own)}$`)
      : undefined,
  );
}

/** The rows that a service's row gives a table. */
function elements(told: Told, table: Table): readonly unknown[] {
  if (table.path.length === 0) return [told.row];
  const array = at(told.row, table.path);
  return Array.isArray(array) ? array : [];
}

function compareRow(table: Table, told: Told, element: unknown, index: number, row: Row, name: string, seen: Compared) {
  const main = table.path.length === 0;
  const problems: Row = {};
  for (const column of table.columns.filter(({ name }) => name !== "_line_id")) {
    const raw = main
      ? at(column.source === "row" ? element : column.source === "page" ? told.page : told.context, column.path)
      : column.source === "row"
        ? at(element, column.path)
        : column.name === "_index"
          ? index
          : told.key[table.key.indexOf(column.name)];
    const expected = expectedValue(column.kind, raw, column.holds);
    if (isUnfit(expected) || saysMoreThanDay(column.kind, raw)) problems[column.name] = raw;
    seen.values++;
    if (!agrees(column.kind, expected, row[column.name]))
      differ(
        seen,
        `${name}.${column.name}: the service says ${canonical(raw)}, the table ${JSON.stringify(row[column.name])}`,
      );
  }
  compareBeside(table, element, problems, row, name, seen);
}

/** `_extra` and `_problems`: what no column took. */
function compareBeside(table: Table, element: unknown, problems: Row, row: Row, name: string, seen: Compared): void {
  const noted = row["_problems"] === null ? {} : (parseExactly(String(row["_problems"])) as Record<string, Row>);
  for (const [column, raw] of Object.entries(problems))
    if (!sameJson(noted[column]?.["value"], raw)) differ(seen, `${name}: no problem is noted for ${column}`);
  for (const column of Object.keys(noted))
    if (!Object.hasOwn(problems, column) && table.columns.some(other => other.name === column))
      differ(seen, `${name}: a problem is noted for ${column}, which has none`);
  const known = table.columns.filter(column => column.source === "row").map(column => column.path[0]);
  const extra = row["_extra"] === null ? {} : (parseExactly(String(row["_extra"])) as Row);
  for (const [field, value] of Object.entries(extra)) {
    const raw = at(element, [field]);
    if (!known.includes(field) && !sameJson(raw, value)) differ(seen, `${name}._extra.${field} is not what came`);
  }
  // Where the whole row is kept no field is without a place.
  const whole = table.columns.some(column => column.source === "row" && column.path.length === 0);
  for (const field of whole ? [] : Object.keys(element as Row))
    if (/^x_/.test(field) && !known.includes(field) && !Object.hasOwn(extra, field))
      differ(seen, `${name}: ${field} is not in _extra`);
}

function differ(seen: Compared, words: string): void {
  seen.different++;
  const table = /^\w+/.exec(words)![0];
  if (seen.differences.filter(other => other.startsWith(table)).length < 3) seen.differences.push(words);
}

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

const SLICE = 20_000;

/** Holds the tables of two warehouses against each other, deleted rows and `_extra` and `_problems` included. */
export async function compareWarehouses(a: Warehouse, b: Warehouse, streams: readonly Stream[]): Promise<Compared> {
  return a.look(left => b.look(right => compareViews(left, right, streams)));
}

async function compareViews(a: View, b: View, streams: readonly Stream[]): Promise<Compared> {
  const seen: Compared = { rows: 0, values: 0, different: 0, differences: [] };
  for (const table of streams.flatMap(stream => [stream.tables.main, ...stream.tables.children])) {
    for (let from = 0; ; from += SLICE) {
      const [left, right] = await Promise.all([slice(a, table, from), slice(b, table, from)]);
      if (left.length !== right.length) differ(seen, `${table.name}: ${left.length} and ${right.length} rows`);
      for (const [i, row] of left.entries()) {
        seen.rows++;
        for (const name of Object.keys(row)) {
          seen.values++;
          if (row[name] !== right[i]?.[name])
            differ(seen, `${table.name}.${name}: ${a.name} ${row[name]}, ${b.name} ${right[i]?.[name]}`);
        }
      }
      if (left.length < SLICE) break;
    }
  }
  return seen;
}

async function slice(warehouse: View, table: Table, from: number): Promise<Row[]> {
  const isText = (column: Column) => column.kind === "id" || column.kind === "text";
  const order = table.key.map(name => {
    const text = warehouse.name === "postgres" && isText(table.columns.find(column => column.name === name)!);
    return text ? `"${name}" collate "C"` : `"${name}"`;
  });
  const columns = table.columns.map(column => inWords(warehouse.name, column.kind, column.name));
  const rows = await warehouse.query(
    `select ${columns.join(", ")}, cast(_extra as varchar) as _extra, cast(_problems as varchar) as _problems, _deleted_at is null as _live
      from procurement.${table.name} where _company = 'acme' order by ${order.join(", ")} limit ${SLICE} offset ${from}`,
  );
  const json = ["_extra", "_problems", ...table.columns.filter(column => column.kind === "json").map(c => c.name)];
  for (const row of rows)
    for (const name of json) if (row[name] !== null) row[name] = canonical(parseExactly(String(row[name])));
  return rows;
}
