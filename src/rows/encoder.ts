import { type Column, INDEX_COLUMN, type TableSet } from "../catalog/columns.ts";
import { Numeral } from "../numeral.ts";
import { type Batch, type Outcome, UNREADABLE } from "./batch.ts";
import { CsvWriter } from "./csv.ts";
import { type Drift, exampleOf, type Presence, presenceOf, type Redact } from "./drift.ts";
import { type Problem, textOf, valueAt } from "./encode_value.ts";
import { type Hasher, MixedHash } from "./hash.ts";
import { type Formats, readMoment } from "./moment.ts";
import { OldestRows, type OldRow } from "./old_rows.ts";
import { LineRow, pageReader, type ReadPage } from "./page_reader.ts";
import type { Reject } from "./reject.ts";
import {
  isObject,
  keyFault,
  keysFault,
  knownKey,
  MOST_REJECTS,
  pageColumns,
  REPLACED,
  rejectDigest,
} from "./reject.ts";
import { AnswerKeys, createPlaces, type Places } from "./repeated_keys.ts";
import { NOTHING_AROUND, TableWriter, takeTable } from "./table_writer.ts";
import { fieldTree } from "./unknown_fields.ts";

type Row = Record<string, unknown>;

/** How often a column's values didn't fit, for the table `problems`. */
export interface ColumnProblems {
  readonly table: string;
  readonly column: string;
  readonly reason: string;
  readonly example: string;
  rows: number;
}

/** A batch, and what its making told. `latest` is the latest time in the high-water column of its rows, in microseconds. */
export interface Encoded {
  readonly batch: Batch;
  readonly rejects: readonly Reject[];
  readonly rejected: number;
  readonly problems: readonly ColumnProblems[];
  readonly rounded: number;
  readonly latest: number | undefined;
  /** Rows with the oldest times in that column, those that were left out among them. */
  readonly oldest: readonly OldRow[];
  /** Rows that were left out because that time lies before `from`. */
  readonly beforeStart: number;
  /** How rows differ from the documents, and by table which documented fields they had. */
  readonly drift: readonly Drift[];
  readonly presence: Readonly<Record<string, Presence>>;
}

/** What the encoder of a stream is made from. */
export interface EncoderSettings {
  readonly tables: TableSet;
  readonly formats: Formats;
  readonly hasher: Hasher;
  /** Top-level fields that belong to other streams. */
  readonly ignored: readonly string[];
  /** The column that the high-water mark is taken from, in feeds. */
  readonly highWaterColumn: string | undefined;
  /** Rows whose time lies before this one, in microseconds since 1970, are counted and left out. */
  readonly from?: number | undefined;
  /** The field that a row is which came as a bare value instead of an object. */
  readonly scalar?: string | undefined;
  /** The encoder itself gives rows their place (`_index`) among those whose key is the same but for it. */
  readonly placed?: boolean;
  /** What is told of values, keys of rejects and examples, goes through it before it is cut. */
  readonly redact?: Redact;
}

type Why = Pick<Reject, "reason" | "field"> & { readonly place?: Row };

/** Turns a stream's rows into batches. One an extraction. */
export class Encoder {
  /** Arrival number of the last row. */
  sequence = 0;
  /** Key of the parent whose answer the rows to come stand in; undefined: they stand in a list. */
  parent: string | undefined;
  readonly #settings: EncoderSettings;
  readonly #keys: readonly Column[];
  readonly #keyWriter = new CsvWriter(1 << 14);
  readonly #outcomeWriter = new CsvWriter(1 << 10);
  readonly #main: TableWriter;
  readonly #children: readonly TableWriter[];
  readonly #highWaterColumn: Column | undefined;
  #places: Places | undefined;
  readonly #answer: AnswerKeys;
  readonly #mixed = new MixedHash();
  /** Of each child table, the rows since the last `take` that lack its array. */
  readonly #absent: Uint32Array;
  #rejects: Reject[] = [];
  #rejected = 0;
  /** Of those that are not kept one by one an example for each reason. */
  readonly #further = new Map<string, Reject>();
  #kept = 0;
  #problems = new Map<string, ColumnProblems>();
  #latest: number | undefined;
  readonly #oldest: OldestRows<readonly [fields: Row | LineRow, given: Row]>;
  #beforeStart = 0;

