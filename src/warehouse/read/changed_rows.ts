import { sql } from "kysely";
import type { Dialect } from "../dialect.ts";
import type { SourceColumn } from "../parquet_source.ts";
import type { Fragment } from "../sql_fragments.ts";
import { type CopyPlace, copyRows } from "./copying.ts";
import { textOf } from "./stored_rows.ts";

/**
 * Where a reader of a company's rows of one table stands: behind the row with this key of those that changed at this moment
 * (ISO 8601 in UTC, with microseconds). Without a key: before all of that moment.
 */
export interface ChangePosition {
  readonly changedAt: string;
  readonly key: readonly string[];
}

/** Rows in the order of their change, each as a JSON object in a line of its own behind the same few words. */
export interface ChangedLines {
  readonly lines: Buffer;
  readonly rows: number;
  /** Behind the last of them. */
  readonly position: ChangePosition;
}

/** What is read of a table; `key` without `_company`. */
export interface ChangedTable {
  readonly name: string;
  readonly key: readonly string[];
  readonly columns: readonly SourceColumn[];
}

/** How decimals are written: as exact text, or as a JSON number with the exact text beside it in `<column>_exact`. */
export type Decimals = "text" | "beside";

/** Which rows: a company's that changed after a position; undefined: all. What stands before and after each record in its line. */
export interface ChangesAfter {
  readonly company: string;
  readonly after: ChangePosition | undefined;
  readonly decimals: Decimals;
  /** Columns whose values come once more under another name. */
  readonly twins?: Readonly<Record<string, string>> | undefined;
  readonly around: readonly [before: string, after: string];
}

/** Where rows are read. */
export interface ChangesPlace extends CopyPlace {
  readonly schema: string;
}

/** Rows that are handed over together at most, and rows that are sorted together where sorts have to fit into memory. */
const HANDED = 5_000;
const SORTED = 20_000;
/** Of how many rows each of those is known by. */
const SAMPLED = 50;
/** A function of PostgreSQL takes at most 100 arguments. */
const MOST_ARGUMENTS = 90;
const LINE_END = 0x0a;

/**
 * Hands over a company's rows of a table that changed since a position: soft-deleted ones too, in bounded memory. The database
 * writes the lines, and they pass as bytes. In PostgreSQL within a transaction.
 */
export async function takeChangedRows(
  place: ChangesPlace,
  table: ChangedTable,
  { company, after, decimals, twins, around }: ChangesAfter,
  take: (lines: ChangedLines) => Promise<void>,
): Promise<void> {
  const { db, dialect, schema } = place;
  const key = table.key.map(name => table.columns.find(column => column.name === name)!);
  const places = key.map(({ name, storedAs }) =>
    storedAs === "bigint" ? sql.id(name) : dialect.byteText(sql.id(name)),
  );
  const order = sql`order by ${sql.join([sql.id("_changed_at"), ...places])}`;
  const behind = (at: ChangePosition | undefined) => (at === undefined ? sql`true` : isBehind(at, key, places));
  const from = sql`from ${sql.id(schema, table.name)} where _company = ${sql.lit(company)} and ${behind(after)}`;
  const bounds = dialect.sortsBeyondMemory ? [] : await boundsOf(place, from, order, table);
  const [before, behindRecord] = around;
  const record = recordText(dialect, table.columns, decimals, twins);
  for (const [at, until] of [...bounds, undefined].entries()) {
    const within = sql`${behind(bounds[at - 1])} and ${until === undefined ? sql`true` : sql`not ${behind(until)}`}`;
    // What is written is put together after the sort, which then moves less.
    const query = sql`select concat(${sql.lit(before)}, ${record}, ${sql.lit(behindRecord)})
      from (select * ${from} and ${within} ${order}) sorted`;
    const cutter = new Cutter(around, table.key, take);
    await copyRows(place, query.compile(db).sql, "lines", piece => cutter.take(piece));
    cutter.end();
  }
}

/** Some of the positions between which few enough rows lie to be sorted together. */
async function boundsOf(
  { db, dialect }: ChangesPlace,
  from: Fragment,
  order: Fragment,
  { key }: ChangedTable,
): Promise<readonly ChangePosition[]> {
  const { rows } = await sql<{ n: number }>`select count(*) as n ${from}`.execute(db);
  if (Number(rows[0]!.n) <= 2 * SORTED) return [];
  const texts = key.map((name, at) => sql`, cast(${sql.id(name)} as varchar) as ${sql.id(`k${at}`)}`);
  const sample = await sql<Record<string, string>>`
    select ${isoText(dialect, sql.id("_changed_at"))} as changed_at${sql.join(texts, sql``)}
    ${from} and random() < ${sql.lit(SAMPLED / SORTED)} ${order}`.execute(db);
  return sample.rows
    .filter((_row, at) => at % SAMPLED === SAMPLED - 1)
    .map(row => ({ changedAt: row["changed_at"]!, key: key.map((_name, at) => row[`k${at}`]!) }));
}

