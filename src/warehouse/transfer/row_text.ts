import { sql } from "kysely";
import type { Hasher } from "../../rows/hash.ts";
import type { Fragment } from "../database.ts";
import type { PresentColumn } from "../ddl/database_catalog.ts";
import type { Dialect, Named } from "../dialect.ts";
import { type SourceColumn, storedAs } from "../parquet_source.ts";
import { type CopyPlace, copyRows } from "../read/copying.ts";
import { textOf } from "../read/stored_rows.ts";
import type { Contents } from "../state/filling.ts";

/** How much is under way at once. */
export interface Pieces {
  /** Rows that are read, where the database writes them into a file first. */
  readonly readRows: number;
  /** Bytes that are sent through a connection, or lie in a file until they are read. */
  readonly sentBytes: number;
  readonly fileBytes: number;
}

export const usualPieces: Pieces = { readRows: 100_000, sentBytes: 8 * 2 ** 20, fileBytes: 256 * 2 ** 20 };

const QUOTE = 0x22;
const LINE_END = 0x0a;
const COMMA = 0x2c;

/** The value of a column of this kind in one spelling, whatever database wrote its text. */
export type Canonical = (kind: "json" | "score", text: string) => string;

/** The kinds whose text differs between databases though the value is the same. */
const looseAs = ({ type }: Pick<SourceColumn, "type">) =>
  type.startsWith("json") ? "json" : type === "double precision" ? "score" : undefined;

/** Columns in the order in which their values are written: loose ones first, so that a row without any is compared as it stands. */
export function writtenColumns(columns: Iterable<PresentColumn>): readonly SourceColumn[] {
  const all = [...columns].map(({ name, type }) => ({ name, type, storedAs: storedAs(type) }));
  const [loose = [], exact = []] = [true, false].map(is => all.filter(each => (looseAs(each) !== undefined) === is));
  return [...loose, ...exact];
}

/** Whole lines of CSV, each a row, and where each ends. */
export interface Lines {
  readonly bytes: Buffer;
  readonly ends: readonly number[];
}

/** Hands over a table's rows as CSV, every value quoted and NULL as nothing: the same bytes from each database, but for loose values. */
export async function takeRows(
  place: CopyPlace,
  table: Named,
  columns: readonly SourceColumn[],
  { readRows }: Pieces = usualPieces,
  take: (lines: Lines) => Promise<void>,
): Promise<void> {
  const { dialect, db } = place;
  const values = columns.map(column => sql`${valueText(dialect, column)} as ${sql.id(column.name)}`);
  const from = sql.id(table.schema, table.name);
  const all = sql`select ${sql.join(values)} from ${from}`;
  const cutter = new LineCutter(take);
  const queries = (await slicesOf(place, from, readRows)).map(slice => sql`${all} where ${slice}`.compile(db).sql);
  await copyRows(place, queries, "values", piece => cutter.take(piece));
  cutter.end();
}

/** Conditions that part a table's rows. */
async function slicesOf({ db, dialect }: CopyPlace, from: Fragment, readRows: number): Promise<readonly Fragment[]> {
  // PostgreSQL sends rows as it reads them.
  if (dialect.rowPlace === "ctid") return [sql`true`];
  const place = sql.id(dialect.rowPlace);
  const { rows } = await sql<{ first: string | null; last: string | null }>`
    select cast(min(${place}) as varchar) as first, cast(max(${place}) as varchar) as last from ${from}`.execute(db);
  const { first, last } = rows[0]!;
  if (first === null || last === null) return [];
  // Rows that are not committed yet have places that no number holds exactly.
  const [begin, step] = [BigInt(first), BigInt(readRows)];
  return Array.from({ length: Number((BigInt(last) - begin) / step) + 1 }, (_, nth) => {
    const from = begin + BigInt(nth) * step;
    return sql`${place} >= ${sql.raw(String(from))} and ${place} < ${sql.raw(String(from + step))}`;
  });
}

function valueText(dialect: Dialect, { name, storedAs: as }: SourceColumn): Fragment {
  const column = sql.id(name);
  if (as === "moment")
    return sql`${textOf(dialect, "moment", column)} || case when isfinite(${column}) then '+00' else '' end`;
  if (as === "date") return textOf(dialect, "date", column);
  return sql`cast(${column} as varchar)`;
}

/** Cuts what a database writes at ends of rows. */
class LineCutter {
  readonly #take: (lines: Lines) => Promise<void>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(take: (lines: Lines) => Promise<void>) {
    this.#take = take;
  }

  async take(piece: Buffer): Promise<void> {
    const held = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    const ends = lineEnds(held);
    const whole = ends.at(-1) ?? 0;
    if (whole > 0) await this.#take({ bytes: held.subarray(0, whole), ends });
    // The sender uses the piece's buffer again.
    this.#rest = Buffer.from(held.subarray(whole));
  }

  end(): void {
    if (this.#rest.length > 0) throw new TypeError("the last row was not sent whole");
  }
}

/** Where lines end, the line break within each. */
function lineEnds(bytes: Buffer): readonly number[] {
  const ends: number[] = [];
  let inQuotes = false;
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] === QUOTE) inQuotes = !inQuotes;
    else if (bytes[at] === LINE_END && !inQuotes) ends.push(at + 1);
  }
  return ends;
}

/** A checksum of rows that is the same in whatever order they come. */
export class Checksum {
  readonly #hasher: Hasher;
  readonly #canonical: Canonical;
  readonly #loose: readonly ("json" | "score")[];
  #rows = 0;
  #sum = 0n;

  constructor(hasher: Hasher, canonical: Canonical, columns: readonly SourceColumn[]) {
    this.#hasher = hasher;
    this.#canonical = canonical;
    this.#loose = columns.flatMap(column => looseAs(column) ?? []);
  }

  add({ bytes, ends }: Lines): void {
    let begin = 0;
    for (const end of ends) {
      this.#sum = BigInt.asUintN(64, this.#sum + this.#hasher.hash(this.#inOneSpelling(bytes.subarray(begin, end))));
      this.#rows++;
      begin = end;
    }
  }

  get contents(): Contents {
    return { rows: this.#rows, fingerprint: this.#sum.toString(16).padStart(16, "0") };
  }

  #inOneSpelling(line: Buffer): Uint8Array {
    const values: string[] = [];
    let at = 0;
    for (const kind of this.#loose) {
      const { text, end } = valueAt(line, at);
      values.push(text === undefined ? "" : JSON.stringify(this.#canonical(kind, text)));
      at = end + 1;
    }
    return values.every(value => value === "")
      ? line
      : Buffer.concat([Buffer.from(values.join()), line.subarray(at - 1)]);
  }
}

/** The value that begins there; `end`: the comma or line break behind it. */
function valueAt(line: Buffer, begin: number): { readonly text: string | undefined; readonly end: number } {
  if (line[begin] === COMMA || line[begin] === LINE_END) return { text: undefined, end: begin };
  let end = begin + 1;
  for (;;) {
    end = line.indexOf(QUOTE, end) + 1;
    if (line[end] !== QUOTE) break;
    end++;
  }
  return { text: line.toString("utf8", begin + 1, end - 1).replaceAll('""', '"'), end };
}