  constructor(settings: EncoderSettings) {
    const { tables, redact } = settings;
    this.#settings = settings;
    const column = (name: string) => tables.main.columns.find(candidate => candidate.name === name)!;
    this.#keys = tables.main.key.map(column);
    this.#answer = new AnswerKeys(tables.main.key);
    const arrays = tables.children.map(child => child.path);
    this.#main = new TableWriter(tables.main, fieldTree(tables.main, arrays, settings.ignored), settings);
    this.#children = tables.children.map(child => new TableWriter(child, fieldTree(child, [], []), settings));
    this.#absent = new Uint32Array(tables.children.length);
    this.#highWaterColumn = settings.highWaterColumn === undefined ? undefined : column(settings.highWaterColumn);
    this.#oldest = new OldestRows(([row, given]) => {
      const fields = row instanceof LineRow ? row.fields() : row;
      return knownKey(tables.main, fields, given, redact) ?? "no key";
    });
    this.forgetPlaces();
  }

  /** The rows to come are of another scan: their places begin anew. */
  forgetPlaces(): void {
    this.#places = this.#settings.placed === true ? createPlaces(this.#keys) : undefined;
  }

  /** Rows are told apart by their place: behind a skipped row each would get the place of another. */
  get isPlaced(): boolean {
    return this.#places !== undefined;
  }

  /** Notes a row that is no JSON, and its place in the list. Its text stands in an array, which a second try takes for no row. */
  unreadable({ text, ...place }: { readonly text: string | undefined }): void {
    const reason = "expected JSON, got a text that is none";
    this.#reject(text === undefined ? [] : [text], {}, {}, {}, { reason, field: undefined, place });
  }

  /** Reads pages whose rows stand at `place` in their data into rows that are encoded already; undefined where that can't be done. */
  pageReader(place: string): ReadPage | undefined {
    return pageReader(this.#settings, place);
  }

  /** Rows since the last `take`, child rows and outcomes included. */
  get rows(): number {
    const children = this.#children.reduce((sum, child) => sum + child.rows, 0);
    return this.#keyWriter.rows + children + this.#outcomeWriter.rows + this.#rejected;
  }

  /** Bytes of them. */
  get bytes(): number {
    const children = this.#children.reduce((sum, child) => sum + child.bytes, 0);
    return this.#keyWriter.position + this.#main.bytes + children + this.#outcomeWriter.position;
  }

  /** Lets go of memory that wide rows took; what was taken before must be stored. */
  trim(): void {
    for (const writer of [this.#main, ...this.#children]) writer.trim();
  }

  /** Tells a row from others of its stream: by its key or, where that is not known whole, by all it says but for volatile fields. */
  digest(came: unknown, context: Row): string {
    const raw = came instanceof LineRow ? came.fields() : this.#withoutIgnored(came);
    return rejectDigest(this.#settings.tables, { raw, reason: "", beside: { context, page: {} }, further: 0 });
  }

  /** Encodes a row with what came beside it; `page` is one object an answer. False for one that is left out, and for one without its key, which becomes a reject. */
  add(came: unknown, page: Row, given: Row): boolean {
    if (came instanceof LineRow) return this.#addLine(came, page, given);
    const row = this.#withoutIgnored(came);
    const main = this.#main;
    const fields = this.#fieldsOf(row);
    if (fields === undefined)
      return this.#reject(row, {}, page, given, { reason: "expected an object", field: undefined });
    const time = this.#timeOf(fields);
    if (time !== undefined && !this.#observe(time, fields, given)) return false;
    const context = this.#places === undefined ? given : { ...given, [INDEX_COLUMN]: this.#places(fields, given) };
    const key: string[] = [];
    for (const column of this.#keys) {
      const value = column.source === "row" ? valueAt(column.path, fields) : context[column.name];
      const text = textOf(value);
      const fault = keyFault(value, text);
      if (text === undefined || fault !== undefined) {
        const field = column.path.join(".");
        return this.#reject(row, fields, page, given, { reason: `its key ${field} ${fault}`, field });
      }
      key.push(text);
    }
    const reason = keysFault(key);
    if (reason !== undefined) return this.#reject(row, fields, page, given, { reason, field: undefined });
    this.sequence++;
    this.#mixed.clear();
    main.line(this.sequence, undefined, fields, { page, context }, row);
    for (let i = 0; i < this.#children.length; i++) this.#addChildren(this.#children[i]!, i, fields);
    main.endLine(fields, this.#note);
    const { hasher } = this.#settings;
    const stable = hasher.hash(main.stable());
    const changeable = hasher.hash(main.changeable());
    if (main.problems !== undefined) this.#mixed.mix(hasher.hash(Buffer.from(main.problems)), 0n);
    const [hash, volatileHash] = this.#mixed.with(hasher, stable, changeable);
    const from = this.#keyWriter.position;
    this.#writeKey(key, hash, volatileHash);
    this.#keepReplaced(from, row, page, context);
    if (time !== undefined) this.#latest = Math.max(time, this.#latest ?? time);
    return true;
  }

  #addLine(row: LineRow, page: Row, given: Row): boolean {
    const { time, lines, key, stop } = row;
    if (time !== undefined && !this.#observe(time, row, given)) return false;
    this.sequence++;
    this.#main.copied(this.sequence, row);
    const from = this.#keyWriter.position;
    this.#keyWriter.copied(this.sequence, lines.bytes, key, stop);
    this.#keepReplaced(from, row, page, given);
    if (time !== undefined) this.#latest = Math.max(time, this.#latest ?? time);
    return true;
  }

  /** A row's fields, none of what is kept whole whatever it is; undefined for what is no row. */
  #fieldsOf(row: unknown): Row | undefined {
    const { scalar } = this.#settings;
    if (isObject(row)) return row;
    if (scalar !== undefined && isBare(row)) return { [scalar]: row };
    return this.#main.takesAnything && row !== null && row !== undefined ? {} : undefined;
  }

  /** What belongs to another stream, or to nobody, is not kept with a row that is kept whole. */
  #withoutIgnored(row: unknown): unknown {
    const { ignored } = this.#settings;
    if (ignored.length === 0 || !isObject(row)) return row;
    return Object.fromEntries(Object.entries(row).filter(([field]) => !ignored.includes(field)));
  }

  #addChildren(child: TableWriter, index: number, row: Row): void {
    const elements = valueAt(child.table.path, row);
    if (elements === undefined) this.#absent[index]!++;
    if (elements === null) return;
    if (!Array.isArray(elements)) {
      child.unreadable(this.sequence);
      // Else an empty array the next time would be no change.
      this.#mixed.mix(BigInt(index), BigInt(UNREADABLE));
      if (elements === undefined) return;
      this.#main.drift.otherType(child.table.path.join("."), elements);
      this.#main.addProblem(child.table.path.join("."), { value: elements, reason: "expected an array" });
      return;
    }
    const { hasher } = this.#settings;
    child.begin(elements);
    for (let i = 0; i < elements.length; i++) {
      const element: unknown = elements[i];
      const fields: Row = isObject(element) ? element : {};
      child.line(this.sequence, i, fields, NOTHING_AROUND, element);
      if (!isObject(element) && !child.takesAnything) {
        child.drift.otherType("_element", element);
        child.addProblem("_element", { value: element, reason: "expected an object" });
      }
      child.endLine(fields, this.#note);
      this.#mixed.mix(BigInt(index), BigInt(index));
      this.#mixed.mix(child.stableHash, hasher.hash(child.changeable()));
      if (child.problems !== undefined) this.#mixed.mix(hasher.hash(Buffer.from(child.problems)), 0n);
    }
  }

  #writeKey(key: readonly string[], hash: bigint | undefined, volatileHash: bigint | undefined): void {
    const writer = this.#keyWriter;
    writer.whole(this.sequence);
    for (let i = 0; i < key.length; i++) {
      writer.next();
      if (this.#keys[i]!.kind === "date") writer.plain(key[i]!);
      else writer.text(key[i]!);
    }
    writer.next();
    if (hash !== undefined) writer.bits(hash);
    writer.next();
    if (volatileHash !== undefined) writer.bits(volatileHash);
    writer.endLine();
  }

  #timeOf(row: Row): number | undefined {
    const value = this.#highWaterColumn === undefined ? undefined : valueAt(this.#highWaterColumn.path, row);
    return typeof value === "string" ? readMoment(value, this.#settings.formats) : undefined;
  }

  /** Notes the row among the oldest; false for one that is to be left out, which moves the high-water mark all the same. */
  #observe(time: number, row: Row | LineRow, given: Row): boolean {
    this.#oldest.see([row, given], time);
    const { from } = this.#settings;
    if (from === undefined || time >= from) return true;
    this.#latest = Math.max(time, this.#latest ?? time);
    this.#beforeStart++;
    return false;
  }

  /** Keeps the row of the same answer that the row at hand replaces. Its key's line begins at `from`; it is staged all the same. */
  #keepReplaced(from: number, came: unknown, page: Row, context: Row): void {
    const { bytes, position } = this.#keyWriter;
    const replaced = this.#answer.replaced({ came, page, context, from, to: position }, bytes);
    if (replaced === undefined) return;
    const raw = replaced.came instanceof LineRow ? replaced.came.fields() : replaced.came;
    const why = { reason: REPLACED, field: undefined };
    this.#keepReject(raw, this.#fieldsOf(raw) ?? {}, page, replaced.context, why);
  }

  /** Notes a row that cannot be stored. */
  #reject(raw: unknown, fields: Row, page: Row, context: Row, why: Why): false {
    this.#rejected++;
    this.#keepReject(raw, fields, page, context, why);
    return false;
  }

  #keepReject(raw: unknown, fields: Row, page: Row, context: Row, why: Why): void {
    const isKept = this.#kept < MOST_REJECTS;
    const { reason, field } = why;
    const known = isKept ? undefined : this.#further.get(reason);
    if (known !== undefined) return void known.further++;
    const { tables, redact } = this.#settings;
    const { parent } = this;
    const key = knownKey(tables.main, fields, context, redact);
    const beside = { context, page: why.place ?? pageColumns(tables.main, page) };
    const reject: Reject = { raw, reason, key, field, beside, parent, further: isKept ? 0 : 1 };
    if (isKept) {
      this.#kept++;
      this.#rejects.push(reject);
    } else this.#further.set(reason, reject);
  }

  /** Notes what became of a detail request; its rows, if any, were added just before. */
  outcome(outcome: Outcome): void {
    const writer = this.#outcomeWriter;
    writer.whole(outcome.outcome === "ok" ? this.sequence : ++this.sequence);
    writer.next();
    writer.text(outcome.parentKey);
    writer.next();
    writer.plain(outcome.parentHash);
    writer.next();
    writer.text(outcome.outcome);
    writer.next();
    writer.plain(outcome.fetchedAt);
    writer.next();
    if (outcome.reason !== undefined) writer.text(outcome.reason);
    writer.endLine();
  }

  readonly #note = (table: string, column: string, problem: Problem): void => {
    const { reason, value } = problem;
    const id = `${table}.${column}: ${reason}`;
    const known = this.#problems.get(id);
    if (known !== undefined) known.rows++;
    else this.#problems.set(id, { table, column, reason, example: exampleOf(value, this.#settings.redact), rows: 1 });
  };

  /** The batch so far. Its bytes are valid until the next `take`: two sets of buffers take turns. */
  take(): Encoded {
    const writers = [this.#main, ...this.#children];
    const presence = this.#takePresence();
    const encoded: Encoded = {
      batch: {
        keys: takeTable(this.#keyWriter, []),
        main: this.#main.take(),
        children: this.#children.map(child => child.take()),
        outcomes: takeTable(this.#outcomeWriter, []),
      },
      rejects: [...this.#rejects, ...this.#further.values()],
      rejected: this.#rejected,
      problems: [...this.#problems.values()],
      rounded: writers.reduce((sum, table) => sum + table.takeRounded(), 0),
      latest: this.#latest,
      oldest: this.#oldest.take(),
      beforeStart: this.#beforeStart,
      drift: writers.flatMap(table => table.drift.take()),
      presence,
    };
    this.#rejects = [];
    this.#rejected = 0;
    this.#further.clear();
    this.#answer.clear();
    this.#problems = new Map();
    this.#latest = undefined;
    this.#beforeStart = 0;
    return encoded;
  }

  /** The arrays of child tables are fields of the main table's rows. */
  #takePresence(): Record<string, Presence> {
    const { rows } = this.#main;
    const arrays = this.#settings.tables.children.map(child => child.path.join("."));
    const ofArrays = presenceOf(rows, arrays, this.#absent);
    this.#absent.fill(0);
    const all = [this.#main, ...this.#children].map(writer => [writer.table.name, writer.takePresence()] as const);
    const found = Object.fromEntries(all.filter(([, { rows: counted }]) => counted > 0));
    const main = found[this.#main.table.name];
    if (main === undefined) return found;
    const merged = { rows, always: [...main.always, ...ofArrays.always], never: [...main.never, ...ofArrays.never] };
    return { ...found, [this.#main.table.name]: merged };
  }
}

const isBare = (value: unknown): boolean =>
  value instanceof Numeral || (value !== null && value !== undefined && typeof value !== "object");
