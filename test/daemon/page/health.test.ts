import { expect, onTestFinished, test } from "vitest";
import type { CachedStatus } from "../../../src/daemon/cached_status.ts";
import { healthRoutes, type WorkerHealth, workerRoutes } from "../../../src/daemon/page/health.ts";
import type { Daemon, DaemonEvent, LiveRun } from "../../../src/daemon/schedule/events.ts";
import type { Status } from "../../../src/operations/status.ts";
import { handClock } from "../notify/clock.ts";
import { ended, HOUR, warehouseStatus } from "../notify/daemon.ts";

const clock = handClock("2026-03-15T12:00:00.000Z");
const _deaf: Pick<Daemon, "listen" | "live"> = { listen: () => () => undefined, live: () => undefined };
const fresh = warehouseStatus({ lists: "2026-03-15T02:00:00.000Z", feed: "2026-03-15T02:00:00.000Z" });
const ready = { status: 200, text: "ready\n" };
const failed = { status: 503, text: "The last run failed.\n" };
const empty = { status: 503, text: "Nothing has been loaded yet.\n" };

async function ask(
  path: "/healthz" | "/readyz",
  cachedStatus: CachedStatus | (() => Promise<CachedStatus>),
  ...ends: readonly DaemonEvent[]
): Promise<{ status: number; text: string }> {
  const look = typeof cachedStatus === "function" ? cachedStatus : () => Promise.resolve(cachedStatus);
  const told: ((event: DaemonEvent) => void)[] = [];
  const daemon: Pick<Daemon, "listen" | "live"> = {
    live: () => running,
    listen(listener) {
      told.push(listener);
      return () => undefined;
    },
  };
  const routes = healthRoutes({ clock, daemon, cachedStatus: look, lateAfterMs: () => 26 * HOUR });
  for (const end of ends) for (const tell of told) tell(end);
  expect(routes.every(route => route.open && route.method === "GET")).toBe(true);
  const route = routes.find(candidate => candidate.path === path);
  const answer = await route!.answer(new Request(`http://localhost${path}`), {});
  return { status: answer.status, text: await answer.text() };
}

let running: LiveRun | undefined;

const lastRun = (exitCode: number | null): Status["last_run"] => ({
  ...{ run_id: "r", command: "c", status: "any", exit_code: exitCode, warnings: [], error: null, snapshot: null },
  ...{ started_at: "2026-03-15T02:00:00.000Z", finished_at: "2026-03-15T02:10:00.000Z" },
});

test("/healthz reads nothing", async () => {
  const nobody = () => Promise.reject(new Error("asked"));
  expect(await ask("/healthz", nobody)).toEqual({ status: 200, text: "ok\n" });
});

test("/healthz says so when a run goes on long after its max_time, and only then", async () => {
  const nobody = () => Promise.reject(new Error("asked"));
  running = { schedule: "nightly", cause: "schedule", startedAt: "2026-03-15T02:00:00.000Z", view: undefined };
  onTestFinished(() => {
    running = undefined;
  });
  expect(await ask("/healthz", nobody)).toEqual({ status: 200, text: "ok\n" });
  running = { ...running, overdueSince: "2026-03-15T06:10:00.000Z" };
  const text = "A run goes on long after its max_time: restart this process, nothing is lost.\n";
  expect(await ask("/healthz", nobody)).toEqual({ status: 503, text });
});

test("ready: the data is fresh and nothing failed", async () => {
  expect(await ask("/readyz", { status: fresh })).toEqual(ready);
  expect(await ask("/readyz", { status: { ...fresh, last_run: lastRun(0) } })).toEqual(ready);
});

test.each([1, 2, 3, 6, 70])("after a run that ended with %i it is not", async code => {
  expect(await ask("/readyz", { status: fresh }, ended(clock, code))).toEqual(failed);
  expect(await ask("/readyz", { status: { ...fresh, last_run: lastRun(code) } })).toEqual(failed);
});

