import { isUtf8 } from "node:buffer";
import { randomUUID } from "node:crypto";
import type { Column, Kind, TableSet } from "../catalog/columns.ts";
import { stageColumns } from "./batch.ts";
import { CsvWriter } from "./csv.ts";
import { usual } from "./encode_usual_value.ts";
import { valueAt } from "./encode_value.ts";
import type { Formats } from "./moment.ts";
import { PAGE_READER } from "./page_reader_wasm.ts";
import { isObject } from "./reject.ts";

/*
 * Reads the rows of a page from its JSON straight into lines of CSV and hashes, by the WebAssembly that reader/ is compiled to.
 * Whatever it doesn't know for certain, a row or the whole page, is parsed, and the encoder decides about it.
 */

type Parse = (json: Buffer) => unknown;

/** A page's JSON as values, as `parse` would give them; but most of its rows are lines, which an encoder of the stream takes as rows. */
export type ReadPage = (body: Buffer, parse: Parse) => unknown;

/** What the reader is made for: see `EncoderSettings`. */
interface Readable {
  readonly tables: TableSet;
  readonly formats: Formats;
  readonly ignored: readonly string[];
  readonly highWaterColumn: string | undefined;
  readonly scalar?: string | undefined;
  readonly placed?: boolean;
}

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  hasRoom(at: number, bytes: number): number;
  scan(from: number, tape: number, most: number): number;
  rows(): number;
  endOfTape(): number;
  write(tape: number, from: number): number;
}

/** Of Node's own, whose types it leaves to browsers. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: object };
};

/** What all lines of a page have in common. */
interface Lines {
  readonly body: Buffer;
  readonly parse: Parse;
  readonly bytes: Buffer;
}

/** A row that is written already, but for its number: from `main` its line, from `key` that of its key, from `stop` a byte for each column it lacks. */
export class LineRow {
  readonly lines: Lines;
  readonly main: number;
  readonly key: number;
  readonly stop: number;
  readonly absent: number;
  readonly rounded: number;
  /** In the high-water column, in microseconds since 1970. */
  readonly time: number | undefined;
  readonly #start: number;
  readonly #end: number;

  constructor(lines: Lines, words: Uint32Array, at: number, out: number, time: number) {
    this.lines = lines;
    this.#start = words[at]! - BODY;
    this.#end = words[at + 1]! - BODY;
    this.main = words[at + 3]! - out;
    this.key = words[at + 4]! - out;
    this.stop = words[at + 5]! - out;
    this.absent = words[at + 6]!;
    this.rounded = words[at + 7]!;
    this.time = Number.isNaN(time) ? undefined : time;
  }

  fields(): Record<string, unknown> {
    const { body, parse } = this.lines;
    return parse(body.subarray(this.#start, this.#end)) as Record<string, unknown>;
  }
}

// These stand in reader/layout.ts, too.
const PROGRAM = 1024;
const MEMBERS = 0xc000;
const BODY = 1 << 16;
const HEAD_WORDS = 16;
const COLUMN_WORDS = 8;
const ROW_BYTES = 48;
const KINDS: Readonly<Record<Kind, number>> = {
  ...{ id: 0, text: 0, money: 1, quantity: 1, percent: 1, count: 2, score: 3, flag: 4, date: 5, moment: 6, json: 7 },
};
const BESIDE = 8;
const HELD = { object: 9, array: 10 } as const;
const MOST_KEYS = 4;
const MOST_COLUMNS = 255;

/** Larger pages are rare, and the memory for one is kept. */
const LARGEST_BODY = 2 << 20;
const MOST_ROWS = 5_000;
/** After so many rows it shows whether most of a stream's are such as the reader knows. */
const TRIED = 500;
/** In the beginning of a body the rows begin. */
const BEGINNING = 4_096;
/** Behind a body: what no JSON has, and what long loads may look at. */
const ENDING = new Uint8Array(64);

let loaded: Exports | undefined;
let isUnable = false;

/** The compiled reader, which keeps no state between two pages. Undefined where Node.js can't run it, or TRIBUTARY_READER=js turns it off. */
function reader(): Exports | undefined {
  if (isUnable || process.env["TRIBUTARY_READER"] === "js") return undefined;
  try {
    loaded ??= new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(PAGE_READER, "base64"))).exports as Exports;
  } catch {
    isUnable = true;
  }
  return loaded;
}

