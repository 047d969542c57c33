import { mkdir, open, readdir, rmdir } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../clock.ts";
import { ConfigError, DestinationError, TributaryError } from "../../errors.ts";
import { codeOf, diskFailure, makeFolder, remove, syncFolder } from "../../files.ts";
import type { Log } from "../../logging.ts";
import { atOneMoment, type Moment } from "../../warehouse/connect/exporting.ts";
import { destinationFailure } from "../../warehouse/duckdb/session/failure.ts";
import { type MakeLink, systemLink } from "../../warehouse/duckdb/versions/version_names.ts";
import type { Exportable } from "../../warehouse/parquet_source.ts";
import {
  type ExportedFile,
  type ExportedTable,
  MANIFEST,
  type Manifest,
  readManifest,
  writeManifest,
} from "./manifest.ts";
import { exportMessages, type Refused } from "./messages.ts";
import { partitionsOf, readPartitionSpec } from "./partitioning.ts";
import { begin, linked, type Place, prune, show, type Unfinished } from "./place.ts";
import { chooseTables, type Wanted } from "./tables.ts";
import { type PartitionedTable, requireFewFolders, sourceOf, writeTable } from "./writing.ts";

/** What an export is to hold, as it is recorded in its manifest. */
export type ExportOptions = Manifest["options"];

export interface ExportOrder extends Wanted {
  readonly place: Place;
  readonly options: ExportOptions;
  /** The policy that the warehouse's values are stored under. Versions of another one go: what they hold may be kept no longer. */
  readonly privacy: string;
  readonly version: string;
}

export interface ExportProgress {
  readonly table: string;
  /** The table's number, from 1. */
  readonly nth: number;
  readonly tables: number;
  readonly rows: number;
  readonly of: number;
}

export interface ExportTools {
  readonly clock: Clock;
  readonly log: Pick<Log, "info">;
  readonly signal: AbortSignal;
  /** How a symbolic link is made, where not by the system. */
  readonly makeLink?: MakeLink;
  readonly watch: (progress: ExportProgress) => void;
}

/** What `export` did, as `--json` prints it. */
export interface ExportReport {
  readonly out: string;
  readonly manifest: string;
  /** The folder that `out` leads to. */
  readonly version: string;
  /** The moment that all tables are of, ISO 8601. */
  readonly read_at: string;
  /** When what was read had been published; null where readers see every transaction. */
  readonly published_at: string | null;
  readonly tables: readonly ReturnType<typeof lineOf>[];
  /** Tables of the export before that this one has not. */
  readonly removed: readonly string[];
  /** Streams that are on or were named and have no table yet. */
  readonly missing: readonly string[];
}

/**
 * Writes the tables into a new folder and lets the path lead to it, in one step for its readers. The warehouse is read at one
 * moment and not locked.
 * @throws ConfigError, DestinationError, or the signal's reason; the folder is as it was then
 */
export async function makeExport(from: Exportable, order: ExportOrder, tools: ExportTools): Promise<ExportReport> {
  const { place } = order;
  try {
    return await atOneMoment(from, place.room, tools.signal, async moment => {
      const { missing, tables } = await chosenTables(moment, from, order);
      await makeFolder(place.home);
      await mkdir(place.room, { mode: 0o700 });
      try {
        return { ...(await exportTables({ from, moment, order, tools, tables })), missing };
      } finally {
        await remove(place.room);
        // Removes the folder if nothing was exported.
        await rmdir(place.home).catch(() => undefined);
      }
    });
  } catch (error) {
    throw exportFailure(place.path, error);
  }
}

async function chosenTables(moment: Moment, from: Exportable, order: ExportOrder) {
  const { options, named } = order;
  const { tables, missing } = await chooseTables(moment, from, order);
  if (tables.length === 0) throw new ConfigError(exportMessages.no_tables({ streams: [...named] }));
  const partitions = partitionsOf(options.partition_by.map(readPartitionSpec), tables);
  return { missing, tables: tables.map(table => ({ ...table, partitions: partitions.get(table.name)! })) };
}

interface Work {
  readonly from: Exportable;
  readonly moment: Moment;
  readonly order: ExportOrder;
  readonly tools: ExportTools;
  readonly tables: readonly PartitionedTable[];
}

