import { expect, onTestFinished, test } from "vitest";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { systemClock } from "../../src/clock.ts";
import type { Fleet } from "../../src/fleet/opening.ts";
import { interposed } from "../support/interposed.ts";
import { bench, configOf, lineOf } from "../support/run.ts";
import { type Warehouse, warehouses } from "../support/warehouse.ts";
import { differing, onWorkers, startWorkers, type TestWorker, until } from "./workers.ts";

const { make } = warehouses.find(({ name }) => name !== "duckdb")!;

const clock = { ...systemClock, date: () => new Date(), advance: () => undefined };
const config = { workers: {} };
/** Two years of feeds: as many windows, of a few pages each. */
const names = ["ingested", "findings", "purchase_orders", "purchase_order_details"];
const from = new Date(Date.now() - 500 * 86_400_000).toISOString().slice(0, 10);
const order = { names, range: { from, to: undefined } };

/** Two backfills that are compared have to be of one day: what is left of a day that ends soon is waited for. */
async function withinOneDay(): Promise<void> {
  const leftMs = 86_400_000 - (Date.now() % 86_400_000);
  if (leftMs < 300_000) await systemClock.sleep(leftMs);
}

interface Place {
  readonly simulator: Simulator;
  readonly between: Simulator;
  readonly warehouse: Warehouse;
  readonly workers: readonly TestWorker[];
  readonly runs: ReturnType<typeof bench>;
}

/** A service that the test can look into, and workers that share its backfill. */
async function place(
  look: Parameters<typeof interposed>[1] = () => undefined,
  count = 3,
  sizes: object = { orders: 400, findings: 200, ingested: 3_000 },
): Promise<Place> {
  const none = { orders: 0, invoices: 0, items: 0, findings: 0, ingested: 0 };
  const simulator = await startSimulator({ sizes: { ...none, ...sizes } });
  onTestFinished(() => simulator.close());
  const between = await interposed(simulator, look);
  const warehouse = await make();
  const workers = await startWorkers(await configOf(between, warehouse, config), count);
  const runs = bench({ simulator: between, warehouse, clock, config, run: onWorkers });
  return { simulator, between, warehouse, workers, runs };
}

const planOf = async ({ warehouse }: Place, stream: string) => {
  const [row] = await warehouse.query<{ state: { backfill: { done: boolean; windows: { done: boolean }[] } } }>(
    `select state from _tributary.stream_state where stream = '${stream}'`,
  );
  return row!.state;
};

test("a backfill by workers loads what one process loads, with the same requests", async () => {
  await withinOneDay();
  const shared = await place();
  const alone = await make();
  const one = await bench({ simulator: shared.between, warehouse: alone, clock }).backfill(order);
  const report = await shared.runs.backfill({ ...order, workers: true });
  expect(report).toMatchObject({ errors: [], exit_code: 0, status: one.status });
  expect(await differing(alone, shared.warehouse, one)).toEqual([]);
  for (const name of names) {
    const { requests, rows_read, inserted } = lineOf(one, name);
    expect(lineOf(report, name)).toMatchObject({ requests, rows_read, inserted });
  }
  expect(await planOf(shared, "ingested")).toMatchObject({ lastFullAt: null, backfill: { done: true } });
  expect((await planOf(shared, "ingested")).backfill.windows.every(({ done }) => done)).toBe(true);
  await expect(shared.runs.backfill({ resume: true, workers: true })).rejects.toThrow("no backfill is unfinished");
  // The next sync reads the feed whole: what is in no window comes then.
  const night = await shared.runs.sync({ names });
  expect(night).toMatchObject({ errors: [], exit_code: 0 });
  const both = await bench({ simulator: shared.between, warehouse: alone, clock }).sync({ names });
  expect(await differing(alone, shared.warehouse, both)).toEqual([]);
});

test("a worker that leaves gives its backfill to another, which goes on where it is", async () => {
  const shared = await place(async ({ path }) => {
    if (path === "/ingested") await systemClock.sleep(150);
    return undefined;
  });
  const { workers, simulator } = shared;
  const running = shared.runs.backfill({ names: ["ingested"], range: order.range, workers: true });
  const busy = ({ worker }: TestWorker) => worker.doing.jobs.some(({ kind }) => kind === "companies");
  await until(() => workers.some(busy) && simulator.requests.total > 20);
  await workers.find(busy)!.leave();
  expect(await running).toMatchObject({ errors: [], exit_code: 0 });
  const asked = simulator.requests.entries.filter(({ path }) => path === "/ingested").map(({ query }) => query);
  const again = asked.length - new Set(asked.map(query => JSON.stringify(query))).size;
  // A page ahead of each window that the worker read, and what was being answered.
  expect(again).toBeLessThanOrEqual(16);
  expect(await planOf(shared, "ingested")).toMatchObject({ backfill: { done: true } });
});