/** Reads pages whose rows stand at `place` in their data; undefined for tables of which it knows too little. */
export function pageReader(settings: Readable, place: string): ReadPage | undefined {
  const { tables, formats, ignored, scalar, placed } = settings;
  const path = ["data", ...place.split(".").filter(field => field !== "")];
  const isPlain = tables.children.length === 0 && ignored.length === 0 && scalar === undefined && placed !== true;
  const isIso = formats.dates.length === 1 && formats.dates[0] === "iso";
  const wasm = isPlain && isIso && path.every(field => /^\w+$/.test(field)) ? reader() : undefined;
  const program = wasm === undefined ? undefined : programOf(tables, settings.highWaterColumn);
  return program === undefined ? undefined : new PageReader(wasm!, program, path, formats).read;
}

interface Program {
  readonly columns: readonly Column[];
  readonly bytes: Uint8Array;
}

/** What reader/layout.ts tells of a table. */
function programOf({ main }: TableSet, highWaterColumn: string | undefined): Program | undefined {
  const columns = stageColumns(main);
  const keys = main.key.map(name => columns.findIndex(column => column.name === name));
  const names = columns.flatMap(({ source, path }) => (source === "row" ? [path[0]] : []));
  const isKnown = columns.every(
    ({ source, path, treatment }) =>
      treatment === undefined && (source === "page" || (source === "row" && path.length === 1)),
  );
  const isKey = keys.every(place => /^(id|text)$/.test(columns[place]!.kind) && columns[place]!.source === "row");
  if (!isKnown || !isKey || keys.length > MOST_KEYS || columns.length > MOST_COLUMNS) return undefined;
  if (new Set(names).size < names.length) return undefined;
  const time = columns.findIndex(({ name }) => name === highWaterColumn);
  if (highWaterColumn !== undefined && columns[time]?.kind !== "moment") return undefined;
  const words: number[] = [
    ...[columns.length, columns.filter(column => !column.volatile).length, keys.length],
    ...[time < 0 ? columns.length : time, 0, 0, ...keys],
  ];
  while (words.length < HEAD_WORDS) words.push(0);
  let text = "";
  const texts = PROGRAM + 4 * (HEAD_WORDS + COLUMN_WORDS * columns.length);
  for (const { kind, holds, path, source } of columns) {
    const name = source === "row" ? JSON.stringify(path[0]).slice(1) : "";
    const own = kind === "json" && holds !== undefined ? HELD[holds] : KINDS[kind];
    words.push(texts + text.length, name.length, source === "row" ? own : BESIDE, 0, 0, 0, 0, 0);
    text += name;
  }
  // Other letters may come as bytes or as escapes.
  if (/[^\x20-\x7e]/.test(text)) return undefined;
  const bytes = Buffer.concat([new Uint8Array(Uint32Array.from(words).buffer), Buffer.from(text)]);
  return bytes.length > MEMBERS / 2 ? undefined : { columns, bytes };
}

/** Stands in place of the rows while the rest of a page is parsed. It is random: no page holds it. */
const MARK = randomUUID();

class PageReader {
  readonly #wasm: Exports;
  readonly #program: Program;
  readonly #path: readonly string[];
  readonly #formats: Formats;
  readonly #begin: RegExp;
  /** Rows that came, and those of them that became lines. */
  #came = 0;
  #written = 0;

  constructor(wasm: Exports, program: Program, path: readonly string[], formats: Formats) {
    this.#wasm = wasm;
    this.#program = program;
    this.#path = path;
    this.#formats = formats;
    this.#begin = new RegExp(`"${path.at(-1)}"[ \\t\\r\\n]*:[ \\t\\r\\n]*\\[`);
  }

