import { Counter, Gauge, Registry } from "prom-client";
import { type Clock, isLater } from "../../clock.ts";
import type { RunStatus, StreamStatus } from "../../operations/status.ts";
import { ageOf, isLate } from "../../warehouse/state/freshness.ts";
import type { StreamRun } from "../../warehouse/state/run_log.ts";
import type { CachedStatus } from "../cached_status.ts";
import type { Daemon, DaemonEvent, LiveRun } from "../schedule/events.ts";
import { hasFailed } from "./page_model.ts";
import type { Route } from "./route.ts";

/** What the metrics are made from. `lateAfterMs` is asked at each scrape, so that a reloaded configuration holds. */
export interface MetricsSources {
  readonly version: string;
  readonly clock: Clock;
  readonly daemon: Pick<Daemon, "startedAt" | "live" | "nextRuns">;
  readonly cachedStatus: () => Promise<CachedStatus>;
  readonly lateAfterMs: () => number;
}

export interface Metrics {
  readonly observe: (event: DaemonEvent) => void;
  readonly route: Route;
}

const STREAM = ["company", "stream"] as const;
type StreamLabel = (typeof STREAM)[number];

type Ended = Pick<RunStatus, "started_at" | "finished_at" | "exit_code">;

/** Columns of a stream's run that are counted up. */
const counted = {
  requests: "Requests sent to the service, retries included.",
  retries: "Requests that had to be sent again.",
  rows_read: "Rows that the service sent.",
  rows_inserted: "Rows that were new.",
  rows_updated: "Rows that had changed.",
  rows_deleted: "Rows that the service no longer lists.",
  rows_rejected: "Rows that could not be stored.",
  problems: "Values that did not fit their column.",
} as const;

const columnOf = {
  requests: "requests",
  retries: "retries",
  rows_read: "rows_read",
  rows_inserted: "inserted",
  rows_updated: "updated",
  rows_deleted: "deleted",
  rows_rejected: "rejected",
  problems: "problems",
} as const satisfies Record<keyof typeof counted, keyof StreamRun>;

/**
 * `/metrics` in Prometheus' text format. What is known of streams is read from the warehouse at each scrape, so that a restart
 * forgets nothing; counters begin at zero with the process, as Prometheus expects. Not open: it names companies and streams and
 * tells their volumes, which is what the page's token or login is for.
 */
