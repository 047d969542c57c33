import { type Column, type Kind, LINE_ID_COLUMN, type Table } from "../catalog/columns.ts";
import { Numeral } from "../numeral.ts";
import { type EncodedTable, stageColumns, UNREADABLE } from "./batch.ts";
import { CsvWriter } from "./csv.ts";
import { isUsual, jsonType, type Presence, presenceOf, type Redact, TableDrift } from "./drift.ts";
import { expected, type Problem, type Reading, textOf, valueAt, writeValue } from "./encode_value.ts";
import { type LineContext, type WriteFields, writerOf } from "./fields.ts";
import type { Hasher } from "./hash.ts";
import { canonicalJson, isStorable } from "./json.ts";
import type { Formats } from "./moment.ts";
import type { LineRow } from "./page_reader.ts";
import { isObject } from "./reject.ts";
import { type FieldTree, hasWhole, reportUnknown, unknownFields, unreadFields } from "./unknown_fields.ts";

const DECIMAL: ReadonlySet<Kind> = new Set(["money", "quantity", "percent"]);

type Row = Record<string, unknown>;

/** What came beside a row: its page's fields, and the values that it was asked for with. */
export interface Around {
  readonly page: Row;
  readonly context: Row;
}

export const NOTHING_AROUND: Around = { page: {}, context: {} };

function valueAround({ source, path }: Column, row: Row, around: Around, came: unknown): unknown {
  return path.length === 0 ? came : valueAt(path, source === "row" ? row : around[source]);
}

/** Takes a writer's lines; its next line goes into the other of its two buffers. */
export function takeTable(writer: CsvWriter, wide: readonly string[]): EncodedTable {
  const taken = { bytes: writer.bytes.subarray(0, writer.position), rows: writer.rows, wide, longest: writer.longest };
  writer.renew();
  return taken;
}

/** What writers of all tables have in common. */
interface Writing {
  readonly formats: Formats;
  readonly hasher: Hasher;
  readonly redact?: Redact;
}

type NoteProblem = (table: string, column: string, problem: Problem) => void;

/** Writes the lines of one table, and remembers which of a line's bytes its hash covers. */
export class TableWriter {
  /** Problems of the line's stable columns as text, undefined when there are none. */
  problems: string | undefined;
  /** Hash of the line's stable bytes, of a line of a child table. */
  stableHash = 0n;
  readonly table: Table;
  /** A column of it holds the row as it came, whatever that is. */
  readonly takesAnything: boolean;
  /** How its rows differ from the documents. */
  readonly drift: TableDrift;
  readonly #columns: readonly Column[];
  readonly #stableCount: number;
  readonly #tree: FieldTree | undefined;
  readonly #formats: Formats;
  readonly #hasher: Hasher;
  readonly #csv = new CsvWriter(1 << 16);
  readonly #wide = new Set<string>();
  readonly #writeStable: WriteFields;
  readonly #writeChangeable: WriteFields;
  /** Places of the columns that are not fields of the row itself, and their values. */
  readonly #elsewhere: readonly number[];
  readonly #beside: unknown[];
  readonly #lineIds: LineIds;
  /** Place of the column that they go into. */
  readonly #lineIdPlace: number;
  /** Of each column, the lines since the last `take` whose row lacks the field. */
  readonly #absent: Uint32Array;
  readonly #context: LineContext;
  /** Documented fields that no column reads; undefined where documented fields lie within others. */
  readonly #unread: readonly string[] | undefined;
  /** Rows since the last `take` without a readable array. */
  #unreadable = 0;
  /** How many fields columns have read from the line's row. */
  #read = 0;
  readonly #reading: Reading = { problem: undefined, note: undefined, rounded: 0, wide: false };
  #found: Record<string, Problem> | undefined;
  #start = 0;
  #changeableStart = 0;
  #end = 0;