async function exportTables(work: Work): Promise<Omit<ExportReport, "missing">> {
  const { from, order, tools, tables, moment } = work;
  const { place, options, privacy } = order;
  for (const table of tables) await requireFewFolders(moment.source, sourceOf(table, options));
  const now = tools.clock.now();
  const unfinished = await begin(place, now);
  const written = await writeTables(work, unfinished);
  const read_at = new Date(now).toISOString();
  const published_at = from.publishedAt?.toISOString() ?? null;
  const about = { tributary_version: order.version, read_at, published_at, schema: from.schema, privacy, options };
  // Fails where another export that began meanwhile has moved some of it away.
  for (const { files } of written) await syncFiles(unfinished.folder, files);
  await writeManifest(unfinished.folder, { ...about, tables: written });
  await syncFolders(unfinished.folder);
  tools.signal.throwIfAborted();
  const before = await linked(place);
  const previous = before === undefined ? undefined : await readManifest(join(place.home, before));
  await show(place, unfinished, tools.makeLink ?? systemLink);
  const { name: version } = unfinished;
  const mayStay = async (folder: string) => privacy === "" || (await readManifest(folder))?.privacy === privacy;
  await prune(place, options.keep, mayStay);
  const names = new Set(tables.map(({ name }) => name));
  const removed = previous?.tables.map(({ table }) => table).filter(name => !names.has(name)) ?? [];
  const manifest = join(place.path, MANIFEST);
  return { out: place.path, manifest, version, read_at, published_at, tables: written.map(lineOf), removed };
}

async function writeTables({ moment, order, tools, tables }: Work, unfinished: Unfinished): Promise<ExportedTable[]> {
  const { clock, signal, watch, log } = tools;
  const written: ExportedTable[] = [];
  for (const [at, table] of tables.entries()) {
    const started = clock.now();
    signal.throwIfAborted();
    const entry = await writeTable(moment.source, table, order.options, unfinished, (rows, of) =>
      watch({ table: table.name, nth: at + 1, tables: tables.length, rows, of }),
    );
    written.push(entry);
    const { rows, files } = entry;
    log.info(exportMessages.exported(), { table: table.name, rows, files: files.length, ms: clock.now() - started });
  }
  return written;
}

/** Makes files durable. Fails where one is no longer there. */
async function syncFiles(folder: string, files: readonly ExportedFile[]): Promise<void> {
  for (const { path } of files) {
    await using handle = await open(join(folder, path), "r+");
    await handle.sync();
  }
}

/** Makes the names of everything below a folder durable. */
async function syncFolders(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isDirectory()) await syncFolders(join(folder, entry.name));
  await syncFolder(folder);
}

const lineOf = ({ table, stream, rows, files }: ExportedTable) => ({
  table,
  stream,
  rows,
  files: files.length,
  bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
});

const refusals: readonly (readonly [RegExp, Refused])[] = [
  [diskFailure.full, "full"],
  [diskFailure.denied, "denied"],
  [diskFailure.readOnly, "read_only"],
  [/EBUSY|Resource busy/, "busy"],
  [/ENAMETOOLONG/, "long_name"],
  [diskFailure.notFolder, "no_folder"],
  [diskFailure.gone, "gone"],
];

/** An error of the disk as a DestinationError that says what to do; what was exported before is still there. */
function exportFailure(path: string, error: unknown): unknown {
  // DuckDB's file errors would be reported as the warehouse's; here they are about the export's files.
  const told = error instanceof DestinationError && /IO Error/.test(String(error.cause)) ? error.cause : error;
  if (told instanceof TributaryError) return told;
  const message = told instanceof Error ? told.message : String(told);
  const isOfFiles = codeOf(told) !== undefined || /IO Error/.test(message);
  const found = isOfFiles ? refusals.find(([pattern]) => pattern.test(message)) : undefined;
  if (found === undefined) return destinationFailure(`export to ${path}`, error);
  const reason = message.trim().split("\n", 1)[0]!.replace(/\.$/, "");
  return new DestinationError(exportMessages.disk_refused({ path, reason, why: found[1] }), error);
}
