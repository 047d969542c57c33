import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import type { Db } from "../database.ts";
import type { CopyFormat, Dialect } from "../dialect.ts";
import type { CopyOut } from "../parquet_source.ts";

export interface CopyPlace {
  readonly db: Db;
  readonly dialect: Dialect;
  readonly copyOut?: CopyOut;
}

const PIECE = 1 << 18;

/**
 * Hands over the rows of queries, one query after the other, as the database writes them, as bytes: through the connection, or by
 * files that nobody else may read, of which the next is written while one is passed on. A piece is good until it is taken.
 */
export async function copyRows(
  { db, dialect, copyOut }: CopyPlace,
  queries: Iterable<string>,
  format: CopyFormat,
  take: (piece: Buffer) => Promise<void>,
): Promise<void> {
  if (copyOut !== undefined) {
    for (const query of queries) await copyOut(dialect.copy(query, format, ""), take);
    return;
  }
  const room = await mkdtemp(join(tmpdir(), "tributary-rows-"));
  const unwritten = queries[Symbol.iterator]();
  const write = async (nth: number): Promise<string | undefined> => {
    const { value: query, done } = unwritten.next();
    if (done === true) return undefined;
    const file = join(room, String(nth));
    await sql.raw(dialect.copy(query, format, file)).execute(db);
    return file;
  };
  const piece = Buffer.allocUnsafe(PIECE);
  let next = write(0);
  try {
    for (let nth = 1; ; nth++) {
      const file = await next;
      if (file === undefined) return;
      next = write(nth);
      // Whoever comes to it is told.
      next.catch(() => undefined);
      await passOn(file, piece, take);
      await rm(file);
    }
  } finally {
    await next.catch(() => undefined);
    await rm(room, { recursive: true, force: true });
  }
}

async function passOn(file: string, piece: Buffer, take: (piece: Buffer) => Promise<void>): Promise<void> {
  await using handle = await open(file);
  for (;;) {
    const { bytesRead } = await handle.read(piece);
    if (bytesRead === 0) return;
    await take(piece.subarray(0, bytesRead));
  }
}
