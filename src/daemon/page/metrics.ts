import { Counter, Gauge, Registry } from "prom-client";
import type { Clock } from "../../clock.ts";
import type { FleetStatus } from "../../fleet/view.ts";
import type { RunStatus, Status, StreamStatus } from "../../operations/status.ts";
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

type EndedRun = Pick<RunStatus, "started_at" | "exit_code"> & { readonly finished_at: string };

interface Scrape {
  readonly version: string;
  readonly startedAt: string;
  readonly now: number;
  readonly lateAfterMs: number;
  /** Streams that are on; undefined while the warehouse cannot be read. */
  readonly streams: readonly StreamStatus[] | undefined;
  readonly live: LiveRun | undefined;
  readonly nextRuns: ReturnType<Daemon["nextRuns"]>;
  readonly lastRun: EndedRun | undefined;
}

type Labels = Readonly<Record<string, string>>;
type Value = number | null | undefined;
type Samples = readonly (readonly [Labels, Value])[];

const STREAM = ["company", "stream"] as const;

const labelsOf = ({ company, stream }: { readonly company: string; readonly stream: string }) => ({ company, stream });

const seconds = (moment: string): number => Date.parse(moment) / 1_000;

const timeOf = (moment: string | null | undefined): Value => (moment == null ? undefined : seconds(moment));

const lengthOf = (run: Omit<EndedRun, "exit_code">): number =>
  Math.max(0, seconds(run.finished_at) - seconds(run.started_at));

/** Help, value or labelled values, and the labels' names; `tributary_` stands before each name. Without a value a gauge is absent. */
type Gauges<At> = Readonly<Record<string, readonly [string, (at: At) => Value | Samples, ...string[]]>>;

const processGauges: Gauges<Pick<Scrape, "version" | "startedAt">> = {
  build_info: ["Always 1; the label says which version runs.", ({ version }) => [[{ version }, 1]], "version"],
  start_time_seconds: ["When the process started, as Unix time.", at => seconds(at.startedAt)],
};

const gauges: Gauges<Scrape> = {
  warehouse_up: [
    "1 when the warehouse could be read at this scrape, 0 when it could not.",
    at => Number(at.streams !== undefined),
  ],
  run_in_progress: ["1 while the daemon has a run going.", at => Number(at.live !== undefined)],
  run_start_timestamp_seconds: [
    "When the run that is going on began; absent while there is none.",
    at => timeOf(at.live?.startedAt),
  ],
  next_run_timestamp_seconds: [
    "When a schedule's next run is due, retries and asked-for runs included.",
    // Reversed, so that a schedule's soonest run is set last.
    ({ nextRuns }) => nextRuns.map(({ schedule, at }) => [{ schedule }, seconds(at)] as const).reverse(),
    "schedule",
  ],
  last_run_timestamp_seconds: ["When the last run ended, whoever started it.", at => timeOf(at.lastRun?.finished_at)],
  last_run_duration_seconds: ["How long the last run took.", ({ lastRun }) => lastRun && lengthOf(lastRun)],
  // A run that was killed has no exit code of its own.
  last_run_exit_code: [
    "Exit code of the last run; 0 is success.",
    ({ lastRun }) => lastRun && (lastRun.exit_code ?? 1),
  ],
};

const waitingAndActive = (waiting: number, active: number): Samples => [
  [{ state: "waiting" }, waiting],
  [{ state: "active" }, active],
];

/** What all workers do together; the same in whichever process it is asked. Absent without workers, and while it can't be read. */
const fleetGauges: Gauges<FleetStatus> = {
  workers_up: ["Workers that are up.", ({ workers }) => workers.filter(({ up }) => up).length],
  worker_seen_seconds: [
    "How long ago each worker was seen; 15 and more: it is silent, and others have its jobs.",
    ({ workers }) => workers.map(({ id, seen_seconds_ago }) => [{ worker: id }, seen_seconds_ago]),
    "worker",
  ],
  worker_jobs: [
    "Companies and runs that each worker that is up works on.",
    ({ workers }) => workers.filter(({ up }) => up).map(({ id, jobs }) => [{ worker: id }, jobs.length]),
    "worker",
  ],
  worker_refuses: [
    "1 when a worker that is up takes no jobs, as `tributary status` explains.",
    ({ workers }) =>
      workers.filter(({ up }) => up).map(({ id, refusal }) => [{ worker: id }, Number(refusal !== null)]),
    "worker",
  ],
  queue_companies: [
    "Companies of runs that wait for a worker, and those that one works on.",
    ({ queue }) => waitingAndActive(queue.waiting_companies, queue.active_companies),
    "state",
  ],
  queue_runs: [
    "Runs that no worker has begun to conduct, and those that one conducts.",
    ({ queue: { runs } }) => {
      const active = runs.filter(({ state }) => state === "active").length;
      return waitingAndActive(runs.length - active, active);
    },
    "state",
  ],
};

