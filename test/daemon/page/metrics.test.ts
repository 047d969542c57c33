import { expect, test } from "vitest";
import { stringify } from "yaml";
import type { Config } from "../../../src/config/config.ts";
import { createStatusCache } from "../../../src/daemon/cached_status.ts";
import { createMetrics, type Metrics, workerMetrics } from "../../../src/daemon/page/metrics.ts";
import type { Daemon, FinishedRun, LiveRun } from "../../../src/daemon/schedule/events.ts";
import { type RunStatus, readStatus, type Status, type StreamStatus } from "../../../src/operations/status.ts";
import type { RunReport } from "../../../src/sync/run/run.ts";
import { openDestination } from "../../../src/warehouse/connect/open.ts";
import { streams } from "../../../streams/index.ts";
import { load } from "../../config/sample.ts";
import { sentence } from "../../support/log.ts";
import { lineOf } from "../../support/run.ts";
import { duckdbWarehouse, passing } from "../../support/warehouse.ts";
import { type Scenario, scenario } from "../../sync/scenario.ts";
import { type HandClock, handClock } from "../notify/clock.ts";
import { type Exposition, exposition, lint } from "./exposition.ts";
import { fleet, queuedRun, stream, warehouseStatus, worker } from "./warehouse_status.ts";

const LISTS = ["purchase_orders", "invoices"];
const orders = '{company="acme",stream="purchase_orders"}';
const invoices = '{company="acme",stream="invoices"}';

const deaf: Pick<Daemon, "listen"> = { listen: () => () => undefined };

interface Observed {
  readonly place: Scenario;
  readonly config: Config;
  readonly clock: HandClock;
  readonly metrics: Metrics;
  /** What the daemon says of itself; the test may change it. */
  readonly daemon: { live: LiveRun | undefined; next: ReturnType<Daemon["nextRuns"]> };
  scrape(): Promise<Exposition>;
  /** The same sources in a daemon that has just begun. */
  restarted(): Metrics;
}

/** A DuckDB file for readers of everything (`direct`: locked while a run writes), and the metrics over it. */
async function observed(): Promise<Observed> {
  const place = await scenario(() => passing(duckdbWarehouse("direct")), { orders: 30, invoices: 20 });
  const { destination } = place.warehouse;
  const api = { base_url: place.simulator.url, key: place.simulator.key };
  const { config } = await load(stringify({ company: "acme", api, destination }));
  const clock = handClock("2026-03-15T13:00:00.000Z");
  const daemon: Observed["daemon"] = { live: undefined, next: [] };
  const made = () =>
    createMetrics({
      version: "1.2.3",
      clock,
      daemon: { startedAt: "2026-03-15T11:00:00.000Z", live: () => daemon.live, nextRuns: () => daemon.next },
      cachedStatus: createStatusCache({
        read: () => readStatus(config, streams, undefined),
        clock,
        daemon: deaf,
        keptMs: () => 2_000,
      }).look,
      lateAfterMs: () => 2 * 3_600_000,
    });
  const metrics = made();
  const scrape = () => scraped(metrics);
  return { place, config, clock, metrics, daemon, scrape, restarted: made };
}

/** Metrics over what a warehouse would tell; the test may change it. */
function over(streams: readonly StreamStatus[]) {
  const clock = handClock("2026-03-15T13:00:00.000Z");
  const status: { -readonly [name in keyof Status]: Status[name] } = warehouseStatus(streams);
  const metrics = createMetrics({
    ...{ version: "1", clock, cachedStatus: async () => ({ status }), lateAfterMs: () => 2 * 3_600_000 },
    daemon: { startedAt: "2026-03-15T11:00:00.000Z", live: () => undefined, nextRuns: () => [] },
  });
  return { clock, status, metrics, scrape: () => scraped(metrics) };
}

async function scraped({ route }: Metrics): Promise<Exposition> {
  const answer = await route.answer(new Request("http://localhost/metrics"), {});
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  return exposition(await answer.text());
}

