import { mkdir, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../clock.ts";
import { ConfigError, DestinationError, TributaryError } from "../../errors.ts";
import { codeOf, diskFailure, remove } from "../../files.ts";
import type { Log } from "../../logging.ts";
import type { Message } from "../../message.ts";
import { atOneMoment, type Moment } from "../../warehouse/connect/exporting.ts";
import type { Holder } from "../../warehouse/destination.ts";
import { destinationFailure } from "../../warehouse/duckdb/session/failure.ts";
import { type MakeLink, systemLink } from "../../warehouse/duckdb/versions/version_names.ts";
import type { Exportable } from "../../warehouse/parquet_source.ts";
import { syncFolders, takeOver } from "./files.ts";
import { hold } from "./hold.ts";
import { type ExportedTable, MANIFEST, type Manifest, readManifest, writeManifest } from "./manifest.ts";
import { exportMessages, type Refused } from "./messages.ts";
import { partitionsOf, readPartitionSpec } from "./partitioning.ts";
import { begin, linked, type Place, prune, removeLeftovers, roomIn, show } from "./place.ts";
import { chooseTables, type Wanted } from "./tables.ts";
import { type Decided, decide, requireFewFolders, type TableProgress, writeTable } from "./writing.ts";

/** What an export is to hold, as it is recorded in its manifest. */
export type ExportOptions = Manifest["options"];

export interface ExportOrder extends Wanted {
  readonly place: Place;
  readonly options: ExportOptions;
  /** Which policy the warehouse's values are stored under. Versions of another one go, for what they hold may be kept no longer. */
  readonly privacy: string;
  /** Of tributary. */
  readonly version: string;
}

export interface ExportTools {
  readonly clock: Clock;
  readonly log: Pick<Log, "info">;
  readonly signal: AbortSignal;
  /** How a symbolic link is made, where not by the system. */
  readonly makeLink?: MakeLink;
  /** Who exports: a second export is told. */
  readonly holder: Holder;
  /** Told what is being done to which table. */
  readonly watch: (progress: TableProgress) => void;
}

/** What `export` did, as `--json` prints it. `unchanged`: nothing at all was written. */
export interface ExportReport {
  readonly out: string;
  readonly manifest: string;
  readonly status: "written" | "unchanged";
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
  readonly warnings: readonly Message[];
}

/**
 * Brings the folder in step with the warehouse, in one step for its readers: tables that changed are written, the others
 * taken over, and where nothing changed nothing is written. The warehouse is read at one moment and not locked.
 * @throws ConfigError, LockedError, DestinationError, or the signal's reason; the folder is as it was then
 */
export async function makeExport(from: Exportable, order: ExportOrder, tools: ExportTools): Promise<ExportReport> {
  const { place } = order;
  try {
    return await atOneMoment(from, roomIn(place), tools.signal, async moment => {
      const { missing, tables } = await chosenTables(moment, from, order);
      await mkdir(place.home, { recursive: true });
      const held = await hold(place.home, place.path, tools.holder);
      try {
        await removeLeftovers(place);
        await mkdir(roomIn(place), { mode: 0o700 });
        const report = await inStep({ from, moment, order, tools, tables, requireHeld: held.requireHeld });
        return { ...report, missing };
      } finally {
        await remove(roomIn(place));
        await held.release();
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
  readonly tables: Awaited<ReturnType<typeof chosenTables>>["tables"];
  readonly requireHeld: () => Promise<void>;
}

async function inStep(work: Work): Promise<Omit<ExportReport, "missing">> {
  const { from, order, tools, tables, moment } = work;
  const { place, options, privacy } = order;
  const mayStay = async (folder: string) => isUnder(privacy, await readManifest(folder));
  const readAt = tools.clock.now();
  const before = await linked(place);
  const folder = before === undefined ? undefined : join(place.home, before);
  const previous = folder === undefined ? undefined : await readManifest(folder);
  const decided: Decided[] = [];
  for (const table of tables) {
    tools.watch({ table: table.name, doing: "comparing", rows: 0, tables: tables.length });
    decided.push(await decide(moment.source, table, options, previous, folder));
  }
  const read_at = new Date(readAt).toISOString();
  const published_at = from.publishedAt?.toISOString() ?? null;
  const told = { read_at, published_at, schema: from.schema, privacy, options };
  const exported = previous?.tables.map(({ table }) => table) ?? [];
  const removed = exported.filter(name => !tables.some(other => other.name === name));
  const found = { out: place.path, manifest: join(place.path, MANIFEST), removed, read_at, published_at };
  if (previous !== undefined && before !== undefined && isSame(previous, decided, told)) {
    await prune(place, Number.POSITIVE_INFINITY, mayStay);
    const lines = decided.map(({ entry }) => lineOf(entry, "unchanged"));
    return { ...found, status: "unchanged", version: before, tables: lines, warnings: [] };
  }
  const { version, entries } = await write(work, decided, folder, readAt, told);
  await prune(place, options.keep, mayStay);
  const warnings = damaged(decided);
  const lines = entries.map((entry, at) => lineOf(entry, decided[at]!.kept ? "unchanged" : "written"));
  return { ...found, status: "written", version, tables: lines, warnings };
}

async function write(
  { moment, order, tools, tables, requireHeld }: Work,
  decided: readonly Decided[],
  before: string | undefined,
  readAt: number,
  told: Pick<Manifest, "read_at" | "published_at" | "schema" | "privacy" | "options">,
): Promise<{ readonly version: string; readonly entries: readonly ExportedTable[] }> {
  const { place } = order;
  const changed = decided.filter(({ kept }) => !kept);
  for (const { source } of changed) await requireFewFolders(moment.source, source);
  const unfinished = await begin(place, readAt);
  try {
    const entries: ExportedTable[] = [];
    for (const { entry, source, kept } of decided) {
      const started = tools.clock.now();
      tools.signal.throwIfAborted();
      if (kept) {
        await takeOver(before!, unfinished.folder, entry.files);
        entries.push(entry);
        continue;
      }
      const watch = (rows: number) =>
        tools.watch({ table: entry.table, doing: "writing", rows, of: entry.rows, tables: tables.length });
      watch(0);
      const files = await writeTable(moment.source, source, entry, unfinished, watch);
      entries.push({ ...entry, files, exported_at: new Date(tools.clock.now()).toISOString() });
      const { table, rows } = entry;
      tools.log.info(exportMessages.exported(), { table, rows, files: files.length, ms: tools.clock.now() - started });
    }
    await writeManifest(unfinished.folder, { tributary_version: order.version, ...told, tables: entries });
    await syncFolders(unfinished.folder);
    await requireHeld();
    tools.signal.throwIfAborted();
    await show(place, unfinished, tools.makeLink ?? systemLink);
    return { version: unfinished.name, entries };
  } catch (error) {
    await remove(unfinished.folder).catch(() => undefined);
    throw error;
  }
}

/** Whether the export before says the same of everything, so that there is nothing to write. */
function isSame(
  previous: Manifest,
  decided: readonly Decided[],
  told: Pick<Manifest, "schema" | "privacy" | "options">,
): boolean {
  if (decided.some(({ kept }) => !kept)) return false;
  const now = [told.schema, told.privacy, told.options, decided.map(({ entry }) => entry)];
  return isDeepStrictEqual(now, [previous.schema, previous.privacy, previous.options, previous.tables]);
}

/** Whether what an export holds may be kept under a policy: it was made under it, or everything may. */
export function isUnder(privacy: string, made: Pick<Manifest, "privacy"> | undefined): boolean {
  return privacy === "" || made?.privacy === privacy;
}

const damaged = (decided: readonly Decided[]): readonly Message[] =>
  decided.filter(({ isDamaged }) => isDamaged).map(({ entry: { table } }) => exportMessages.damaged({ table }));

/** A table's line in the report of an export. `unchanged`: its files are those of the export before. */
const lineOf = ({ table, stream, rows, files }: ExportedTable, status: "written" | "unchanged") => ({
  table,
  stream,
  status,
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