/** Help and value of each stream that is on. While the warehouse cannot be read the last values hold, but for `momentary` ones. */
const streamGauges: Readonly<
  Record<string, readonly [string, (stream: StreamStatus, at: Scrape) => Value, "momentary"?]>
> = {
  last_success_timestamp_seconds: ["When the stream was last read successfully.", one => timeOf(one.last_success_at)],
  complete_to_timestamp_seconds: [
    "The moment up to which the stream's data is complete.",
    one => timeOf(one.complete_to),
  ],
  lag_seconds: [
    "Age of the stream's data; absent while the warehouse cannot be read.",
    (one, at) => {
      const age = ageOf(one, at.now);
      return age && age / 1_000;
    },
    "momentary",
  ],
  late: [
    "1 when the stream's data is older than freshness.late_after.",
    (one, at) => Number(isLate(one, at.lateAfterMs, at.now)),
    "momentary",
  ],
  failed: ["1 when the stream failed when it was last worked on.", one => Number(hasFailed(one))],
  live_rows: ["Rows of the stream that the service lists.", one => one.live_rows],
  service_difference: [
    "Rows of the table less rows at the service, as the last run found them; absent where it could not tell.",
    one => one.difference,
  ],
  details_wrong_estimate: [
    "Share of details that changed unseen at the service, by a week's random looks; absent without them, and for lists.",
    one => one.details_freshness?.estimate?.wrong.share,
  ],
  details_wrong_estimate_low: [
    "The lower bound of its interval of 90 %.",
    one => one.details_freshness?.estimate?.wrong.low,
  ],
  details_wrong_estimate_high: [
    "The upper bound of its interval of 90 %.",
    one => one.details_freshness?.estimate?.wrong.high,
  ],
  details_fresh_promised: [
    "Share of active details, those of open or young rows, that `details.fresh` promises to be no more than its days behind.",
    one => one.details_freshness?.promised.share,
  ],
  details_fresh_estimate: [
    "The share that is so, by a week's random looks; absent without them.",
    one => one.details_freshness?.estimate?.fresh?.share,
  ],
  details_fresh_estimate_low: [
    "The lower bound of its interval of 90 %.",
    one => one.details_freshness?.estimate?.fresh?.low,
  ],
  details_fresh_estimate_high: [
    "The upper bound of its interval of 90 %.",
    one => one.details_freshness?.estimate?.fresh?.high,
  ],
  details_longest_unseen_timestamp_seconds: [
    "When the detail was fetched that has not been looked at for longest.",
    one => timeOf(one.details_freshness?.longest_unseen_at ?? null),
  ],
};

/** Counters of each stream, and the column of its run that is added. */
const counters = [
  ["requests", "requests", "Requests sent to the service, retries included."],
  ["retries", "retries", "Requests that had to be sent again."],
  ["rows_read", "rows_read", "Rows that the service sent."],
  ["rows_inserted", "inserted", "Rows that were new."],
  ["rows_updated", "updated", "Rows that had changed."],
  ["rows_deleted", "deleted", "Rows that the service no longer lists."],
  ["rows_rejected", "rejected", "Rows that could not be stored."],
  ["problems", "problems", "Values that did not fit their column."],
] as const satisfies readonly (readonly [string, keyof StreamRun, string])[];

/**
 * `/metrics` in Prometheus' text format. What is known of streams is read from the warehouse at each scrape, so that a restart
 * forgets nothing; counters begin at zero with the process, as Prometheus expects. Not open: it names companies and streams and
 * tells their volumes, which is what the page's token or login is for.
 */
