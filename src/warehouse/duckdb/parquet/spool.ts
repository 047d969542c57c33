import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder, remove } from "../../../files.ts";
import { quotedName } from "../../database.ts";
import type { CopyOut, ParquetFile, SourceColumn, SourceTable, Target } from "../../parquet_source.ts";
import { quoted } from "../session/session.ts";
import { decimalOf, readCsv } from "../stage/csv_relation.ts";
import { type Ask, duckdbType, writeFiles } from "./parquet_files.ts";

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
  await makeFolder(room, 0o700);
  const files: ParquetFile[] = [];
  const numbering = { next: 0 };
  let written = 0;
  let converting: Promise<void> = Promise.resolve();
  const convert = async ({ path, longest }: Slice) => {
    const made = await writeSlice(ask, csvRelation(path, table.columns, longest, ROW_BEGINS), table, target, numbering);
    files.push(...made);
    written += made.reduce((sum, file) => sum + file.rows, 0);
    progress(written);
    await remove(path);
  };
  const slices = slicesIn(room, sliceBytes, async slice => {
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
function slicesIn(room: string, limit: number, full: (slice: Slice) => Promise<void>) {
  let file: { readonly path: string; readonly handle: FileHandle } | undefined;
  let waiting: Buffer[] = [];
  let inQuotes = false;
  let [waitingBytes, bytes, number, line, longest] = [0, 0, 0, 0, 0];

  const keep = (piece: Buffer): void => {
    waiting.push(piece);
    waitingBytes += piece.length;
    bytes += piece.length;
  };

  const write = async (): Promise<void> => {
    if (file === undefined) {
      const path = join(room, `${number++}.csv`);
      file = { path, handle: await open(path, "w", 0o600) };
    }
    const { handle } = file;
    const pieces = waiting;
    waiting = [];
    waitingBytes = 0;
    await handle.writev(pieces.length === 0 ? [Buffer.alloc(0)] : pieces);
  };

  const finish = async (): Promise<void> => {
    await write();
    const { path } = file!;
    await close();
    const slice = { path, longest };
    bytes = 0;
    longest = 0;
    await full(slice);
  };

  const close = async (): Promise<void> => {
    await file?.handle.close();
    file = undefined;
  };

  return {
    close,
    async take(piece: Buffer): Promise<void> {
      let from = 0;
      for (let at = 0; at < piece.length; at++) {
        const byte = piece[at];
        line++;
        if (byte === QUOTE) inQuotes = !inQuotes;
        else if (byte === LINE_END && !inQuotes) {
          if (line > longest) longest = line;
          line = 0;
          if (bytes + at + 1 - from < limit) continue;
          keep(piece.subarray(from, at + 1));
          from = at + 1;
          await finish();
        }
      }
      keep(piece.subarray(from));
      if (waitingBytes >= PIECE) await write();
    },

    /** The last slice, also when it is empty and the only one: a table without rows has a file, too. */
    async end(): Promise<void> {
      if (bytes > 0 || number === 0) await finish();
    },
  };
}

/** What each row that another database sends begins with, and is left out: one of which nothing else is there would be an empty line. */
const ROW_BEGINS = `'row begins': 'INTEGER'`;

/** The rows of a file as a FROM item, each value in its own type. `begin`: what stands before the columns, and is left out. */
export function csvRelation(
  path: string,
  columns: readonly SourceColumn[],
  longest: number,
  begin?: typeof ROW_BEGINS,
): string {
  const read = columns.map(column => ({ column, as: column.storedAs === "decimal" ? "VARCHAR" : duckdbType(column) }));
  const own = read.map(({ column, as }) => `${quoted(column.name)}: ${quoted(as)}`);
  const types = begin === undefined ? own : [begin, ...own];
  const values = columns.map(column =>
    column.storedAs === "decimal" ? `${decimalIn(column)} as ${quotedName(column.name)}` : quotedName(column.name),
  );
  return `(select ${values.join(", ")} from ${readCsv([path], types, longest + 1)})`;
}

/** PostgreSQL writes all nine places of an amount. */
function decimalIn(column: SourceColumn): string {
  const name = quotedName(column.name);
  const type = duckdbType(column);
  if (type !== "DECIMAL(38,9)") return `${name}::${type}`;
  return decimalOf(name, type, `ends_with(${name}, '000') and strlen(${name}) <= 22`);
}
