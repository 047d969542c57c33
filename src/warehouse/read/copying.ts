import { createReadStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Kysely, sql } from "kysely";
import type { CopyFormat, Dialect } from "../dialect.ts";
import type { CopyOut } from "../parquet_source.ts";
import type { StateTables } from "../state_tables.ts";

/** Where rows are read. */
export interface CopyPlace {
  readonly db: Kysely<StateTables>;
  readonly dialect: Dialect;
  readonly copyOut?: CopyOut;
}

const PIECE = 1 << 20;

/** Hands over a query's rows as the database writes them, as bytes: through the connection, or by a file that nobody else may read. */
export async function copyRows(
  { db, dialect, copyOut }: CopyPlace,
  query: string,
  format: CopyFormat,
  take: (piece: Buffer) => Promise<void>,
): Promise<void> {
  if (copyOut !== undefined) return copyOut(dialect.copy(query, format, ""), take);
  const room = await mkdtemp(join(tmpdir(), "tributary-rows-"));
  try {
    const file = join(room, "rows");
    await sql.raw(dialect.copy(query, format, file)).execute(db);
    for await (const piece of createReadStream(file, { highWaterMark: PIECE })) await take(piece);
  } finally {
    await rm(room, { recursive: true, force: true });
  }
}