export function createMetrics(sources: MetricsSources): Metrics {
  const { version, clock, daemon, cachedStatus, lateAfterMs } = sources;
  const registry = new Registry();
  const settings = settingsIn(registry);
  const showProcess = gaugesIn(registry, processGauges);
  const showDaemon = gaugesIn(registry, gauges);
  const showFleet = gaugesIn(registry, fleetGauges);
  const shownOfStreams = Object.entries(streamGauges).map(([name, [help, value, momentary]]) => {
    const gauge = new Gauge(settings(`stream_${name}`, help, STREAM));
    return (at: Scrape) => {
      if (at.streams !== undefined || momentary) gauge.reset();
      show(gauge, at.streams?.map(one => [labelsOf(one), value(one, at)] as const) ?? []);
    };
  });
  const took = new Gauge(
    settings("stream_last_run_duration_seconds", "How long the stream took when the daemon last worked on it.", STREAM),
  );
  const runs = new Counter(
    settings("runs_total", "Runs of the daemon that ended, by schedule, why they began, status and exit code.", [
      "schedule",
      "cause",
      "status",
      "exit_code",
    ]),
  );
  const limited = new Counter(
    settings("requests_limited_total", "Answers of the service with status 429, the run that is going on included."),
  );
  const summed = counters.map(([name, column, help]) => ({
    column,
    counter: new Counter(settings(`stream_${name}_total`, help, STREAM)),
  }));
  let lastRun: EndedRun | undefined;

  /** By the view of a run: the part of its 429s that is counted already. */
  const countedLimited = new WeakMap<object, number>();
  function countLimited({ view }: LiveRun): void {
    if (view === undefined) return;
    const all = view.snapshot().limited429;
    limited.inc(Math.max(0, all - (countedLimited.get(view) ?? 0)));
    countedLimited.set(view, all);
  }

  // A run that could not begin is known to the daemon alone, a run of another process to the warehouse alone.
  function takeStored({ finished_at, ...run }: RunStatus): void {
    if (finished_at === null) return;
    const end = seconds(finished_at);
    if (lastRun === undefined || end > seconds(lastRun.finished_at)) lastRun = { ...run, finished_at };
  }

  async function scrape(): Promise<string> {
    const { status } = await cachedStatus();
    const readable = status?.warehouse.loaded && status.warehouse.note === null ? status : undefined;
    const streams = readable?.streams.filter(stream => stream.on);
    // Prometheus sees a counter's first increase only if the counter existed before.
    for (const stream of streams ?? []) for (const { counter } of summed) counter.inc(labelsOf(stream), 0);
    if (readable?.last_run) takeStored(readable.last_run);
    const live = daemon.live();
    if (live !== undefined) countLimited(live);
    const { startedAt } = daemon;
    const [now, nextRuns] = [clock.now(), daemon.nextRuns()];
    const found: Scrape = { version, startedAt, now, lateAfterMs: lateAfterMs(), streams, live, nextRuns, lastRun };
    showProcess(found);
    showDaemon(found);
    showFleet(fleetIn(status));
    for (const measure of shownOfStreams) measure(found);
    return registry.metrics();
  }

  return {
    observe(event) {
      if (event.kind !== "finished") return;
      const { run, outcome, finishedAt: finished_at } = event;
      const { schedule, cause, startedAt: started_at } = run;
      const { exit_code } = outcome;
      const report = "run_id" in outcome ? outcome : undefined;
      runs.inc({ schedule, cause, status: report?.status ?? "refused", exit_code: String(exit_code) });
      countLimited(run);
      lastRun = { started_at, finished_at, exit_code };
      for (const { finished_at: end, ...stream } of report?.streams ?? []) {
        for (const { counter, column } of summed) counter.inc(labelsOf(stream), stream[column]);
        if (end !== null) took.set(labelsOf(stream), lengthOf({ ...stream, finished_at: end }));
      }
    },
    route: routeOf(registry, scrape),
  };
}

/** `/metrics` of a worker: figures of all workers. Figures of streams are in the metrics of `tributary schedule` alone. */
export function workerMetrics({
  version,
  startedAt,
  cachedStatus,
}: Pick<Scrape, "version" | "startedAt"> & Pick<MetricsSources, "cachedStatus">): Route {
  const registry = new Registry();
  const showProcess = gaugesIn(registry, processGauges);
  const showFleet = gaugesIn(registry, fleetGauges);
  return routeOf(registry, async () => {
    showProcess({ version, startedAt });
    showFleet(fleetIn((await cachedStatus()).status));
    return registry.metrics();
  });
}

const fleetIn = (status: Status | undefined): FleetStatus | undefined =>
  status?.workers?.note === null ? status.workers : undefined;

const routeOf = (registry: Registry, scrape: () => Promise<string>): Route => ({
  method: "GET",
  path: "/metrics",
  open: false,
  answer: async () =>
    new Response(await scrape(), { headers: { "content-type": registry.contentType, "cache-control": "no-store" } }),
});

const settingsIn =
  (registry: Registry) =>
  (name: string, help: string, labelNames: readonly string[] = []) => ({
    ...{ name: `tributary_${name}`, help, labelNames, registers: [registry] },
  });

/** Registers gauges, and answers how they are set; undefined: all are absent. */
function gaugesIn<At>(registry: Registry, known: Gauges<At>): (at: At | undefined) => void {
  const settings = settingsIn(registry);
  const made = Object.entries(known).map(([name, [help, value, ...labels]]) => {
    const gauge = new Gauge(settings(name, help, labels));
    return (at: At | undefined) => {
      const found = at === undefined ? undefined : value(at);
      if (labels.length === 0) gauge.remove();
      else gauge.reset();
      show(gauge, typeof found === "object" && found !== null ? found : [[{}, found]]);
    };
  });
  return at => {
    for (const measure of made) measure(at);
  };
}

function show(gauge: Gauge, samples: Samples): void {
  for (const [labels, value] of samples) if (value != null) gauge.set(labels, value);
}
