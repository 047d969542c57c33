import type { Stream } from "../../catalog/stream.ts";
import type { Clock } from "../../clock.ts";
import type { DestinationConfig, DuckdbConfig, DucklakeConfig, PostgresConfig } from "../../config/config.ts";
import { isFile, isLake } from "../../config/destination.ts";
import { DestinationError, LockedError } from "../../errors.ts";
import { uncoded } from "../../message.ts";
import { holderOf } from "../../sync/run/opening.ts";
import { inspectLake, inspectPlace, openDestination, schemasOf } from "../../warehouse/connect/open.ts";
import { looking, runningRuns } from "../../warehouse/connect/reading.ts";
import { hasState, type Looked } from "../../warehouse/ddl/present_tables.ts";
import { inspectServer, requireRights, rightsLacking } from "../../warehouse/ddl/rights.ts";
import type { Dialect } from "../../warehouse/dialect.ts";
import { tableOrder } from "../../warehouse/schema/prepare_warehouse.ts";
import { checkTables } from "../../warehouse/schema/tables.ts";
import { compareIdentity, type Identity } from "../../warehouse/state/identity.ts";
import { DATA_VERSION } from "../../warehouse/state/state_ddl.ts";
import { analyticsSchema } from "../../warehouse/views/view.ts";
import { type CheckLine, doubt, failure, ok, warning } from "./line.ts";

const NAME = "destination";

/** What the runs need of the warehouse. */
export interface Fitness {
  readonly version: string;
  readonly companies: Identity["companies"];
  readonly streams: readonly Stream[];
  /** Those of which every version of a row is to be kept. */
  readonly versioned: ReadonlySet<string>;
  readonly views: boolean;
  /** Whether the work is shared by a queue of jobs. */
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
    yield error instanceof LockedError ? doubt(NAME, error) : failure(NAME, error);
  }
}

async function* checkPostgres(where: PostgresConfig, fitness: Fitness, clock: Clock): AsyncGenerator<CheckLine> {
  const holder = holderOf("tributary check", "");
  await using destination = await openDestination(where, { runId: "check", holder, clock }, 0);
  const loaded = await checkContents(destination, where, fitness);
  const { version, user, database } = await inspectServer(destination.db);
  await requireRights(destination.db, schemasOf(where, { ...fitness, views: false }));
  const state = loaded ? "a warehouse of tributary" : "nothing in it yet";
  yield ok(NAME, uncoded(`PostgreSQL ${version}, database ${database} as ${user}, schema ${where.schema}: ${state}`));
  const [exposed] = destination.warnings;
  yield exposed === undefined
    ? ok("connection", uncoded(destination.protection ?? ""))
    : doubt("connection", new DestinationError(exposed));
  const shown = analyticsSchema(where.schema);
  const lacking = fitness.views ? await rightsLacking(destination.db, [shown]) : undefined;
  if (lacking !== undefined)
    yield warning(
      "views",
      uncoded(
        `${`The views of ${shown} cannot be made; a run makes the tables without them.`}\n${`${lacking.message} Or set views: false.`}`,
      ),
    );
}

async function* checkDucklake(where: DucklakeConfig, fitness: Fitness): AsyncGenerator<CheckLine> {
  const { extensions, server } = await inspectLake(where, schemasOf(where, fitness));
  for (const line of extensions) yield ok("extension", uncoded(line));
  const found = await looking(where, async reading => {
    await checkContents(reading, where, fitness);
    return runningRuns(where, reading);
  });
  const state = found === undefined ? "nothing there yet" : "a warehouse of tributary";
  const catalog = server?.said ?? `the file ${where.catalog}`;
  yield ok(NAME, uncoded(`DuckLake in ${catalog}, files in ${where.dataPath}, schema ${where.schema}: ${state}`));
  if (server !== undefined) {
    const [exposed] = server.warnings;
    yield exposed === undefined
      ? ok("connection", uncoded(server.protection))
      : doubt("connection", new DestinationError(exposed));
  }
  for (const { command, runId, pid, host } of found ?? [])
    yield ok("run", uncoded(`${command} (${runId}, process ${pid} on ${host}) is at work`));
}

async function* checkDuckdb(where: DuckdbConfig, fitness: Fitness): AsyncGenerator<CheckLine> {
  const room = await inspectPlace(where);
  const found = await looking(where, reading => checkContents(reading, where, fitness));
  const state = found === undefined ? "nothing there yet" : "a warehouse of tributary";
  yield ok(NAME, uncoded(`DuckDB ${room.path}, schema ${where.schema}: ${state}`));
  const [running] = await runningRuns(where, undefined);
  if (running !== undefined)
    yield ok(
      "run",
      uncoded(`${running.command} (${running.runId}, process ${running.pid} on ${running.host}) is at work`),
    );
  yield diskLine(room, where.keepVersions);
}

/** Whether there is a warehouse; throws what a run would refuse. */
async function checkContents(
  looked: Looked & { readonly dialect: Dialect },
  where: DestinationConfig,
  { version, companies, streams, versioned }: Fitness,
): Promise<boolean> {
  const { grantSelectTo } = where;
  await checkTables(looked.db, looked.dialect, tableOrder(where, { streams, grantSelectTo, versioned }));
  if (!(await hasState(looked))) return false;
  const identity = { schema: where.schema, version: DATA_VERSION, program: version, companies };
  await compareIdentity(looked.db, identity);
  return true;
}

/** Free space below this is a warning: a first load may need it. */
const LITTLE_BYTES = 1e9;

type Disk = Omit<Awaited<ReturnType<typeof inspectPlace>>, "path">;

/** Whether the disk has room for what the next runs write: the versions that are still to come, at least one copy of the file. */
export function diskLine({ folder, free, size, versions, spill }: Disk, keepVersions: number): CheckLine {
  // A publish writes the new version before it removes the oldest.
  const copies = versions === undefined ? 1 : Math.max(1, keepVersions + 1 - versions);
  const need = copies * size;
  const what =
    versions === undefined
      ? "as much again as the file has, for a run in which everything changes"
      : copies === 1
        ? "a copy of the work file for the next publish"
        : `${copies} copies of the work file (${amount(size)}) until ${keepVersions} versions are kept`;
  const needed = size === 0 ? "nothing is loaded yet" : `needed is ${amount(need)}, ${what}`;
  const message = `${amount(free)} free in ${folder}; ${needed}; DuckDB's own temporary files go to ${spill}-…`;
  const lower = versions === undefined || keepVersions < 2 ? "" : ", or lower destination.keep_versions";
  const advice = `Make room${lower}: twice what is needed is a safe amount, and 1 GB the least.`;
  if (free < need) return failure("disk", new DestinationError(uncoded(`${message}.\n${advice}`)));
  return free < Math.max(2 * need, LITTLE_BYTES)
    ? warning("disk", uncoded(`${message}\n${advice}`))
    : ok("disk", uncoded(message));
}

const amount = (bytes: number): string =>
  bytes < 1e8 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
