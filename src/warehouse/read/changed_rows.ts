import { sql } from "kysely";
import type { Fragment } from "../database.ts";
import type { Dialect } from "../dialect.ts";
import type { SourceColumn } from "../parquet_source.ts";
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
  /** Good until the next ones are taken. */
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

export interface ChangesPlace extends CopyPlace {
  readonly schema: string;
}

/** Rows that are handed over together at most, and bytes that are sorted together where sorts have to fit into memory. */
const HANDED = 5_000;
const SORTED = 40_000_000;
/** For how many bytes each row of a sample stands. */
const SAMPLE = SORTED / 200;
/** Bytes that are gathered before they are handed over, more for longer lines. */
const HELD = 1 << 20;
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
  const beyond = (side: Side, at: ChangePosition | undefined) =>
    at === undefined ? sql`true` : isOn(side, at, key, places);
  const from = sql`from ${sql.id(schema, table.name)} where _company = ${sql.lit(company)} and ${beyond(">", after)}`;
  const bounds = dialect.sortsBeyondMemory ? [] : await boundsOf(place, from, order, table);
  const line = lineText(dialect, table.columns, { decimals, around, twins });
  const beside = table.columns.flatMap(({ name, storedAs, type }) =>
    storedAs === "decimal" ? (dialect.decimalText(name, type).beside ?? []) : [],
  );
  // One after the other: their texts are long.
  const queries = [...bounds, undefined].values().map((until, at) => {
    const since = bounds[at - 1];
    const isOneMoment = since !== undefined && since.changedAt === until?.changedAt;
    const near = isOneMoment
      ? sql`${places[0]!} between ${sql.lit(since.key[0]!)} and ${sql.lit(until.key[0]!)}`
      : sql`true`;
    const sorted = sql`${from} and ${beyond(">", since)} and ${beyond("<=", until)} and ${near} ${order}`;
    // What is written is put together after the sort, which then moves less. PostgreSQL does so under a limit, and each worker by itself.
    const chosen = dialect.sortsBeyondMemory
      ? sql`select ${line} ${sorted} limit ${sql.lit(Number.MAX_SAFE_INTEGER)}`
      : sql`select ${line} from (select ${sql.join([sql`*`, ...beside])} from (select * ${sorted}) sorted) prepared`;
    return chosen.compile(db).sql;
  });
  const cutter = new Cutter(around, table.key, take);
  await copyRows(place, queries, "lines", piece => cutter.take(piece));
  await cutter.end();
}

/** Some of the positions, between which lie so few rows, or so narrow ones, that they can be sorted together. */
async function boundsOf(
  { db, dialect }: ChangesPlace,
  from: Fragment,
  order: Fragment,
  { key, columns }: ChangedTable,
): Promise<readonly ChangePosition[]> {
  // Texts are held as they are read, sorted, quoted, and in the line.
  const texts = columns.filter(({ storedAs }) => storedAs === "text");
  const lengths = texts.map(({ name }) => sql`coalesce(strlen(${sql.id(name)}), 0)`);
  const bytes = sql`(${sql.lit(16 * columns.length)} + 4 * (${sql.join([sql.lit(0), ...lengths], sql` + `)}))`;
  const names = sql.join(["_changed_at", ...key].map(name => sql.id(name)));
  const values = key.map((name, at) => sql`, cast(${sql.id(name)} as varchar) as ${sql.id(`k${at}`)}`);
  // A row is chosen the more likely the wider it is, and stands for as much.
  const { rows } = await sql<Record<string, string>>`
    select ${isoText(dialect, sql.id("_changed_at"))} as changed_at${sql.join(values, sql``)}
    from (select ${names}, greatest(${bytes}, ${sql.lit(SAMPLE)}) as held ${from} and random() < ${bytes} / ${sql.lit(SAMPLE)}) sample
    qualify sum(held) over (${order}) // ${sql.lit(SORTED)} > (sum(held) over (${order}) - held) // ${sql.lit(SORTED)}
    ${order}`.execute(db);
  return rows.map(row => ({ changedAt: row["changed_at"]!, key: key.map((_name, at) => row[`k${at}`]!) }));
}