function finished(report: RunReport, more: Partial<LiveRun> = {}): FinishedRun {
  const run = {
    schedule: "nightly",
    cause: "schedule",
    startedAt: report.started_at,
    view: undefined,
    ...more,
  } as const;
  return { kind: "finished", run, finishedAt: report.finished_at, outcome: report, retryAt: undefined };
}

test("before the first run a scrape succeeds, says that nothing can be read, and is well-formed", async () => {
  const { scrape } = await observed();
  const text = await scrape();
  expect(lint(text)).toEqual([]);
  expect(text.metrics.size).toBeGreaterThan(20);
  expect(text.value("tributary_build_info", '{version="1.2.3"}')).toBe(1);
  expect(text.value("tributary_start_time_seconds")).toBe(Date.parse("2026-03-15T11:00:00Z") / 1000);
  expect(text.value("tributary_warehouse_up")).toBe(0);
  expect(text.value("tributary_run_in_progress")).toBe(0);
  for (const absent of ["last_run_exit_code", "last_run_timestamp_seconds", "run_start_timestamp_seconds"])
    expect(text.value(`tributary_${absent}`)).toBeUndefined();
  expect(text.metrics.get("tributary_stream_lag_seconds")?.samples.size).toBe(0);
});

test("after runs every stream's success, age, rows and work are there", async () => {
  const { place, clock, metrics, scrape } = await observed();
  const first = await place.sync({ names: LISTS });
  metrics.observe(finished(first));
  place.simulator.delete("purchase_orders", 2);
  place.simulator.update("purchase_orders", 4);
  place.clock.advance(60_000);
  const second = await place.sync({ names: LISTS });
  metrics.observe(finished(second, { cause: "retry" }));
  expect([first.exit_code, second.exit_code]).toEqual([0, 0]);
  const text = await scrape();
  expect(lint(text)).toEqual([]);
  const [row] = await place.warehouse.query<{ complete_to: Date; last_success_at: Date }>(
    "select complete_to, last_success_at from _tributary.streams where stream = 'purchase_orders'",
  );
  expect(text.value("tributary_warehouse_up")).toBe(1);
  expect(text.value("tributary_stream_complete_to_timestamp_seconds", orders)).toBe(row!.complete_to.getTime() / 1000);
  expect(text.value("tributary_stream_last_success_timestamp_seconds", orders)).toBe(
    row!.last_success_at.getTime() / 1000,
  );
  const lag = (clock.now() - row!.complete_to.getTime()) / 1000;
  expect(lag).toBeGreaterThan(3000);
  expect(text.value("tributary_stream_lag_seconds", orders)).toBe(lag);
  expect(text.value("tributary_stream_late", orders)).toBe(0);
  expect(text.value("tributary_stream_failed", orders)).toBe(0);
  expect(text.value("tributary_stream_live_rows", orders)).toBe(28);
  const lines = [first, second].map(report => lineOf(report, "purchase_orders"));
  const sum = (column: "requests" | "rows_read") => lines.reduce((all, line) => all + line[column], 0);
  expect(text.value("tributary_stream_requests_total", orders)).toBe(sum("requests"));
  expect(text.value("tributary_stream_rows_read_total", orders)).toBe(sum("rows_read"));
  expect(sum("rows_read")).toBe(58);
  expect(text.value("tributary_stream_rows_inserted_total", orders)).toBe(30);
  expect(text.value("tributary_stream_rows_updated_total", orders)).toBe(4);
  expect(text.value("tributary_stream_rows_deleted_total", orders)).toBe(2);
  expect(text.value("tributary_stream_rows_rejected_total", orders)).toBe(0);
  expect(text.value("tributary_stream_rows_inserted_total", invoices)).toBe(20);
  const run = (cause: string) => `{schedule="nightly",cause="${cause}",status="succeeded",exit_code="0"}`;
  expect(text.value("tributary_runs_total", run("schedule"))).toBe(1);
  expect(text.value("tributary_runs_total", run("retry"))).toBe(1);
  expect(text.value("tributary_last_run_exit_code")).toBe(0);
  expect(text.value("tributary_last_run_timestamp_seconds")).toBe(Date.parse(second.finished_at) / 1000);
  expect(text.value("tributary_last_run_duration_seconds")).toBe(
    Date.parse(second.finished_at) / 1000 - Date.parse(second.started_at) / 1000,
  );
  expect(text.metrics.get("tributary_stream_lag_seconds")?.samples.size).toBe(2);
});

