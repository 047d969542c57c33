import { afterAll, beforeAll, expect, test } from "vitest";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { systemClock } from "../../src/clock.ts";
import { relationsOf } from "../../streams/relations.ts";
import { bench, configOf } from "../support/run.ts";
import { type Warehouse, warehouses } from "../support/warehouse.ts";
import { differing, onWorkers, sameByWorkers, startWorkers, type TestWorker, until } from "./workers.ts";

const ORDERS = 500;
let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({
    sizes: { orders: ORDERS, invoices: 150, items: 200, findings: 20, ingested: 100 },
  });
});
afterAll(() => simulator.close());

/** One of them in a file has one writer. */
const { make } = warehouses.find(({ name }) => name !== "duckdb")!;

const two = async (): Promise<readonly [Warehouse, Warehouse]> => [await make(), await make()];

/** `api.max_concurrency` unless it is configured. */
const IN_FLIGHT = 8;

const works = ({ worker }: TestWorker, on: "runs" | "companies") =>
  worker.doing.jobs.some(({ kind, streams }) => kind === on && (on === "runs" || streams.length > 0));

test("three workers load what one process loads, and a run of theirs is one row", async () => {
  await sameByWorkers(simulator, ...(await two()));
});

test.each(["runs", "companies"] as const)(
  "a worker that leaves gives its %s to others, and the run ends as if it had stayed",
  async kind => {
    const [alone, shared] = await two();
    const core = { names: ["preset:core"] };
    simulator.requests.clear();
    await bench({ simulator, warehouse: alone }).sync(core);
    const needed = simulator.requests.total;
    const config = { workers: {} };
    const loaded = await configOf(simulator, shared, config);
    const workers = await startWorkers(loaded, 2);
    simulator.faults.latencyMs = 20;
    const running = bench({ simulator, warehouse: shared, config, run: onWorkers }).sync(core);
    const requests = simulator.requests.total;
    // A page, or some details, are stored by then.
    await until(() => workers.some(one => works(one, "companies")) && simulator.requests.total > requests + 150);
    await workers.find(one => works(one, kind))!.leave();
    const report = await running;
    simulator.faults.latencyMs = 0;
    expect(report).toMatchObject({ errors: [], exit_code: 0 });
    // It goes on from the checkpoints: only what was in flight, or not stored yet, is requested again.
    expect(simulator.requests.total - requests).toBeLessThan(1.3 * needed + 2 * IN_FLIGHT);
    expect(await differing(alone, shared, report)).toEqual([]);
    expect(await shared.query("select run_id, status from _tributary.runs")).toEqual([
      { run_id: report.run_id, status: report.status },
    ]);
  },
);

test("columns that somebody added keep their values when workers publish", async () => {
  const shared = await make();
  const config = { workers: {} };
  await startWorkers(await configOf(simulator, shared, config), 1);
  const many = bench({ simulator, warehouse: shared, config, run: onWorkers });
  await many.sync({ names: ["items"] });
  await shared.query("alter table procurement.items add column remark text");
  await shared.query("update procurement.items set remark = item_id");
  simulator.update("items", 5);
  expect((await many.sync({ names: ["items"] })).streams).toMatchObject([{ updated: 5 }]);
  expect(await shared.query("select item_id from procurement.items where remark is distinct from item_id")).toEqual([]);
});

// A lake has neither views nor policies over columns.
test.skipIf(!warehouses.some(({ name }) => name === "postgres"))(
  "a stream whose column cannot get its type back fails alone when workers publish, and keeps its history",
  async () => {
    const shared = await make();
    const config = { workers: {}, streams: { defaults: { history: true } } };
    await startWorkers(await configOf(simulator, shared, config), 1);
    const many = bench({ simulator, warehouse: shared, config, run: onWorkers });
    const order = { names: ["items", "findings"] };
    expect(await many.sync(order)).toMatchObject({ errors: [], exit_code: 0 });
    await shared.query("alter table procurement.items alter column total_qty type bigint");
    await shared.query("create policy cheap on procurement.items using (total_qty < 5)");
    const needed = { code: "tables.column_needed", fields: { column: "procurement.items.total_qty" } };
    const report = await many.sync(order);
    expect(report).toMatchObject({ exit_code: 1, errors: [needed] });
    expect(report.streams.map(({ stream, status }) => [stream, status])).toEqual([
      ["items", "failed"],
      ["findings", "succeeded"],
    ]);
    const open = "select stream from _tributary.history where kept_to is null order by 1";
    expect(await shared.query(open)).toEqual([{ stream: "findings" }, { stream: "items" }]);
    await shared.query("drop policy cheap on procurement.items");
    expect(await many.sync(order)).toMatchObject({ errors: [], exit_code: 0 });
  },
);

test("a run is stopped for all workers, ends as stopped, and the next one goes on", async () => {
  const shared = await make();
  const config = { workers: {} };
  const loaded = await configOf(simulator, shared, config);
  const [first] = await startWorkers(loaded, 2);
  simulator.faults.latencyMs = 50;
  const many = bench({ simulator, warehouse: shared, config, run: onWorkers });
  const running = many.sync({ names: ["purchase_orders", "purchase_order_details"] });
  const requests = simulator.requests.total;
  await until(() => simulator.requests.total > requests + 100);
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
  // What was in flight at the stop is asked for again.
  expect(asked(report) + asked(next)).toBeGreaterThanOrEqual(ORDERS);
  expect(asked(report) + asked(next)).toBeLessThanOrEqual(ORDERS + IN_FLIGHT);
});

test("a bug in a company's work ends its run, which says so; it is not tried again for ever", async () => {
  const shared = await make();
  const config = { workers: {} };
  const loaded = await configOf(simulator, shared, config);
  const workers = await startWorkers(loaded, 1, {
    defaults: {
      relations(all) {
        if (workers[0]!.worker.doing.jobs.some(({ kind }) => kind === "companies"))
          throw new TypeError("no such thing");
        return relationsOf(all);
      },
    },
  });
  const { sync } = bench({ simulator, warehouse: shared, config, run: onWorkers });
  const report = await sync({ names: ["purchase_orders"] });
  expect(report).toMatchObject({ status: "failed", exit_code: 70 });
  expect(report.errors[0]).toMatchObject({ code: "general.bug", fields: { what: "TypeError: no such thing" } });
});

test("a worker whose clock is set back goes on saying that it is there", async () => {
  const shared = await make();
  const loaded = await configOf(simulator, shared, { workers: {} });
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