/** Hands bytes over in whole lines, many at once, and knows the last one's position. */
class Cutter {
  readonly #around: readonly [string, string];
  readonly #key: readonly string[];
  readonly #take: (lines: ChangedLines) => Promise<void>;
  #held = Buffer.allocUnsafe(HELD);
  #spare = Buffer.allocUnsafe(HELD);
  #length = 0;

  constructor(around: readonly [string, string], key: readonly string[], take: (lines: ChangedLines) => Promise<void>) {
    this.#around = around;
    this.#key = key;
    this.#take = take;
  }

  async take(piece: Buffer): Promise<void> {
    if (this.#length + piece.length > this.#held.length) await this.#handAll();
    if (this.#length + piece.length > this.#held.length)
      this.#held = Buffer.concat([this.#held.subarray(0, this.#length)], 2 * (this.#length + piece.length));
    this.#length += piece.copy(this.#held, this.#length);
  }

  async end(): Promise<void> {
    await this.#handAll();
    if (this.#length > 0) throw new TypeError("the last line was not sent whole");
  }

  async #handAll(): Promise<void> {
    const held = this.#held.subarray(0, this.#length);
    let [from, to, rows] = [0, 0, 0];
    for (let at = held.indexOf(LINE_END); at >= 0; at = held.indexOf(LINE_END, to)) {
      to = at + 1;
      rows += 1;
      if (rows < HANDED) continue;
      await this.#hand(held.subarray(from, to), rows);
      [from, rows] = [to, 0];
    }
    if (rows > 0) await this.#hand(held.subarray(from, to), rows);
    // The consumer may still be using the last lines.
    [this.#held, this.#spare] = [this.#spare, this.#held];
    if (held.length - to > this.#held.length) this.#held = Buffer.allocUnsafe(held.length);
    this.#length = held.copy(this.#held, 0, to);
  }

  async #hand(lines: Buffer, rows: number): Promise<void> {
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

type Side = ">" | "<=";

/** Whether rows stand behind a position, or up to it: moments first, by which whole blocks of rows are passed over. */
function isOn(side: Side, at: ChangePosition, key: readonly SourceColumn[], places: readonly Fragment[]): Fragment {
  const moment = sql`cast(${sql.lit(at.changedAt)} as timestamptz)`;
  const beyond = sql.raw(side.slice(0, 1));
  if (at.key.length === 0) return sql`_changed_at >= ${moment}`;
  const values = at.key.map((value, nth) =>
    key[nth]!.storedAs === "bigint" ? sql`cast(${sql.lit(value)} as bigint)` : sql.lit(value),
  );
  return sql`(_changed_at ${beyond}= ${moment} and (_changed_at ${beyond} ${moment}
    or (${sql.join(places)}) ${sql.raw(side)} (${sql.join(values)})))`;
}

/** A row's line, with a JSON object put together as text, because DuckDB's JSON passes numbers through binary floats. */
function lineText(
  dialect: Dialect,
  columns: readonly SourceColumn[],
  { decimals, around: [before, after], twins = {} }: Pick<ChangesAfter, "decimals" | "around" | "twins">,
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
  const texts = fields.map(([name], at) => `${at === 0 ? `${before}{` : ","}${name}`);
  return dialect.interspersed(
    [...texts, `}${after}`],
    fields.map(([, value]) => value),
  );
}

const field = (name: string, value: Fragment): [string, Fragment] => [`${JSON.stringify(name)}:`, value];

/** The value of a column as JSON text, decimals without their quotes; NULL for NULL. */
function jsonText(dialect: Dialect, { name, storedAs, type }: SourceColumn): Fragment {
  const column = sql.id(name);
  const plain = sql`cast(${column} as varchar)`;
  switch (storedAs) {
    case "decimal":
      return dialect.decimalText(name, type).text;
    case "date":
      return sql`'"' || ${textOf(dialect, "date", column)} || '"'`;
    case "moment":
      return sql`'"' || ${isoText(dialect, column)} || '"'`;
    case "text":
      // Between the values of JSON there may be line breaks, within them never.
      return type === "varchar" ? sql`to_json(${plain})` : sql`replace(replace(${plain}, chr(10), ' '), chr(13), ' ')`;
    default:
      return plain;
  }
}

const isoText = (dialect: Dialect, column: Fragment): Fragment =>
  sql`replace(${textOf(dialect, "moment", column)}, ' ', 'T') || 'Z'`;