test.each([4, 5, 130, 143])("a run that was held or stopped (%i) is no failure", async code => {
  expect(await ask("/readyz", { status: fresh }, ended(clock, code))).toEqual(ready);
  expect(await ask("/readyz", { status: { ...fresh, last_run: lastRun(code) } })).toEqual(ready);
});

test.each([4, 5, 130, 143])("a run that was held or stopped (%i) mends no failure before it", async code => {
  expect(await ask("/readyz", { status: fresh }, ended(clock, 1), ended(clock, code))).toEqual(failed);
  expect(await ask("/readyz", { status: { ...fresh, last_run: lastRun(1) } }, ended(clock, code))).toEqual(failed);
  expect(await ask("/readyz", { status: fresh }, ended(clock, 1), ended(clock, 0), ended(clock, code))).toEqual(ready);
});

test("what the daemon did itself counts more than what stands in the warehouse; a killed run failed", async () => {
  expect(await ask("/readyz", { status: { ...fresh, last_run: lastRun(1) } }, ended(clock, 0))).toEqual(ready);
  expect(await ask("/readyz", { status: { ...fresh, last_run: lastRun(null) } })).toEqual(failed);
});

test("late data makes it unready without naming a company; a stream that is off does not count", async () => {
  const old = warehouseStatus({ lists: "2026-03-15T02:00:00.000Z", feed: "2026-03-14T09:59:59.000Z" });
  expect(await ask("/readyz", { status: old })).toEqual({
    status: 503,
    text: "Some data is later than it should be.\n",
  });
  const off = old.streams.map(stream => (stream.stream === "feed" ? { ...stream, on: false } : stream));
  expect(await ask("/readyz", { status: { ...old, streams: off } })).toEqual(ready);
});

test("an unreadable warehouse is told without its address; one that a run holds is judged when the run has ended", async () => {
  const trouble = "connect to postgres://ops@db.internal failed";
  expect(await ask("/readyz", { status: undefined, trouble })).toEqual({
    status: 503,
    text: "The warehouse cannot be read.\n",
  });
  const held = { ...fresh, streams: [], warehouse: { ...fresh.warehouse, note: "held by process 7" } };
  expect(await ask("/readyz", { status: held })).toEqual(ready);
  expect(await ask("/readyz", { status: held }, ended(clock, 1))).toEqual(failed);
});

test("nothing is ready before the first load", async () => {
  const unloaded = { ...fresh, warehouse: { ...fresh.warehouse, loaded: false } };
  expect(await ask("/readyz", { status: unloaded })).toEqual(empty);
  expect(await ask("/readyz", { status: warehouseStatus({ lists: null }) })).toEqual(empty);
});

test("a worker is ready while it takes jobs, and alive while the queue has heard of it; the reason names nothing", async () => {
  const asked = async (facts: Partial<WorkerHealth>) => {
    const routes = workerRoutes(() => ({ isConnected: true, isDraining: false, refusal: undefined, ...facts }));
    expect(routes.map(({ path, open }) => [path, open])).toEqual([
      ["/healthz", true],
      ["/readyz", true],
    ]);
    const answers = await Promise.all(routes.map(route => route.answer(new Request("http://localhost/"), {})));
    return Promise.all(answers.map(async answer => [answer.status, await answer.text()]));
  };
  const alive = [200, "ok\n"];
  expect(await asked({})).toEqual([alive, [200, "ready\n"]]);
  expect(await asked({ isDraining: true })).toEqual([
    alive,
    [503, "This worker leaves once it is done with what it has.\n"],
  ]);
  expect(await asked({ refusal: "Stream secret_orders was changed.", isDraining: true })).toEqual([
    alive,
    [503, "This worker takes no jobs: its log and `tributary status` say why.\n"],
  ]);
  const lost = [503, "The queue of jobs has not heard of this worker for too long.\n"];
  expect(await asked({ isConnected: false, refusal: "Stream secret_orders was changed." })).toEqual([lost, lost]);
});
