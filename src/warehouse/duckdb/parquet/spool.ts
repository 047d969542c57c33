import { type FileHandle, mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import { remove } from "../../../files.ts";
import type { CopyOut, ParquetFile, SourceColumn, SourceTable, Target } from "../../parquet_source.ts";
import { quoted } from "../session/session.ts";
import { readCsv } from "../stage/csv_relation.ts";
import { type Ask, duckdbType, named, writeFiles } from "./parquet_files.ts";

/** Bytes of CSV that become files together: some 30 MB of Parquet. */
const SLICE = 256 * 2 ** 20;
const PIECE = 2 ** 20;
const QUOTE = 0x22;
const LINE_END = 0x0a;

/** What another database sends, and where it may lie until it is Parquet. */
export interface Spooling {
  readonly ask: Ask;
  readonly copyOut: CopyOut;
  readonly query: string;
  readonly table: SourceTable;
  readonly target: Target;
  /** A private folder, made and removed here. */
  readonly room: string;
  readonly progress: (rows: number) => void;
  readonly sliceBytes?: number;
}

/** A query's rows as Parquet files: kept on disk in slices of a bounded size, each of which becomes files of its own while the next one arrives. */
export async function spoolIntoFiles(spooling: Spooling): Promise<readonly ParquetFile[]> {
  const { ask, copyOut, query, table, target, room, progress, sliceBytes = SLICE } = spooling;
  await mkdir(room, { recursive: true, mode: 0o700 });
  const files: ParquetFile[] = [];
  const numbering = { next: 0 };
  let written = 0;
  let converting: Promise<void> = Promise.resolve();
  const convert = async ({ path, longest }: Slice) => {
    const made = await writeSlice(ask, csvRelation(path, table.columns, longest), table, target, numbering);
    files.push(...made);
    written += made.reduce((sum, file) => sum + file.rows, 0);
    progress(written);
    await remove(path);
  };
  const slices = new Slices(room, sliceBytes, async slice => {
    await converting;
    converting = convert(slice);
    // Told to whoever waits for it next.
    converting.catch(() => undefined);
  });
  try {
    await copyOut(query, piece => slices.take(piece));
    await slices.end();
    await converting;
    return files;
  } finally {
    await converting.catch(() => undefined);
    await slices.close();
    await remove(room);
  }
}

async function writeSlice(
  ask: Ask,
  relation: string,
  table: SourceTable,
  target: Target,
  numbering: { next: number },
): Promise<readonly ParquetFile[]> {
  if (table.partitions.length === 0) return writeFiles(ask, relation, table, target, numbering);
  await ask(`create or replace temp table slice as select * from ${relation}`);
  const files = await writeFiles(ask, "slice", table, target, numbering);
  await ask("drop table slice");
  return files;
}

interface Slice {
  readonly path: string;
  readonly longest: number;
}

/** Cuts CSV into files at ends of rows. */
class Slices {
  readonly #room: string;
  readonly #limit: number;
  readonly #full: (slice: Slice) => Promise<void>;
  #file: { readonly path: string; readonly handle: FileHandle } | undefined;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #bytes = 0;
  #number = 0;
  #inQuotes = false;
  #line = 0;
  #longest = 0;

  constructor(room: string, limit: number, full: (slice: Slice) => Promise<void>) {
    this.#room = room;
    this.#limit = limit;
    this.#full = full;
  }

  async take(piece: Buffer): Promise<void> {
    let from = 0;
    for (let at = 0; at < piece.length; at++) {
      const byte = piece[at];
      this.#line++;
      if (byte === QUOTE) this.#inQuotes = !this.#inQuotes;
      else if (byte === LINE_END && !this.#inQuotes) {
        if (this.#line > this.#longest) this.#longest = this.#line;
        this.#line = 0;
        if (this.#bytes + at + 1 - from < this.#limit) continue;
        this.#keep(piece.subarray(from, at + 1));
        from = at + 1;
        await this.#finish();
      }
    }
    this.#keep(piece.subarray(from));
    if (this.#waitingBytes >= PIECE) await this.#write();
  }

  /** The last slice, also when it is empty and the only one: a table without rows has a file, too. */
  async end(): Promise<void> {
    if (this.#bytes > 0 || this.#number === 0) await this.#finish();
  }

  async close(): Promise<void> {
    await this.#file?.handle.close();
    this.#file = undefined;
  }

  #keep(bytes: Buffer): void {
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    this.#bytes += bytes.length;
  }

  async #write(): Promise<void> {
    if (this.#file === undefined) {
      const path = join(this.#room, `${this.#number++}.csv`);
      this.#file = { path, handle: await open(path, "w", 0o600) };
    }
    const { handle } = this.#file;
    const pieces = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    await handle.writev(pieces.length === 0 ? [Buffer.alloc(0)] : pieces);
  }

  async #finish(): Promise<void> {
    await this.#write();
    const path = this.#file!.path;
    await this.close();
    const longest = this.#longest;
    this.#bytes = 0;
    this.#longest = 0;
    await this.#full({ path, longest });
  }
}

/** The rows of a file as a FROM item, each value in its own type. */
function csvRelation(path: string, columns: readonly SourceColumn[], longest: number): string {
  const read = columns.map(column => ({ column, as: column.storedAs === "decimal" ? "VARCHAR" : duckdbType(column) }));
  const types = [`'row begins': 'INTEGER'`, ...read.map(({ column, as }) => `${quoted(column.name)}: ${quoted(as)}`)];
  const values = columns.map(column =>
    column.storedAs === "decimal" ? `${decimalOf(column)} as ${named(column.name)}` : named(column.name),
  );
  return `(select ${values.join(", ")} from ${readCsv([path], types, longest + 1)})`;
}

/** Text becomes DECIMAL(18,6) and that DECIMAL(38,9), where it fits exactly: directly it takes a hundred times as long. */
function decimalOf(column: SourceColumn): string {
  const name = named(column.name);
  const type = duckdbType(column);
  if (type !== "DECIMAL(38,9)") return `${name}::${type}`;
  return `case when ends_with(${name}, '000') and strlen(${name}) <= 22 then ${name}::decimal(18,6)::${type} else ${name}::${type} end`;
}