test("a restart forgets neither the last success nor how the last run ended", async () => {
  const { place, metrics, scrape, restarted } = await observed();
  metrics.observe(finished(await place.sync({ names: LISTS })));
  place.simulator.renewKey("another");
  place.clock.advance(60_000);
  const refused = await place.sync({ names: LISTS });
  expect(refused.exit_code).toBe(3);
  metrics.observe(finished(refused));
  const [before, after] = [await scrape(), await scraped(restarted())];
  for (const name of ["last_run_exit_code", "last_run_timestamp_seconds", "last_run_duration_seconds"])
    expect(after.value(`tributary_${name}`)).toBe(before.value(`tributary_${name}`));
  expect(after.value("tributary_last_run_exit_code")).toBe(3);
  const success = "tributary_stream_last_success_timestamp_seconds";
  expect(after.value(success, orders)).toBeGreaterThan(0);
  expect(after.value(success, orders)).toBe(before.value(success, orders));
  expect(after.value("tributary_stream_rows_inserted_total", orders)).toBe(0);
  expect(after.metrics.get("tributary_runs_total")?.samples.size).toBe(0);
});

test("while a run has the file a scrape still answers: without ages, with what stays true", async () => {
  const { place, config, clock, scrape } = await observed();
  await place.sync({ names: LISTS });
  const before = await scrape();
  clock.advance(60_000);
  const holder = { pid: process.pid, host: "here", command: "tributary sync", startedAt: "2026-03-15T13:00:00Z" };
  const opener = { runId: "r", holder, clock };
  const destination = await openDestination(config.destination, opener, 0);
  const locked = await scrape().finally(() => destination.close());
  expect(locked.value("tributary_warehouse_up")).toBe(0);
  expect(locked.metrics.get("tributary_stream_lag_seconds")?.samples.size).toBe(0);
  expect(locked.metrics.get("tributary_stream_late")?.samples.size).toBe(0);
  const success = "tributary_stream_last_success_timestamp_seconds";
  expect(locked.value(success, orders)).toBe(before.value(success, orders));
  expect(locked.value(success, orders)).toBeDefined();
  clock.advance(60_000);
  expect((await scrape()).value("tributary_warehouse_up")).toBe(1);
});

test("what is going on, what comes next, and 429s counted while they happen", async () => {
  const { daemon, metrics, scrape } = await observed();
  let limited429 = 2;
  const view = {
    snapshot: () => ({ streams: [], limitedBy: "429", inFlight: 1, ceiling: 2, limited429 }),
  } as unknown as NonNullable<LiveRun["view"]>;
  daemon.live = { schedule: "nightly", cause: "schedule", startedAt: "2026-03-15T12:59:00.000Z", view };
  daemon.next = [
    { schedule: "nightly", at: "2026-03-15T14:00:00.000Z", cause: "retry" },
    { schedule: "hook", at: "2026-03-15T14:30:00.000Z", cause: "hint" },
    { schedule: "nightly", at: "2026-03-16T02:00:00.000Z", cause: "schedule" },
  ];
  const during = await scrape();
  expect(during.value("tributary_run_in_progress")).toBe(1);
  expect(during.value("tributary_run_start_timestamp_seconds")).toBe(Date.parse("2026-03-15T12:59:00Z") / 1000);
  const next = "tributary_next_run_timestamp_seconds";
  expect(during.value(next, '{schedule="nightly"}')).toBe(Date.parse("2026-03-15T14:00:00Z") / 1000);
  expect(during.value(next, '{schedule="hook"}')).toBe(Date.parse("2026-03-15T14:30:00Z") / 1000);
  expect(during.value("tributary_requests_limited_total")).toBe(2);
  limited429 = 5;
  const at = "2026-03-15T13:00:00.000Z";
  metrics.observe({
    ...{ kind: "finished", run: daemon.live, finishedAt: at, retryAt: undefined },
    outcome: { exit_code: 5, error: sentence("limited") },
  });
  daemon.live = undefined;
  daemon.next = [];
  const after = await scrape();
  expect(after.value("tributary_requests_limited_total")).toBe(5);
  expect(after.value("tributary_run_in_progress")).toBe(0);
  expect(after.value("tributary_run_start_timestamp_seconds")).toBeUndefined();
  expect(after.metrics.get(next)?.samples.size).toBe(0);
});