  readonly read: ReadPage = (body, parse) => {
    // Where few rows are such as it knows, looking at them costs more than it saves.
    const isWorth = this.#came < TRIED || this.#written * 4 >= this.#came;
    return (isWorth ? this.#read(body, parse) : undefined) ?? parse(body);
  };

  #read(body: Buffer, parse: Parse): unknown {
    const wasm = this.#wasm;
    const begin = this.#begin.exec(body.toString("latin1", 0, BEGINNING));
    if (begin === null || body.length > LARGEST_BODY || !isUtf8(body)) return undefined;
    const from = begin.index + begin[0].length - 1;
    if (wasm.hasRoom(BODY, body.length + ENDING.length) === 0) return undefined;
    const own = new Uint8Array(wasm.memory.buffer);
    own.set(this.#program.bytes, PROGRAM);
    own.set(body, BODY);
    own.set(ENDING, BODY + body.length);
    const tape = (BODY + body.length + ENDING.length + 15) & ~15;
    const to = wasm.scan(BODY + from, tape, MOST_ROWS) - BODY;
    if (to <= from) return undefined;
    const rest = Buffer.concat([body.subarray(0, from), Buffer.from(`["${MARK}"]`), body.subarray(to)]);
    try {
      const page = parse(rest);
      const rows = isObject(page) ? valueAt(this.#path, page) : undefined;
      if (!isObject(page) || !Array.isArray(rows) || rows.length !== 1 || rows[0] !== MARK) return undefined;
      if (!this.#putBeside(isObject(page["data"]) ? page["data"] : {})) return undefined;
      const out = wasm.endOfTape();
      const end = wasm.write(tape, out);
      if (end === 0) return undefined;
      const bytes = Buffer.from(wasm.memory.buffer.slice(out, end));
      rows.length = 0;
      this.#take(tape, out, { body, parse, bytes }, rows);
      return page;
    } catch {
      // Invalid JSON is for the parser to report, which gets the whole page.
      return undefined;
    }
  }

  /** Gives what stands beside the rows to the program; false for a value that is not the usual one of its kind. */
  #putBeside(data: Record<string, unknown>): boolean {
    const { columns, bytes } = this.#program;
    const { memory } = this.#wasm;
    const view = new DataView(memory.buffer);
    const writer = new CsvWriter(64);
    for (const [place, { source, kind, path }] of columns.entries()) {
      if (source !== "page") continue;
      const value = valueAt(path, data);
      const from = writer.position;
      if (value !== undefined && value !== null && !usual[kind](writer, value, this.#formats)) return false;
      const at = PROGRAM + 4 * (HEAD_WORDS + COLUMN_WORDS * place);
      view.setUint32(at + 12, PROGRAM + bytes.length + from, true);
      view.setUint32(at + 16, writer.position - from, true);
    }
    if (PROGRAM + bytes.length + writer.position > MEMBERS) return false;
    new Uint8Array(memory.buffer).set(writer.bytes.subarray(0, writer.position), PROGRAM + bytes.length);
    return true;
  }

  /** Puts the page's rows among `rows`: lines, and those parsed of which none was written. */
  #take(tape: number, out: number, lines: Lines, rows: unknown[]): void {
    const { memory, rows: count } = this.#wasm;
    const words = new Uint32Array(memory.buffer);
    const times = new Float64Array(memory.buffer);
    const size = ROW_BYTES + 8 * this.#program.columns.length;
    for (let nth = 0; nth < count(); nth++) {
      const at = tape + nth * size;
      const isWritten = words[at / 4 + 3]! > 0;
      const row = new LineRow(lines, words, at / 4, out, times[at / 8 + 4]!);
      rows.push(isWritten ? row : row.fields());
      this.#came++;
      if (isWritten) this.#written++;
    }
  }
}
