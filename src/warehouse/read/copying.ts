import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Kysely, sql } from "kysely";
import { remove } from "../../files.ts";
import type { CopyFormat, Dialect } from "../dialect.ts";
import type { CopyOut } from "../parquet_source.ts";
import type { StateTables } from "../state_tables.ts";

/** Where rows are read. `room`: a private folder for what is on its way. */
export interface CopyPlace {
  readonly db: Kysely<StateTables>;
  readonly dialect: Dialect;
  readonly copyOut?: CopyOut;
  readonly room: string;
}

const PIECE = 1 << 20;

/** Hands over a query's rows as the database writes them, as bytes: through the connection, or by a file that is ours alone. */
export async function copyRows(
  { db, dialect, copyOut, room }: CopyPlace,
  query: string,
  format: CopyFormat,
  take: (piece: Buffer) => Promise<void>,
): Promise<void> {
  if (copyOut !== undefined) return copyOut(dialect.copy(query, format, ""), take);
  await mkdir(room, { recursive: true, mode: 0o700 });
  const file = join(room, randomUUID());
  try {
    await sql.raw(dialect.copy(query, format, file)).execute(db);
    for await (const piece of createReadStream(file, { highWaterMark: PIECE })) await take(piece);
  } finally {
    await remove(file);
  }
}