test("a stream's age is taken at the scrape, and becomes late without a run; what could not be told is absent", async () => {
  const { clock, scrape } = over([
    stream({ complete_to: "2026-03-15T11:30:00.000Z" }),
    stream({ stream: "invoices", status: "incomplete", difference: null }),
  ]);
  const [items, invoices] = ['{company="acme",stream="items"}', '{company="acme",stream="invoices"}'];
  const before = await scrape();
  const of = (text: Exposition, name: string, labels: string) => text.value(`tributary_stream_${name}`, labels);
  expect([of(before, "lag_seconds", items), of(before, "late", items), of(before, "failed", items)]).toEqual([
    ...[5_400, 0, 0],
  ]);
  expect([of(before, "service_difference", items), of(before, "service_difference", invoices)]).toEqual([0, undefined]);
  expect(of(before, "failed", invoices)).toBe(1);
  clock.advance(7_200_000);
  const after = await scrape();
  expect([of(after, "lag_seconds", items), of(after, "late", items)]).toEqual([12_600, 1]);
});

test("metrics have what is promised of details and what is estimated with its interval, for streams that have it", async () => {
  const wrong = { share: 0.01, low: 0.001, high: 0.04 };
  const estimate = { wrong, fresh: { share: 0.97, low: 0.9, high: 0.99 }, sampled: 100 };
  const promised = { within_days: 2, share: 0.9 };
  const details_freshness = { promised, estimate, longest_unseen_at: "2026-01-01T00:00:00Z" };
  const { scrape } = over([stream({ details_freshness }), stream({ stream: "invoices" })]);
  const text = await scrape();
  const names = ["wrong_estimate", "wrong_estimate_low", "wrong_estimate_high", "fresh_promised", "fresh_estimate"];
  const of = (name: string, name_of: string) =>
    text.value(`tributary_stream_details_${name}`, `{company="acme",stream="${name_of}"}`);
  const intervals = ["fresh_estimate_low", "fresh_estimate_high", "longest_unseen_timestamp_seconds"];
  expect([...names, ...intervals].map(name => of(name, "items"))).toEqual([
    ...[0.01, 0.001, 0.04, 0.9, 0.97, 0.9, 0.99, Date.UTC(2026, 0, 1) / 1_000],
  ]);
  expect(of("wrong_estimate", "invoices")).toBeUndefined();
});

/** A run of the daemon that could not begin. */
const refusedRun = (startedAt: string, finishedAt: string): FinishedRun => ({
  ...{ kind: "finished", finishedAt, retryAt: undefined, outcome: { exit_code: 6, error: sentence("no disk") } },
  run: { schedule: "nightly", cause: "missed", startedAt, view: undefined },
});

