import { copyFile, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import type { TableSet } from "../../../src/catalog/columns.ts";
import { fill, opened, settingsFor, temporaryFolder } from "./workbench.ts";

/** Of DuckDB's storage format: where blocks begin, how long they and the pieces of metadata in them are. */
const FIRST_BLOCK = 12_288;
const BLOCK = 262_144;
const CHECKSUM = 8;
const PIECE = 4_088;
const PIECES = 64;

/** A piece of a file's metadata, and the block in which the file says that it goes on. */
interface Piece {
  readonly block: number;
  readonly next: number | undefined;
  readonly text: string;
}

/** All pieces that the file uses. */
async function metadataOf(file: string): Promise<Piece[]> {
  // A copy: the file may be open in this process.
  const path = `${file}.copy`;
  await copyFile(file, path);
  const instance = await DuckDBInstance.create(path, { access_mode: "READ_ONLY" });
  const connection = await instance.connect();
  const found = await connection.run("select block_id::integer, free_list::integer[] from pragma_metadata_info()");
  const blocks = (await found.getRowsJson()) as [number, number[]][];
  connection.closeSync();
  instance.closeSync();
  const bytes = await readFile(path);
  await rm(path, { force: true });
  return blocks.flatMap(([block, free]) =>
    Array.from({ length: PIECES }, (_, index) => index)
      .filter(index => !free.includes(index))
      .map(index => {
        const start = FIRST_BLOCK + block * BLOCK + CHECKSUM + index * PIECE;
        const pointer = bytes.readBigInt64LE(start);
        const next = pointer === -1n ? undefined : Number(BigInt.asUintN(56, pointer));
        return { block, next, text: bytes.toString("latin1", start + 8, start + PIECE) };
      }),
  );
}

/** Where a piece goes on in a block that holds no metadata: DuckDB 1.4.0 and older fail to open the file with "Failed to load metadata pointer". */
async function lostIn(path: string): Promise<Piece[]> {
  const pieces = await metadataOf(path);
  const blocks = new Set(pieces.map(({ block }) => block));
  return pieces.filter(({ next }) => next !== undefined && !blocks.has(next));
}

const name = (n: number) => `t${String(n).padStart(3, "0")}`;
const TABLES = 200;
const COLUMNS = 8;

describe("a file with much that is gone", () => {
  it.each([
    { readers: "snapshot", done: "releaseToReaders" },
    { readers: "direct", done: "releaseToReaders" },
    { readers: "direct", done: "close" },
  ] as const)("holds no pointer to metadata that is gone (readers: $readers, $done)", async ({ readers, done }) => {
    const path = join(await temporaryFolder(), "w.duckdb");
    const destination = await opened(settingsFor(path, { readers, memoryMb: 400 }));
    const work = readers === "direct" ? path : path.replace(".duckdb", ".versions/work.duckdb");
    const columns = Array.from({ length: COLUMNS }, (_, column) => `c${column}`);
    await fill(destination, 1);
    const all = Array.from({ length: TABLES }, (_, n) => name(n));
    const run = (statements: readonly string[]) => sql.raw(statements.join(";\n")).execute(destination.db);
    await run(
      all.map(table => `create table procurement.${table} as select ${columns.map(c => `['${table}'] as ${c}`)}`),
    );
    const checkpoint = () => destination.afterPublish({} as TableSet, 1_000_000);
    await checkpoint();

    // A piece that goes on in another block, and in which the rows of one table end and those of the next one begin.
    const tablesIn = (text: string) => [...new Set(text.match(/t\d{3}/g))].toSorted();
    const seam = (await metadataOf(work))
      .filter(({ block, next }) => next !== undefined && next !== block)
      .map(({ text }) => (text.includes("tributary_file") ? [] : tablesIn(text)))
      .find(tables => tables.length > 1);
    const gone = Number(seam?.at(-1)?.slice(1));
    await run(all.slice(gone).map(table => `drop table procurement.${table}`));
    await checkpoint();
    expect(await lostIn(work), "which proves something only if there is one before").not.toEqual([]);

    await destination[done]();
    expect(await lostIn(path)).toEqual([]);
  });
});