/** Hands bytes over in whole lines, and knows the last one's position. */
class Cutter {
  readonly #around: readonly [string, string];
  readonly #key: readonly string[];
  readonly #take: (lines: ChangedLines) => Promise<void>;
  #begun: Buffer[] = [];

  constructor(around: readonly [string, string], key: readonly string[], take: (lines: ChangedLines) => Promise<void>) {
    this.#around = around;
    this.#key = key;
    this.#take = take;
  }

  async take(piece: Buffer): Promise<void> {
    let from = 0;
    let rows = 0;
    let end = -1;
    for (let at = piece.indexOf(LINE_END); at >= 0; at = piece.indexOf(LINE_END, at + 1)) {
      rows += 1;
      end = at;
      if (rows < HANDED) continue;
      await this.#hand(piece.subarray(from, end + 1), rows);
      from = end + 1;
      rows = 0;
    }
    if (rows > 0) {
      await this.#hand(piece.subarray(from, end + 1), rows);
      from = end + 1;
    }
    if (from < piece.length) this.#begun.push(Buffer.from(piece.subarray(from)));
  }

  end(): void {
    if (this.#begun.length > 0) throw new TypeError("the last line was not sent whole");
  }

  async #hand(whole: Buffer, rows: number): Promise<void> {
    const lines = this.#begun.length === 0 ? whole : Buffer.concat([...this.#begun, whole]);
    this.#begun = [];
    const begin = lines.lastIndexOf(LINE_END, lines.length - 2) + 1;
    const [before, after] = this.#around;
    const text = lines.toString("utf8", begin, lines.length - 1);
    const record = JSON.parse(text.slice(before.length, text.length - after.length)) as Record<string, unknown>;
    await this.#take({ lines, rows, position: positionOf(record, this.#key) });
  }
}

/** Where a reader stands behind a row, whose record is given. */
export const positionOf = (record: Readonly<Record<string, unknown>>, key: readonly string[]): ChangePosition => ({
  changedAt: String(record["_changed_at"]),
  key: key.map(name => String(record[name])),
});

function isBehind(after: ChangePosition, key: readonly SourceColumn[], places: readonly Fragment[]): Fragment {
  const moment = sql`cast(${sql.lit(after.changedAt)} as timestamptz)`;
  if (after.key.length === 0) return sql`_changed_at >= ${moment}`;
  const values = after.key.map((value, at) =>
    key[at]!.storedAs === "bigint" ? sql`cast(${sql.lit(value)} as bigint)` : sql.lit(value),
  );
  return sql`(_changed_at > ${moment} or (_changed_at = ${moment}
    and (${sql.join(places)}) > (${sql.join(values)})))`;
}

/** A row as a JSON object: put together as text, because DuckDB's JSON passes numbers through binary floats. */
function recordText(
  dialect: Dialect,
  columns: readonly SourceColumn[],
  decimals: Decimals,
  twins: ChangesAfter["twins"] = {},
): Fragment {
  const fields = columns.flatMap(column => {
    const value = jsonText(dialect, column);
    const text = sql`coalesce(${value}, 'null')`;
    if (column.storedAs !== "decimal")
      return [column.name, twins[column.name] ?? []].flat().map(name => field(name, text));
    const quoted = sql`coalesce('"' || ${value} || '"', 'null')`;
    if (decimals === "text") return [field(column.name, quoted)];
    return [field(column.name, text), field(`${column.name}_exact`, quoted)];
  });
  const parts = fields.flatMap(([name, value], at) => [sql.lit(`${at === 0 ? "{" : ","}${name}`), value]);
  const groups = Array.from(
    { length: Math.ceil(parts.length / MOST_ARGUMENTS) },
    (_, nth) => sql`concat(${sql.join(parts.slice(nth * MOST_ARGUMENTS, (nth + 1) * MOST_ARGUMENTS))})`,
  );
  return sql`concat(${sql.join([...groups, sql.lit("}")])})`;
}

const field = (name: string, value: Fragment): [string, Fragment] => [`${JSON.stringify(name)}:`, value];

/** The value of a column as JSON text, decimals without their quotes; NULL for NULL. */
function jsonText(dialect: Dialect, { name, storedAs, type }: SourceColumn): Fragment {
  const column = sql.id(name);
  const plain = sql`cast(${column} as varchar)`;
  switch (storedAs) {
    case "decimal":
      return sql`rtrim(rtrim(${plain}, '0'), '.')`;
    case "date":
      return sql`'"' || ${textOf(dialect, "date", column)} || '"'`;
    case "moment":
      return sql`'"' || ${isoText(dialect, column)} || '"'`;
    case "text":
      // Between the values of JSON there may be line breaks, within them never.
      return type === "varchar"
        ? sql`cast(to_json(${plain}) as varchar)`
        : sql`replace(replace(${plain}, chr(10), ' '), chr(13), ' ')`;
    default:
      return plain;
  }
}

const isoText = (dialect: Dialect, column: Fragment): Fragment =>
  sql`replace(${textOf(dialect, "moment", column)}, ' ', 'T') || 'Z'`;