test.each(["the workers", "one process"])(
  "a sync of the same company by %s goes first; then the workers go on with the backfill, in the same run",
  async by => {
    const ended: string[] = [];
    let waiting: Promise<unknown> | undefined;
    let seen = 0;
    const shared = await place(async ({ path, query }) => {
      // The sync lasts longer than a job waits for a lock.
      if (path === "/ingested" && !query.has("date_from")) await systemClock.sleep(200);
      if (path !== "/ingested" || !query.has("date_from")) return undefined;
      const { between, warehouse, runs } = shared;
      if (++seen === 20)
        waiting = (by === "the workers" ? runs : bench({ simulator: between, warehouse, clock }))
          .sync({ names: ["ingested"], waitMs: 3_600_000 })
          .then(() => void ended.push("sync"));
      // These windows get no other answer before the sync has ended: only by giving way can the backfill end.
      if (seen >= 20 && seen < 24) await waiting;
      return undefined;
    });
    const report = await shared.runs.backfill({ names: ["ingested"], range: order.range, workers: true });
    ended.push("backfill");
    await waiting;
    expect(ended).toEqual(["sync", "backfill"]);
    expect(report).toMatchObject({ exit_code: 0, errors: [] });
    const runs = await shared.warehouse.query<{ command: string; status: string }>(
      "select command, status from _tributary.runs order by started_at",
    );
    expect(runs.map(({ command, status }) => `${command} ${status}`)).toEqual(["backfill succeeded", "sync succeeded"]);
    expect(await planOf(shared, "ingested")).toMatchObject({ backfill: { done: true } });
  },
);

/** A worker's queue that has no company for it, and in which it sees no stop before a company is done. */
function deaf(queue: Fleet["queue"]): Fleet["queue"] {
  let hears = false;
  const own: Partial<Fleet["queue"]> = {
    take: async kind => (kind === "companies" ? undefined : queue.take(kind)),
    open: async kind => (kind === "stops" && !hears ? [] : queue.open(kind)),
    async ended(kind, ids) {
      const found = await queue.ended(kind, ids);
      hears ||= found.length > 0;
      return found;
    },
  };
  return new Proxy(queue, {
    get(target, name) {
      const value: unknown = Reflect.get(own, name) ?? Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

test("a stop that only the worker of the company has heard of ends the run as stopped", async () => {
  const held = Promise.withResolvers<void>();
  let seen = 0;
  const shared = await place(async ({ path }) => {
    if (path === "/ingested" && ++seen > 20) await held.promise;
    return undefined;
  }, 0);
  const loaded = await configOf(shared.between, shared.warehouse, config);
  const [conductor] = await startWorkers(loaded, 1, { name: "conductor", through: deaf });
  const running = shared.runs.backfill({ names: ["ingested"], range: order.range, workers: true });
  await until(() => conductor!.worker.doing.jobs.length > 0);
  await startWorkers(loaded, 1);
  await until(() => seen > 20);
  const [runId] = [...(await conductor!.fleet.openRuns())];
  await conductor!.fleet.stop(runId!);
  expect(await running).toMatchObject({ status: "stopped", exit_code: 5 });
  held.resolve();
});

test("stopped for all workers it keeps what was read, and one process goes on with it", async () => {
  await withinOneDay();
  const held = Promise.withResolvers<void>();
  let seen = 0;
  const shared = await place(async ({ path }) => {
    // The rest waits: the stop is heard within seconds, and meanwhile the backfill must not end.
    if (path === "/ingested" && ++seen > 20) await held.promise;
    return undefined;
  });
  const { workers } = shared;
  const range = { names: ["ingested"], range: order.range };
  const running = shared.runs.backfill({ ...range, workers: true });
  await until(() => seen > 20);
  const [runId] = [...(await workers[0]!.fleet.openRuns())];
  await workers[0]!.fleet.stop(runId!);
  expect(await running).toMatchObject({ status: "stopped", exit_code: 5 });
  held.resolve();
  const { backfill } = await planOf(shared, "ingested");
  expect(backfill.done).toBe(false);
  expect(await shared.runs.backfill({ resume: true })).toMatchObject({ errors: [], exit_code: 0 });
  expect(await planOf(shared, "ingested")).toMatchObject({ backfill: { done: true } });
  const alone = await make();
  const one = await bench({ simulator: shared.between, warehouse: alone, clock }).backfill(range);
  expect(await differing(alone, shared.warehouse, one)).toEqual([]);
});
