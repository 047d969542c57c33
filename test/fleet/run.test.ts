import { afterAll, beforeAll, expect, test } from "vitest";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { ByteBudget } from "../../src/byte_budget.ts";
import { systemClock } from "../../src/clock.ts";
import { createLimiter } from "../../src/source/limit.ts";
import { bench, configOf } from "../support/run.ts";
import { type Warehouse, warehouses } from "../support/warehouse.ts";
import { differing, onWorkers, sameByWorkers, startWorkers, type TestWorker, until } from "./workers.ts";

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({
    sizes: { orders: 1_200, invoices: 300, items: 400, findings: 50, ingested: 300 },
  });
});
afterAll(() => simulator.close());

/** One of them in a file has one writer. */
const { make } = warehouses.find(({ name }) => name !== "duckdb")!;

const two = async (): Promise<readonly [Warehouse, Warehouse]> => [await make(), await make()];

/** `api.max_concurrency`, of all workers together. */
const IN_FLIGHT = 8;

test("three workers load what one process loads, details in shards of their own, and a run of theirs is one row", async () => {
  await sameByWorkers(simulator, ...(await two()));
});

test("a worker that is told to leave gives its jobs to the others, and the run goes on to the same end", async () => {
  const [alone, shared] = await two();
  const core = { names: ["preset:core"] };
  await bench({ simulator, warehouse: alone }).sync(core);
  const config = { workers: { jobs: 2 } };
  const loaded = await configOf(simulator, shared, config);
  const workers = await startWorkers(loaded, 2);
  simulator.faults.latencyMs = 20;
  const running = bench({ simulator, warehouse: shared, config, run: onWorkers }).sync(core);
  await until(() =>
    workers.some(({ worker }) => worker.doing.jobs.some(({ kind }) => kind === "runs") && worker.doing.jobs.length > 1),
  );
  const conductor = workers.find(({ worker }) => worker.doing.jobs.some(({ kind }) => kind === "runs"))!;
  await conductor.leave();
  const report = await running;
  simulator.faults.latencyMs = 0;
  expect(report).toMatchObject({ errors: [], exit_code: 0 });
  expect(await differing(alone, shared, report)).toEqual([]);
  expect(await shared.query("select run_id, status from _tributary.runs")).toEqual([
    { run_id: report.run_id, status: report.status },
  ]);
});

test("a run is stopped for all workers, ends as stopped, and the next one goes on", async () => {
  const shared = await make();
  const config = { workers: { jobs: 2 } };
  const loaded = await configOf(simulator, shared, config);
  const [first] = await startWorkers(loaded, 2);
  simulator.faults.latencyMs = 50;
  const many = bench({ simulator, warehouse: shared, config, run: onWorkers });
  const running = many.sync({ names: ["purchase_orders", "purchase_order_details"] });
  await until(() => first!.worker.doing.jobs.some(({ part }) => part?.includes(" of ")));
  const [runId] = [...(await first!.fleet.openRuns())];
  await first!.fleet.stop(runId!);
  const report = await running;
  expect(report).toMatchObject({ status: "stopped", exit_code: 5 });
  simulator.faults.latencyMs = 0;
  const next = await many.sync({ names: ["purchase_orders", "purchase_order_details"] });
  expect(next).toMatchObject({ errors: [], exit_code: 0 });
  const asked = (line: typeof report) =>
    line.streams.find(({ stream }) => stream === "purchase_order_details")!.requests;
  expect(asked(report)).toBeGreaterThan(0);
  // What was in flight at the stop is asked for again. The workers stop one after the other, and the later one may have
  // got the places of the first.
  expect(asked(report) + asked(next)).toBeGreaterThanOrEqual(1_200);
  expect(asked(report) + asked(next)).toBeLessThanOrEqual(1_200 + 2 * IN_FLIGHT);
});

test("a bug in a part ends the run, which says so; it is not tried again for ever", async () => {
  const shared = await make();
  const config = { workers: { jobs: 2 } };
  const loaded = await configOf(simulator, shared, config);
  const workers = await startWorkers(loaded, 1, {
    clients: () => ({
      memory: new ByteBudget(1_000_000_000),
      limiterOf() {
        if (workers[0]!.worker.doing.jobs.some(({ kind }) => kind === "parts")) throw new TypeError("no such thing");
        return createLimiter({ maxConcurrency: 1, clock: systemClock });
      },
    }),
  });
  const { sync } = bench({ simulator, warehouse: shared, config, run: onWorkers });
  const report = await sync({ names: ["purchase_orders"] });
  expect(report).toMatchObject({ status: "failed", exit_code: 70 });
  expect(report.errors[0]).toMatchObject({ code: "general.bug", fields: { what: "TypeError: no such thing" } });
});

test("a worker whose clock is set back goes on saying that it is there", async () => {
  const shared = await make();
  const loaded = await configOf(simulator, shared, { workers: { jobs: 1 } });
  let behindMs = 0;
  const clock = { ...systemClock, now: () => Date.now() - behindMs };
  const [{ fleet }] = (await startWorkers(loaded, 1, { clock })) as [TestWorker];
  await until(async () => (await fleet.workers()).length === 1);
  behindMs = 3 * 3_600_000;
  const since = Date.now();
  // Longer than between two heartbeats, so that the last one before is older.
  await until(async () => {
    const [row] = await fleet.workers();
    return Date.now() - since > 3_000 && row !== undefined && row.ageMs < 1_000;
  });
});
