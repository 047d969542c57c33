import { readdir, readFile, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { TableSet } from "../../../catalog/columns.ts";
import { digestOf } from "../../../digest.ts";
import { parsedJson, remove, syncFolder, writeDurably } from "../../../files.ts";
import { stageColumns } from "../../../rows/batch.ts";
import type { StageRecord } from "../../destination.ts";

const NAME = "manifest.json";

const fileFacts = z.object({
  name: z.string(),
  bytes: z.int(),
  rows: z.int(),
  longest: z.int(),
  wide: z.array(z.string()),
});

/** The files of one appended batch; a table without rows has none. */
const batchFacts = z.object({
  keys: fileFacts.optional(),
  main: fileFacts.optional(),
  children: z.array(fileFacts.nullable()),
  outcomes: fileFacts.optional(),
});

const manifestFacts = z.object({
  company: z.string(),
  layout: z.string(),
  record: z.record(z.string(), z.unknown()),
  /** Number of the next batch; never used twice in a folder's life, so that a name means one content. */
  next: z.int(),
  batches: z.array(batchFacts),
});

/** A file of the stage: `longest` is its longest line in bytes, `wide` the columns with values beyond DECIMAL(18,6). */
export type StagedFile = z.infer<typeof fileFacts>;
/** What a stage holds: the scan's checkpoint (`record`) and exactly the batches that belong to it. */
export type Manifest = Omit<z.infer<typeof manifestFacts>, "record"> & { readonly record: StageRecord };

/** Tells stages apart whose files would be read with other columns. */
export function layoutPrint(tables: TableSet): string {
  const layout = [tables.main, ...tables.children].map(table => [
    table.name,
    table.key,
    stageColumns(table).map(column => [column.name, column.kind]),
  ]);
  const keyKinds = tables.main.key.map(name => tables.main.columns.find(column => column.name === name)?.kind);
  return digestOf([layout, keyKinds]);
}

/** Makes what the manifest says the truth about its folder: durable when it resolves. */
export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const temporary = join(folder, `${NAME}.new`);
  await writeDurably(temporary, JSON.stringify(manifest));
  await rename(temporary, join(folder, NAME));
  await syncFolder(folder);
}

export async function removeManifest(folder: string): Promise<void> {
  await remove(join(folder, NAME));
  await syncFolder(folder);
}

/** The folder's manifest; undefined when there is none, or it or one of its files is not what was written, or it is of other columns. */
export async function readManifest(folder: string, company: string, layout: string): Promise<Manifest | undefined> {
  const text = await readFile(join(folder, NAME), "utf8").catch(() => "");
  const { data } = manifestFacts.safeParse(parsedJson(text));
  if (data === undefined || data.company !== company || data.layout !== layout) return undefined;
  const sizes = await Promise.all(filesOf(data).map(async file => [file.bytes, await sizeOf(join(folder, file.name))]));
  return sizes.every(([expected, found]) => expected === found) ? data : undefined;
}

/** Removes every file that the manifest doesn't name. */
export async function removeUnnamed(folder: string, manifest: Manifest | undefined): Promise<void> {
  const named = new Set(manifest === undefined ? [] : [NAME, ...filesOf(manifest).map(file => file.name)]);
  for (const name of await readdir(folder)) if (!named.has(name)) await remove(join(folder, name));
}

function filesOf(manifest: Pick<Manifest, "batches">): StagedFile[] {
  return manifest.batches.flatMap(batch =>
    [batch.keys, batch.main, ...batch.children, batch.outcomes].filter(file => file !== undefined && file !== null),
  );
}

async function sizeOf(path: string): Promise<number | undefined> {
  return stat(path).then(
    found => found.size,
    () => undefined,
  );
}
