import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { parsedJson, writeDurably } from "../../files.ts";

/** Beside the tables' folders. Spark, Hive and Trino pass over what begins with an underscore. */
export const MANIFEST = "_manifest.json";
const VERSION = 1;

const file = z.object({ path: z.string(), rows: z.number(), bytes: z.number() });
const partition = z.object({
  name: z.string(),
  column: z.string(),
  unit: z.enum(["year", "month", "day"]).nullable(),
});
const column = z.object({
  name: z.string(),
  /** What its values mean: money, date, id …; null for the program's own. */
  kind: z.string().nullable(),
  sql_type: z.string(),
  parquet_type: z.string(),
  nullable: z.boolean(),
  /** Whether it stands in the files, or only in the names of their folders. */
  stored_in: z.enum(["file", "path"]),
  description: z.string().nullable(),
});
const table = z.object({
  table: z.string(),
  /** Null for a table of an earlier version of the catalogue. */
  stream: z.string().nullable(),
  description: z.string().nullable(),
  rows: z.number(),
  partitions: z.array(partition),
  columns: z.array(column),
  /** Paths below the manifest's folder. */
  files: z.array(file),
});
const manifest = z.object({
  format_version: z.literal(VERSION),
  tributary_version: z.string(),
  /** The moment that all tables are of. */
  read_at: z.string(),
  /** When what was read had been published; null where readers see every transaction. */
  published_at: z.string().nullable(),
  schema: z.string(),
  /** Which policy the values were stored under; empty where all are as the service sends them. */
  privacy: z.string(),
  options: z.object({
    streams: z.array(z.string()),
    partition_by: z.array(z.string()),
    company: z.string().nullable(),
    live: z.boolean(),
    keep: z.number(),
  }),
  tables: z.array(table),
});

export type Manifest = z.infer<typeof manifest>;
export type ExportedTable = z.infer<typeof table>;
export type ExportedFile = z.infer<typeof file>;
export type ExportedColumn = z.infer<typeof column>;

/** The manifest of a finished export; undefined where there is none that this version understands. */
export async function readManifest(folder: string): Promise<Manifest | undefined> {
  const text = await readFile(join(folder, MANIFEST), "utf8").catch(() => "null");
  return manifest.safeParse(parsedJson(text)).data;
}

export async function writeManifest(folder: string, told: Omit<Manifest, "format_version">): Promise<void> {
  const text = `${JSON.stringify({ format_version: VERSION, ...told } satisfies Manifest, null, 2)}\n`;
  await writeDurably(join(folder, MANIFEST), text, 0o666);
}
