import type { Stream } from "../../catalog/stream.ts";
import type { Clock } from "../../clock.ts";
import type { Config, DestinationConfig, DuckdbConfig, DucklakeConfig, PostgresConfig } from "../../config/config.ts";
import { isFile, isLake } from "../../config/destination.ts";
import { ConfigError, DestinationError, LockedError, TributaryError } from "../../errors.ts";
import { holderOf } from "../../sync/run/opening.ts";
import { inspectLake, inspectPlace, openDestination, requireFree, schemasOf } from "../../warehouse/connect/open.ts";
import { looking, runningRuns } from "../../warehouse/connect/reading.ts";
import { hasState, type Looked } from "../../warehouse/ddl/present_tables.ts";
import { inspectServer, requireRights, rightsLacking } from "../../warehouse/ddl/rights.ts";
import type { Shape } from "../../warehouse/ddl/shape.ts";
import type { Holder } from "../../warehouse/destination.ts";
import type { Dialect } from "../../warehouse/dialect.ts";
import { readExtensions } from "../../warehouse/schema/extended_tables.ts";
import { lossesNow } from "../../warehouse/schema/lost_rows.ts";
import { tableOrder } from "../../warehouse/schema/prepare_warehouse.ts";
import { recordedTables } from "../../warehouse/schema/table_record.ts";
import { checkTables, lackingShapes } from "../../warehouse/schema/tables.ts";
import { compareIdentity, type Identity } from "../../warehouse/state/identity.ts";
import { areInTable, inspectRates } from "../../warehouse/views/currency_rates.ts";
import { noViews, presentViews } from "../../warehouse/views/present_views.ts";
import { analyticsSchema } from "../../warehouse/views/view.ts";
import { viewsOfOthers } from "../../warehouse/views/view_plan.ts";
import { type CheckLine, doubt, failure, ok, warning } from "./line.ts";
import { checkMessages } from "./messages.ts";

const NAME = "destination";

export interface Fitness {
  readonly version: string;
  readonly companies: Identity["companies"];
  readonly catalogue: readonly Stream[];
  /** Those that are on. */
  readonly streams: readonly Stream[];
  readonly versioned: ReadonlySet<string>;
  readonly views: boolean;
  readonly workers: boolean;
}

/** Looks at the warehouse without writing to it: reachable, ours, with the rights and the room a run needs. */
export async function* checkDestination(
  where: DestinationConfig,
  fitness: Fitness,
  clock: Clock,
): AsyncGenerator<CheckLine> {
  try {
    if (isFile(where)) yield* checkDuckdb(where, fitness);
    else if (isLake(where)) yield* checkDucklake(where, fitness);
    else yield* checkPostgres(where, fitness, clock);
  } catch (error) {
    yield error instanceof LockedError && error.exitCode === 4 ? doubt(NAME, error) : failure(NAME, error);
  }
}

async function* checkPostgres(where: PostgresConfig, fitness: Fitness, clock: Clock): AsyncGenerator<CheckLine> {
  const holder = holderOf("tributary check", "");
  await using destination = await openDestination(where, { runId: "check", holder, clock }, 0);
  const found = await checkContents(destination, where, fitness);
  const loaded = found !== undefined;
  const { version, user, database } = await inspectServer(destination.db);
  await requireRights(destination.db, schemasOf(where, { ...fitness, views: false }));
  yield ok(NAME, checkMessages.postgres({ version, database, user, schema: where.schema, loaded }));
  yield* found ?? [];
  const [exposed] = destination.warnings;
  yield exposed === undefined
    ? ok("connection", checkMessages.connection({ protection: destination.protection ?? "" }))
    : doubt("connection", new DestinationError(exposed));
  const shown = analyticsSchema(where.schema);
  const lacking = fitness.views ? await rightsLacking(destination.db, [shown]) : undefined;
  if (lacking !== undefined)
    yield warning("views", checkMessages.views_not_creatable({ schema: shown, reason: lacking.message }));
}

async function* checkDucklake(where: DucklakeConfig, fitness: Fitness): AsyncGenerator<CheckLine> {
  const { extensions, server } = await inspectLake(where, schemasOf(where, fitness));
  for (const extension of extensions) yield ok("extension", checkMessages.extension({ extension }));
  const found = await looking(where, async reading => {
    const lines = await checkContents(reading, where, fitness);
    return [...(lines ?? []), ...(await runningRuns(where, reading)).map(runLine)];
  });
  const lake = { catalog: server.said, data_path: where.dataPath, schema: where.schema, loaded: found !== undefined };
  yield ok(NAME, checkMessages.ducklake(lake));
  const [exposed] = server.warnings;
  yield exposed === undefined
    ? ok("connection", checkMessages.connection({ protection: server.protection }))
    : doubt("connection", new DestinationError(exposed));
  yield* found ?? [];
}

async function* checkDuckdb(where: DuckdbConfig, fitness: Fitness): AsyncGenerator<CheckLine> {
  const room = await inspectPlace(where);
  const found = await looking(where, reading => checkContents(reading, where, fitness));
  const running = await runningRuns(where, undefined);
  // Whatever else is wrong with the work file, a run replaces it.
  if (running.length === 0)
    await requireFree(where).catch(error => {
      if (error instanceof LockedError) throw error;
    });
  yield ok(NAME, checkMessages.duckdb({ path: room.path, schema: where.schema, loaded: found !== undefined }));
  yield* found ?? [];
  yield* running.map(runLine);
  yield diskLine(room, where.keepVersions);
}