  constructor(table: Table, tree: FieldTree | undefined, { formats, hasher, redact }: Writing) {
    this.table = table;
    this.takesAnything = hasWhole(table);
    this.drift = new TableDrift(table.name, redact);
    this.#columns = stageColumns(table);
    const names = this.#columns.map(({ source, path }) =>
      source === "row" && path.length === 1 ? path[0]! : undefined,
    );
    const fields = this.#columns.map(({ kind }, place) => {
      const name = names[place];
      return { place, kind, name, isFirst: names.indexOf(name) === place };
    });
    this.#stableCount = this.#columns.filter(column => !column.volatile).length;
    this.#writeStable = writerOf(fields.slice(0, this.#stableCount));
    this.#writeChangeable = writerOf(fields.slice(this.#stableCount));
    this.#elsewhere = names.flatMap((name, place) => (name === undefined ? [place] : []));
    this.#beside = names.map(() => undefined);
    this.#lineIds = new LineIds(table.columns.find(({ identifies }) => identifies)?.path);
    this.#lineIdPlace = this.#columns.findIndex(({ name }) => name === LINE_ID_COLUMN);
    this.#absent = new Uint32Array(names.length);
    this.#tree = tree;
    this.#unread = tree === undefined ? undefined : unreadFields(tree, names);
    this.#formats = formats;
    this.#hasher = hasher;
    this.#context = {
      formats,
      beside: this.#beside,
      absent: this.#absent,
      writeOther: (place, value) => this.#write(this.#columns[place]!, value),
    };
  }

  /** Begins with the lines of an array. */
  begin(lines: readonly unknown[]): void {
    this.#lineIds.begin(lines);
  }

  /** Writes the columns of a line; `endLine` completes it. `came` is the row where it may be no object. */
  line(sequence: number, index: number | undefined, row: Row, around: Around, came: unknown = row): void {
    const csv = this.#csv;
    const beside = this.#beside;
    for (const place of this.#elsewhere) beside[place] = valueAround(this.#columns[place]!, row, around, came);
    this.#found = undefined;
    csv.whole(sequence);
    csv.next();
    if (index !== undefined) {
      csv.whole(index);
      csv.next();
    }
    this.#start = csv.position;
    const stable = this.#writeStable(csv, row, this.#context);
    this.#changeableStart = csv.position;
    if (index !== undefined) {
      this.stableHash = this.#hasher.hash(this.stable());
      if (this.#lineIdPlace >= 0) beside[this.#lineIdPlace] = this.#lineIds.idOf(index, this.stableHash);
    }
    this.#read = stable + this.#writeChangeable(csv, row, this.#context);
  }

  /** Writes that a row has no readable array of lines. */
  unreadable(sequence: number): void {
    const csv = this.#csv;
    csv.whole(sequence);
    csv.next();
    csv.plain(String(UNREADABLE));
    for (let column = 0; column < this.#columns.length + 2; column++) csv.next();
    csv.endLine();
    this.#unreadable++;
  }

  /** Adds a line that was written before. */
  copied(sequence: number, { lines: { bytes }, main, key, stop, absent, rounded }: LineRow): void {
    this.#csv.copied(sequence, bytes, main, key);
    for (let at = stop; at < stop + absent; at++) this.#absent[bytes[at]!]!++;
    this.#reading.rounded += rounded;
  }

  /** Writes a value that came in another form than the usual one of its kind. */
  #write(column: Column, value: unknown): void {
    const reading = this.#reading;
    const told = this.#lookedAt(column, value);
    const { kind, holds } = column;
    if (kind === "json" && holds !== undefined && jsonType(value) !== holds)
      reading.problem = expected(holds === "object" ? "an object" : "an array", value);
    else writeValue(this.#csv, kind, told, this.#formats, reading);
    if (reading.problem !== undefined) this.addProblem(column.name, { value, reason: reading.problem });
    if (reading.note !== undefined) this.addProblem(column.name, { value: undefined, reason: reading.note });
    if (reading.wide) this.#addWide(column);
  }

  /** Tells a value of an unusual type; answers what is to be written. */
  #lookedAt(column: Column, value: unknown): unknown {
    const type = jsonType(value);
    if (!isUsual(column, type)) this.drift.otherType(column.name, value);
    return column.added === true && column.kind === "text" && type === "boolean" ? String(value) : value;
  }

  #addWide(column: Column): void {
    this.#reading.wide = false;
    if (DECIMAL.has(column.kind)) this.#wide.add(column.name);
  }

  /** Notes that a value of this line did not fit; `name` is a column, or an array that no column stands for. */
  addProblem(name: string, problem: Problem): void {
    this.#reading.problem = undefined;
    this.#reading.note = undefined;
    this.#found ??= Object.create(null) as Record<string, Problem>;
    this.#found[name] = problem;
  }

  /** Writes `_extra` and `_problems` and ends the line. */
  endLine(row: Row, note: NoteProblem): void {
    const csv = this.#csv;
    const extra = this.#tree === undefined || this.#isAllKnown(row) ? undefined : unknownFields(row, this.#tree);
    if (extra !== undefined) {
      writeValue(csv, "json", extra, this.#formats, this.#reading);
      reportUnknown(extra, this.#tree!, this.drift);
    }
    const { problem, note: told } = this.#reading;
    if (problem !== undefined || told !== undefined)
      this.addProblem("_extra", { value: undefined, reason: problem ?? told! });
    const rest = problem === undefined ? undefined : writable(extra!);
    if (rest !== undefined) writeValue(csv, "json", rest, this.#formats, this.#reading);
    // What could not be written now either is no problem of the next row.
    this.#reading.problem = undefined;
    this.#reading.note = undefined;
    csv.next();
    this.problems = undefined;
    if (this.#found !== undefined) this.#writeProblems(this.#found, note);
    csv.endLine();
    this.#end = csv.position;
  }

  /** Whether a row has as many fields as it has documented ones. False also where counting them doesn't tell. */
  #isAllKnown(row: Row): boolean {
    if (this.#unread === undefined) return false;
    let known = this.#read;
    for (const field of this.#unread) if (row[field] !== undefined) known++;
    let all = 0;
    for (const _ in row) all++;
    return all === known;
  }

  #writeProblems(found: Record<string, Problem>, note: NoteProblem): void {
    // Whatever unknown fields hold is no change of the row.
    const volatile = new Set(["_extra", ...this.#columns.slice(this.#stableCount).map(column => column.name)]);
    const stable: Record<string, Problem> = Object.create(null);
    for (const [name, problem] of Object.entries(found)) {
      if (!volatile.has(name)) stable[name] = problem;
      note(this.table.name, name, problem);
    }
    this.#csv.text(problemText(found));
    if (Object.keys(stable).length > 0) this.problems = problemText(stable);
  }

  /** The bytes of the last line that say whether the row changed. Valid until the next write. */
  stable(): Uint8Array {
    return this.#bytes(this.#start, this.#changeableStart);
  }

  /** The rest of it: volatile columns, `_extra`, `_problems`. */
  changeable(): Uint8Array {
    return this.#bytes(this.#changeableStart, this.#end);
  }

  /** Made in half the time of a Buffer. */
  #bytes(start: number, end: number): Uint8Array {
    const { buffer, byteOffset } = this.#csv.bytes;
    return new Uint8Array(buffer, byteOffset + start, end - start);
  }

  /** Lines since the last `take`. */
  get rows(): number {
    return this.#csv.rows;
  }

  /** Bytes of them. */
  get bytes(): number {
    return this.#csv.position;
  }

  trim(): void {
    this.#csv.trim();
  }

  take(): EncodedTable {
    const taken = takeTable(this.#csv, [...this.#wide]);
    this.#wide.clear();
    return taken;
  }

  /** Which documented fields the lines since the last `take` had; to be asked before it. */
  takePresence(): Presence {
    const names = this.#columns.map(({ source, path, name }) =>
      source === "row" && path.length > 0 ? name : undefined,
    );
    const presence = presenceOf(this.rows - this.#unreadable, names, this.#absent);
    this.#absent.fill(0);
    this.#unreadable = 0;
    return presence;
  }

  takeRounded(): number {
    const { rounded } = this.#reading;
    this.#reading.rounded = 0;
    return rounded;
  }
}

/** Tells the lines of an array apart: see `LINE_ID_COLUMN`. */
class LineIds {
  readonly #path: readonly string[] | undefined;
  #numbers: readonly (string | undefined)[] = [];
  /** How many lines have a number, and have had a hash so far. */
  readonly #times = new Map<string, number>();
  readonly #hashes = new Map<bigint, number>();

  constructor(path: readonly string[] | undefined) {
    this.#path = path;
  }

  begin(lines: readonly unknown[]): void {
    this.#hashes.clear();
    const path = this.#path;
    if (path === undefined) return;
    this.#times.clear();
    this.#numbers = lines.map(line => numberAt(path, line));
    for (const number of this.#numbers)
      if (number !== undefined) this.#times.set(number, (this.#times.get(number) ?? 0) + 1);
  }

  idOf(index: number, hash: bigint): string {
    const number = this.#numbers[index];
    if (number !== undefined && this.#times.get(number) === 1) return number;
    // Of the large bases the one that V8 writes at once.
    const own = `~${hash.toString(32)}`;
    for (;;) {
      const nth = (this.#hashes.get(hash) ?? 0) + 1;
      this.#hashes.set(hash, nth);
      const id = nth === 1 ? own : `${own}#${nth}`;
      if (this.#times.size === 0 || !this.#times.has(id)) return id;
    }
  }
}

function numberAt(path: readonly string[], line: unknown): string | undefined {
  const text = isObject(line) ? textOf(valueAt(path, line)) : undefined;
  return text === undefined || text === "" || !isStorable(text) ? undefined : text;
}

/** The unknown fields that JSON can hold: one that is too deep takes no other with it. Undefined where none is left. */
function writable(extra: Row): Row | undefined {
  const kept = Object.entries(extra).filter(([, value]) => isWritable(value, 1));
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

const isWritable = (value: unknown, depth: number): boolean => jsonOf(value, depth) !== undefined;

/** The text of a value that stands `depth` levels below the whole; undefined where JSON can't hold it. */
function jsonOf(value: unknown, depth = 0): string | undefined {
  try {
    return canonicalJson(value, depth).text;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return undefined;
  }
}

/** Problems as JSON; of a raw value that JSON cannot hold a numeral's digits are kept as text, of others the reason alone. */
function problemText(problems: Record<string, Problem>): string {
  const whole = jsonOf(problems);
  if (whole !== undefined) return whole;
  const told = Object.entries(problems).map(([name, problem]) => {
    const { value, reason } = problem;
    if (isWritable(value, 2)) return [name, problem];
    return [name, value instanceof Numeral ? { value: value.text, reason } : { reason }];
  });
  const reasons = Object.entries(problems).map(([name, { reason }]) => [name, { reason }]);
  return jsonOf(Object.fromEntries(told)) ?? canonicalJson(Object.fromEntries(reasons)).text;
}