export function createMetrics(sources: MetricsSources): Metrics {
  const { version, clock, daemon, cachedStatus, lateAfterMs } = sources;
  const registry = new Registry();
  const registers = [registry];
  const gauge = (name: string, help: string) => new Gauge({ name: `tributary_${name}`, help, registers });
  const streamGauge = (name: string, help: string) =>
    new Gauge<StreamLabel>({ name: `tributary_stream_${name}`, help, labelNames: STREAM, registers });

  const build = new Gauge({
    name: "tributary_build_info",
    help: "Always 1; the label says which version runs.",
    labelNames: ["version"],
    registers,
  });
  build.set({ version }, 1);
  gauge("start_time_seconds", "When the daemon started, as Unix time.").set(seconds(daemon.startedAt));
  const up = gauge("warehouse_up", "1 when the warehouse could be read at this scrape, 0 when it could not.");
  const running = gauge("run_in_progress", "1 while the daemon has a run going.");
  const since = gauge(
    "run_start_timestamp_seconds",
    "When the run that is going on began; absent while there is none.",
  );
  const nextRun = new Gauge({
    name: "tributary_next_run_timestamp_seconds",
    help: "When a schedule's next run is due, retries and asked-for runs included.",
    labelNames: ["schedule"],
    registers,
  });
  const lastEnd = gauge("last_run_timestamp_seconds", "When the last run ended, whoever started it.");
  const lastTook = gauge("last_run_duration_seconds", "How long the last run took.");
  const lastCode = gauge("last_run_exit_code", "Exit code of the last run; 0 is success.");
  const success = streamGauge("last_success_timestamp_seconds", "When the stream was last read successfully.");
  const completeTo = streamGauge(
    "complete_to_timestamp_seconds",
    "The moment up to which the stream's data is complete.",
  );
  const lag = streamGauge("lag_seconds", "Age of the stream's data; absent while the warehouse cannot be read.");
  const late = streamGauge("late", "1 when the stream's data is older than freshness.late_after.");
  const failed = streamGauge("failed", "1 when the stream failed when it was last worked on.");
  const liveRows = streamGauge("live_rows", "Rows of the stream that the service lists.");
  const apart = streamGauge(
    "service_difference",
    "Rows of the table less rows at the service, as the last run found them; absent where it could not tell.",
  );
  const took = streamGauge("last_run_duration_seconds", "How long the stream took when the daemon last worked on it.");
  const runs = new Counter({
    name: "tributary_runs_total",
    help: "Runs of the daemon that ended, by schedule, why they began, status and exit code.",
    labelNames: ["schedule", "cause", "status", "exit_code"],
    registers,
  });
  const limited = new Counter({
    name: "tributary_requests_limited_total",
    help: "Answers of the service with status 429, the run that is going on included.",
    registers,
  });
  const counters = Object.entries(counted).map(([name, help]) => ({
    column: columnOf[name as keyof typeof counted],
    counter: new Counter<StreamLabel>({ name: `tributary_stream_${name}_total`, help, labelNames: STREAM, registers }),
  }));

  /** The part of a run's 429s that is counted already. */
  const countedLimited = new WeakMap<object, number>();
  function countLimited({ view }: LiveRun): void {
    if (view === undefined) return;
    const all = view.snapshot().limited429;
    limited.inc(Math.max(0, all - (countedLimited.get(view) ?? 0)));
    countedLimited.set(view, all);
  }

  let shownEnd: number | undefined;
  function showRun({ started_at, finished_at, exit_code }: Ended): void {
    if (finished_at === null) return;
    const end = seconds(finished_at);
    shownEnd = end;
    lastEnd.set(end);
    lastTook.set(Math.max(0, end - seconds(started_at)));
    // A run that was killed has no exit code of its own.
    lastCode.set(exit_code ?? 1);
  }

  // What kept a run from beginning is not in the warehouse, and a run of somebody else's is not the daemon's.
  function showStored(run: Ended): void {
    const end = run.finished_at === null ? 0 : seconds(run.finished_at);
    if (shownEnd === undefined || isLater(end, shownEnd, clock.now() / 1_000)) showRun(run);
  }

  function showStream(stream: StreamStatus, now: number): void {
    const labels = labelsOf(stream);
    const age = ageOf(stream, now);
    if (stream.last_success_at !== null) success.set(labels, seconds(stream.last_success_at));
    if (stream.complete_to !== null) completeTo.set(labels, seconds(stream.complete_to));
    if (age !== undefined) lag.set(labels, age / 1_000);
    late.set(labels, isLate(stream, lateAfterMs(), now) ? 1 : 0);
    failed.set(labels, hasFailed(stream) ? 1 : 0);
    liveRows.set(labels, stream.live_rows);
    if (stream.difference !== null) apart.set(labels, stream.difference);
    // A counter that is there from the start shows its first increase.
    for (const { counter } of counters) counter.inc(labels, 0);
  }

  function showDaemon(): void {
    const live = daemon.live();
    running.set(live === undefined ? 0 : 1);
    since.remove();
    if (live !== undefined) {
      since.set(seconds(live.startedAt));
      countLimited(live);
    }
    nextRun.reset();
    for (const { schedule, at } of [...daemon.nextRuns()].reverse()) nextRun.set({ schedule }, seconds(at));
  }

  async function scrape(): Promise<string> {
    const { status } = await cachedStatus();
    const readable = status?.warehouse.loaded && status.warehouse.note === null;
    up.set(readable ? 1 : 0);
    for (const momentary of [lag, late]) momentary.reset();
    if (readable) {
      for (const lasting of [success, completeTo, failed, liveRows, apart]) lasting.reset();
      const now = clock.now();
      for (const stream of status.streams) if (stream.on) showStream(stream, now);
      if (status.last_run !== null) showStored(status.last_run);
    }
    showDaemon();
    return registry.metrics();
  }

  for (const unknown of [lastEnd, lastTook, lastCode]) unknown.remove();
  return {
    observe(event) {
      if (event.kind !== "finished") return;
      const { run, outcome } = event;
      const { schedule, cause } = run;
      const report = "run_id" in outcome ? outcome : undefined;
      const status = report?.status ?? "refused";
      runs.inc({ schedule, cause, status, exit_code: String(outcome.exit_code) });
      countLimited(run);
      showRun({ started_at: run.startedAt, finished_at: event.finishedAt, exit_code: outcome.exit_code });
      for (const stream of report?.streams ?? []) {
        for (const { counter, column } of counters) counter.inc(labelsOf(stream), stream[column]);
        if (stream.finished_at !== null)
          took.set(labelsOf(stream), Math.max(0, seconds(stream.finished_at) - seconds(stream.started_at)));
      }
    },
    route: {
      method: "GET",
      path: "/metrics",
      open: false,
      answer: async () =>
        new Response(await scrape(), {
          headers: { "content-type": registry.contentType, "cache-control": "no-store" },
        }),
    },
  };
}

const labelsOf = ({ company, stream }: Readonly<Record<StreamLabel, string>>) => ({ company, stream });

const seconds = (moment: string): number => Date.parse(moment) / 1_000;