const runLine = ({ command, runId, pid, host }: Holder): CheckLine =>
  ok("run", checkMessages.run_at_work({ command, run_id: runId, pid, host }));

/** Lines about the tables; undefined where there is no warehouse. Throws what a run would refuse. */
async function checkContents(
  looked: Looked & { readonly dialect: Dialect },
  where: DestinationConfig,
  fitness: Fitness,
): Promise<readonly CheckLine[] | undefined> {
  const { db, dialect } = looked;
  const { version, companies, catalogue, streams, versioned, views } = fitness;
  const order = tableOrder(where, { streams, grantSelectTo: where.grantSelectTo, versioned });
  const { catalog, altered, unusable } = await checkTables(db, dialect, order);
  if (!(await hasState(looked))) return undefined;
  await compareIdentity(db, { schema: where.schema, program: version, companies });
  const extensions = await readExtensions(db, dialect, order, catalog);
  const columns = [...extensions].flatMap(([table, { others }]) => others.map(column => `${table}.${column}`));
  const others = columns.length === 0 ? [] : [ok("columns", checkMessages.columns_of_others({ columns }))];
  if (altered.length > 0) others.push(warning("columns", checkMessages.columns_retyped({ columns: altered })));
  const { schema, stateSchema } = where;
  const shown = analyticsSchema(schema);
  others.push(...(await tableLines(looked, fitness, lackingShapes(dialect, order, catalog))));
  const present = views ? await presentViews(db, dialect, shown) : noViews;
  const moved = viewsOfOthers(present, { schema, stateSchema, shown }, catalogue);
  const own = moved.filter(name => present.names.get(name) === true);
  if (own.length > 0) others.push(warning("views", checkMessages.views_read_others({ schema: shown, views: own })));
  return [...others, ...[...unusable.values()].map(message => failure(NAME, new DestinationError(message)))];
}

/** A line for the tables that are missing, one for those that lost all rows, and one for those with other row counts. A run loads these again. */
async function tableLines(
  looked: Looked,
  { companies, streams, versioned }: Fitness,
  lacking: readonly Shape[],
): Promise<readonly CheckLine[]> {
  const { db, dialect } = looked;
  const recorded = await recordedTables(db);
  const histories = await db.selectFrom("history").select("stream").where("kept_to", "is", null).execute();
  const isKept = (name: string) => histories.some(({ stream }) => stream === name);
  const lost = lacking.filter(({ name, role, stream }) => (role === "versions" ? isKept(stream) : recorded.has(name)));
  const lines: CheckLine[] = [];
  if (lost.length > 0)
    lines.push(warning("tables", checkMessages.tables_missing({ tables: lost.map(({ name }) => name) })));
  const lacks = (stream: string) => lacking.filter(shape => shape.stream === stream);
  // Tables of a lake are looked into by --full alone.
  const near = dialect.rowsAreNear
    ? streams.filter(({ name }) => lacks(name).every(({ role }) => role === "versions"))
    : [];
  const followed = new Set([...versioned].filter(name => lacks(name).length === 0));
  for (const { name: company } of companies) {
    const { emptied, differing } = await lossesNow(looked, { company, versioned: followed, streams: near });
    if (emptied.length > 0) lines.push(warning("tables", checkMessages.tables_emptied({ company, tables: emptied })));
    if (differing.length > 0) lines.push(warning("tables", checkMessages.rows_differ({ company, tables: differing })));
  }
  return lines;
}

/** Free space below this is a warning: a first load may need it. */
const LITTLE_BYTES = 1e9;

type Disk = Omit<Awaited<ReturnType<typeof inspectPlace>>, "path">;

/** DuckDB spills when its memory is full: a warehouse of 31 MB with `history` took 42 MB. That memory is 80 MB. */
const SPILL_BYTES = 80e6;

/** Whether the disk has room for what the next runs write: the versions that are still to come, at least one copy of the file, and what DuckDB spills. */
export function diskLine({ folder, free, size, versions, spill }: Disk, keepVersions: number): CheckLine {
  // A publish writes the new version before it removes the oldest.
  const copies = versions === undefined ? 1 : Math.max(1, keepVersions + 1 - versions);
  const need = size === 0 ? 0 : copies * size + SPILL_BYTES;
  const keep_versions = versions === undefined ? undefined : keepVersions;
  const disk = { folder, free_bytes: free, size_bytes: size, needed_bytes: need, copies, spill, keep_versions };
  if (free < need) return failure("disk", new DestinationError(checkMessages.disk_full(disk)));
  return free < Math.max(2 * need, LITTLE_BYTES)
    ? warning("disk", checkMessages.disk_low(disk))
    : ok("disk", checkMessages.disk(disk));
}

/** Whether the rates can be read. A run goes on without them, so that is a warning. Undefined: there is no currency, or no warehouse to look into. */
export async function currencyLine(
  { currency, destination }: Pick<Config, "currency" | "destination">,
  offline: boolean,
): Promise<CheckLine | undefined> {
  if (currency === undefined) return undefined;
  const { report } = currency;
  const isRemote = areInTable(currency);
  if (isRemote && offline && !isFile(destination)) return ok("currency", checkMessages.offline());
  try {
    const found = isRemote
      ? await looking(destination, ({ db }) => inspectRates(db, currency))
      : await inspectRates(undefined, currency);
    return found && ok("currency", checkMessages.rates({ report, ...found }));
  } catch (error) {
    if (error instanceof ConfigError) return doubt("currency", error);
    // The line of the destination says it.
    if (error instanceof TributaryError) return undefined;
    throw error;
  }
}
