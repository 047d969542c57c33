import type { Stream } from "../catalog/stream.ts";
import type { Clock } from "../clock.ts";
import type { Config } from "../config/config.ts";
import { soonest } from "../config/cron.ts";
import { isFile } from "../config/destination.ts";
import { selectedByConfig } from "../config/selection.ts";
import { LockedError } from "../errors.ts";
import type { FleetStatus } from "../fleet/view.ts";
import { configured } from "../privacy/configured_catalog.ts";
import { momentText } from "../rows/moment.ts";
import { openReading, runningRuns, type WarehouseReading } from "../warehouse/connect/reading.ts";
import type { Holder } from "../warehouse/destination.ts";
import { type DetailFreshness, detailFreshness } from "../warehouse/details/freshness.ts";
import type { LakeCondition } from "../warehouse/ducklake/maintenance.ts";
import { presentProblems } from "../warehouse/state/problems.ts";
import { openRejects } from "../warehouse/state/rejects.ts";
import { lastStreamRuns } from "../warehouse/state/run_log.ts";
import { readStreamState, type StreamState } from "../warehouse/state/stream_state.ts";
import { type WrittenRow, written } from "../warehouse/state_columns.ts";
import type { stateTables } from "../warehouse/state_tables.ts";
import { type DetailPlan, readPlan } from "./estimate/plan.ts";

/** What `status --json` prints. Moments are ISO 8601. */
export interface Status {
  readonly warehouse: {
    readonly type: Config["destination"]["type"];
    /** The file; null for a server, whose address may hold a password. */
    readonly path: string | null;
    readonly schema: string;
    readonly state_schema: string;
    readonly loaded: boolean;
    /** When readers were last shown something new; null where they see every transaction. */
    readonly published_at: string | null;
    readonly note: string | null;
  };
  /** Null for other warehouses, and while nothing is loaded. */
  readonly lake: LakeCondition | null;
  readonly running: RunningStatus | null;
  readonly last_run: RunStatus | null;
  readonly next_run: { readonly schedule: string; readonly at: string } | null;
  /** Null where the configuration has no `workers`. */
  readonly workers: FleetStatus | null;
  readonly streams: readonly StreamStatus[];
  /** Forecast of the details; on demand, as it looks at every one. */
  readonly plan?: readonly DetailPlan[];
}

export interface RunningStatus {
  readonly run_id: string;
  readonly command: string;
  readonly started_at: string;
  readonly pid: number;
  readonly host: string;
}

export type RunStatus = Readonly<Omit<WrittenRow<(typeof stateTables)["runs"]>, "version" | "process" | "warnings">> & {
  readonly warnings: unknown;
};

/** A stream of a company; `problems` and `rejects` are what its tables hold and what is open now. */
export interface StreamStatus {
  readonly company: string;
  readonly stream: string;
  readonly on: boolean;
  /** Of its last run; `never` before the first. */
  readonly status: string;
  readonly last_success_at: string | null;
  readonly complete_to: string | null;
  readonly rows: number;
  readonly live_rows: number;
  readonly details_pending: number | null;
  /** Of details whose nights look at unchanged rows; null for others. */
  readonly details_freshness: DetailFreshness | null;
  /** As its last run found it: rows at the service, and the table less them; null where the run could not tell. */
  readonly service_rows: number | null;
  readonly difference: number | null;
  readonly difference_reason: string | null;
  readonly problems: number;
  readonly rejects: number;
  /** Its time filter is not relied on, and the stream read whole: since when, and for which rows. */
  readonly distrusted_filter: DistrustedFilter | null;
  readonly error: string | null;
}

export interface DistrustedFilter {
  readonly since: string | null;
  readonly rows: readonly { readonly key: string; readonly time: string }[];
}