test("the last run is the last one by time, whether the daemon or another process ran it", async () => {
  const { status, clock, metrics, scrape } = over([]);
  const last = (started_at: string, finished_at: string): RunStatus => ({
    ...{ run_id: "r", command: "sync", status: "succeeded", exit_code: 0, started_at, finished_at },
    ...{ warnings: [], error: null, snapshot: null },
  });
  const told = async () => (await scrape()).value("tributary_last_run_exit_code");
  status.last_run = last("2026-03-15T11:00:00.000Z", "2026-03-15T11:01:00.000Z");
  expect(await told()).toBe(0);
  metrics.observe(refusedRun("2026-03-15T12:58:29.500Z", "2026-03-15T13:00:00.000Z"));
  const text = await scrape();
  expect(text.value("tributary_runs_total", '{schedule="nightly",cause="missed",status="refused",exit_code="6"}')).toBe(
    1,
  );
  expect(text.value("tributary_last_run_exit_code")).toBe(6);
  expect(text.value("tributary_last_run_duration_seconds")).toBeCloseTo(90.5, 6);
  clock.advance(7_200_000);
  status.last_run = last("2026-03-15T14:00:00.000Z", "2026-03-15T14:01:00.000Z");
  expect(await told()).toBe(0);
});

test("it is not open to everybody, and two in one process do not meet", async () => {
  const [first, second] = [over([]), over([])];
  expect(first.metrics.route).toMatchObject({ method: "GET", path: "/metrics", open: false });
  first.metrics.observe(refusedRun("2026-03-15T13:00:00.000Z", "2026-03-15T13:00:00.000Z"));
  expect((await second.scrape()).metrics.get("tributary_runs_total")?.samples.size).toBe(0);
});

test("workers and their queue have figures, the same from a daemon and a worker; without workers none", async () => {
  const job = { run_id: "r", company: "acme", since: "2026-03-15T11:58:00.000Z", streams: [] };
  const all = fleet(
    [
      worker({ id: "one", jobs: [job, job] }),
      worker({ id: "two", refusal: "It is older." }),
      worker({ id: "gone", up: false, seen_seconds_ago: 75, jobs: [job] }),
    ],
    {
      queue: {
        waiting_companies: 12,
        active_companies: 2,
        runs: [queuedRun(), queuedRun(), queuedRun({ state: "active" })],
      },
    },
  );
  let workers: typeof all | null = all;
  const cachedStatus = async () => ({ status: warehouseStatus([], { workers }) });
  const startedAt = "2026-03-15T11:00:00.000Z";
  const clock = handClock("2026-03-15T13:00:00.000Z");
  const daemon = { startedAt, live: () => undefined, nextRuns: () => [] };
  const metrics = createMetrics({ version: "1", clock, daemon, cachedStatus, lateAfterMs: () => 1 });
  const route = workerMetrics({ version: "1", startedAt, cachedStatus });
  const own = await scraped({ ...metrics, route });
  for (const text of [await scraped(metrics), own]) {
    expect(lint(text)).toEqual([]);
    const of = (name: string, labels?: string) => text.value(`tributary_${name}`, labels);
    expect(of("workers_up")).toBe(2);
    expect(["one", "two", "gone"].map(id => of("worker_jobs", `{worker="${id}"}`))).toEqual([2, 0, undefined]);
    expect(["one", "two", "gone"].map(id => of("worker_refuses", `{worker="${id}"}`))).toEqual([0, 1, undefined]);
    expect(["one", "gone"].map(id => of("worker_seen_seconds", `{worker="${id}"}`))).toEqual([1.2, 75]);
    const states = ['{state="waiting"}', '{state="active"}'];
    expect(states.map(state => of("queue_companies", state))).toEqual([12, 2]);
    expect(states.map(state => of("queue_runs", state))).toEqual([2, 1]);
    expect(of("start_time_seconds")).toBe(Date.parse(startedAt) / 1_000);
  }
  expect([...own.metrics.keys()].filter(name => name.startsWith("tributary_stream"))).toEqual([]);
  for (workers of [null, fleet([], { note: "It may not be read." })]) {
    const text = await scraped(metrics);
    expect(text.value("tributary_workers_up")).toBeUndefined();
    expect(text.metrics.get("tributary_worker_jobs")?.samples.size).toBe(0);
    expect(text.metrics.get("tributary_queue_runs")?.samples.size).toBe(0);
  }
});