/** Looks at the warehouse without a lock. `clock`: works out the plan, too. @throws DestinationError, ConfigError */
export async function readStatus(
  config: Config,
  catalogue: readonly Stream[],
  company: string | undefined,
  clock?: Clock,
): Promise<Status> {
  const companies = config.companies.map(({ name }) => name).filter(name => company === undefined || name === company);
  const all = configured(catalogue, config);
  const selected = selectedByConfig(all, config.streams);
  const on = new Set(selected.map(stream => stream.name));
  const wanted = companies.flatMap(name =>
    all.map(stream => ({ company: name, stream: stream.name, on: on.has(stream.name) })),
  );
  const { destination } = config;
  let note: string | null = null;
  await using reading = await openReading(destination).catch(error => {
    if (!(error instanceof LockedError)) throw error;
    note = error.message;
    return undefined;
  });
  const place = clock && { config, catalogue: all, clock };
  const isReadable = reading !== undefined && note === null;
  return {
    warehouse: {
      type: destination.type,
      path: isFile(destination) ? destination.path : null,
      schema: destination.schema,
      state_schema: destination.stateSchema,
      loaded: reading !== undefined || note !== null,
      published_at: reading?.publishedAt?.toISOString() ?? null,
      note,
    },
    lake: (await reading?.condition?.()) ?? null,
    running: runningStatus((await runningRuns(destination, reading))[0]),
    last_run: reading === undefined ? null : await lastRun(reading),
    next_run: nextRun(config, Date.now()),
    workers: config.workers === undefined ? null : await (await import("../fleet/view.ts")).readFleet(config, company),
    streams: await streamStatuses(reading, wanted),
    ...(place && { plan: isReadable ? await readPlan(reading, place, { companies, streams: selected }) : [] }),
  };
}

function nextRun({ schedules }: Config, now: number): Status["next_run"] {
  const next = soonest(schedules, now);
  return next === undefined ? null : { schedule: next.schedule, at: new Date(next.at).toISOString() };
}

function runningStatus(run: Holder | undefined): RunningStatus | null {
  if (run === undefined) return null;
  const { runId, command, startedAt, pid, host } = run;
  return { run_id: runId, command, started_at: startedAt, pid, host };
}

/** The last run that came to an end. One that was killed is closed by the run after it. */
async function lastRun({ db }: WarehouseReading): Promise<RunStatus | null> {
  const row = await db
    .selectFrom("runs")
    .selectAll()
    .where("status", "<>", "running")
    .orderBy("started_at", "desc")
    .orderBy("run_id", "desc")
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) return null;
  const { version: _version, process: _process, ...rest } = row;
  return written(rest);
}

async function streamStatuses(
  reading: WarehouseReading | undefined,
  wanted: readonly Pick<StreamStatus, "company" | "stream" | "on">[],
): Promise<readonly StreamStatus[]> {
  const boards = reading === undefined ? [] : await reading.db.selectFrom("streams").selectAll().execute();
  const states = reading === undefined ? [] : await reading.db.selectFrom("stream_state").selectAll().execute();
  const runs = reading === undefined ? [] : await lastStreamRuns(reading);
  const rejects = reading === undefined ? [] : await openRejects(reading);
  const details = reading === undefined ? [] : await detailFreshness(reading);
  const problems = reading === undefined ? [] : await presentProblems(reading.db);
  return wanted.flatMap(({ company, stream, on }) => {
    const same = (row: { company: string; stream: string }) => row.company === company && row.stream === stream;
    const board = boards.find(same);
    const run = runs.find(same);
    if (!on && board === undefined) return [];
    // A success from before the rows were removed (`reset --drop`) no longer counts.
    const removed = board === undefined && (run?.status === "succeeded" || run?.status === "warning");
    return {
      company,
      stream,
      on,
      status: run === undefined || removed ? "never" : run.status,
      last_success_at: board?.last_success_at?.toISOString() ?? null,
      complete_to: board?.complete_to?.toISOString() ?? null,
      rows: board?.rows ?? 0,
      live_rows: board?.live_rows ?? 0,
      details_pending: board?.details_pending ?? null,
      details_freshness: freshnessOf(details.find(same)),
      service_rows: removed ? null : countOf(run?.service_rows),
      difference: removed ? null : countOf(run?.difference),
      difference_reason: removed ? null : (run?.difference_reason ?? null),
      problems: Number(problems.find(same)?.rows ?? 0),
      rejects: Number(rejects.find(same)?.rows ?? 0),
      distrusted_filter: distrustOf(readStreamState(states.find(same)?.state)),
      error: run?.error ?? null,
    };
  });
}

function distrustOf({ filterDistrusted, distrustedAt, strays }: StreamState): DistrustedFilter | null {
  if (!filterDistrusted) return null;
  return { since: distrustedAt, rows: strays.map(({ key, at }) => ({ key, time: momentText(at) })) };
}

function freshnessOf(found: (DetailFreshness & { company: string; stream: string }) | undefined) {
  if (found === undefined) return null;
  const { company: _company, stream: _stream, ...freshness } = found;
  return freshness;
}

const countOf = (value: number | null | undefined): number | null =>
  value === null || value === undefined ? null : Number(value);
