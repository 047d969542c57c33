import { afterAll, beforeAll, expect, inject, onTestFinished, test } from "vitest";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { type Clock, systemClock } from "../../src/clock.ts";
import type { Log } from "../../src/logging.ts";
import type { RunReport } from "../../src/sync/run/report.ts";
import { streams } from "../../streams/index.ts";
import { silentLog } from "../support/log.ts";
import { bench, configOf } from "../support/run.ts";
import { contents, difference } from "../support/tables.ts";
import { passing, postgresWarehouse, type Warehouse } from "../support/warehouse.ts";
import { onWorkers, startWorkers, timeless, until } from "./workers.ts";

let simulator: Simulator;
const sizes = { orders: 300, invoices: 40, items: 120, findings: 20, ingested: 60 };
beforeAll(async () => {
  simulator = await startSimulator({ sizes });
});
afterAll(() => simulator.close());

const fresh = () => passing(postgresWarehouse(inject("postgresUrl")));
const core = { names: ["preset:core"] };
const workers = {};
const HOUR_MS = 3_600_000;

const tabled = ({ streams: lines }: RunReport) =>
  streams.filter(({ name }) => lines.some(({ stream }) => stream === name));

/** What both have of the streams is the same, but for when. */
async function expectSame(one: Warehouse, other: Warehouse, report: RunReport): Promise<void> {
  const [a, b] = [await contents(one, tabled(report)), await contents(other, tabled(report))];
  expect(a.size).toBeGreaterThan(sizes.orders);
  expect(difference(timeless(a), timeless(b))).toEqual([]);
}

test("a worker older than what altered the warehouse takes no jobs and says why; newer ones of two versions do the run", async () => {
  const [alone, shared] = [await fresh(), await fresh()];
  await bench({ simulator, warehouse: alone }).sync(core);
  // The newest release made and altered the tables.
  await bench({ simulator, warehouse: shared }).sync({ names: ["items"], version: "9.0.0" });
  const loaded = await configOf(simulator, shared, { workers });
  const [old] = await startWorkers(loaded, 1, { version: "0.0.1", name: "old" });
  await until(() => old!.worker.refusal !== undefined);
  expect(old!.worker.refusal).toMatch(/by tributary 9\.0\.\d, and this is 0\.0\.1/);
  const said: string[] = [];
  const log: Log = { ...silentLog, warn: ({ message }) => void said.push(message) };
  const many = bench({
    ...{ simulator, warehouse: shared, config: { workers } },
    run: (order, tools) => onWorkers(order, { ...tools, log }),
  });
  const running = many.sync(core);
  await until(() => said.length > 0);
  expect(said).toEqual([expect.stringMatching(/^No worker takes jobs, the run waits in the queue\. .* is 0\.0\.1/)]);
  const newer = [
    ...(await startWorkers(loaded, 1, { version: "9.0.0", name: "new" })),
    ...(await startWorkers(loaded, 1, { version: "9.0.1", name: "newest" })),
  ];
  const seen = new Set<string>();
  const watching = setInterval(() => {
    for (const { id, worker } of [old!, ...newer]) if (worker.doing.jobs.length > 0) seen.add(id);
  }, 5);
  onTestFinished(() => clearInterval(watching));
  const report = await running;
  expect(report).toMatchObject({ errors: [], exit_code: 0 });
  // Neither of the two is too old; the one that is has done nothing.
  expect(seen).not.toContain("old-1");
  expect(seen.size).toBeGreaterThan(0);
  await until(async () => (await newer[0]!.fleet.workers()).some(({ doing }) => doing.refusal !== undefined));
  const rows = (await newer[0]!.fleet.workers()).map(({ id, version, doing }) => [id, version, doing.refusal]);
  expect(rows).toEqual([
    ["new-1", "9.0.0", undefined],
    ["newest-1", "9.0.1", undefined],
    ["old-1", "0.0.1", old!.worker.refusal],
  ]);
  await expectSame(alone, shared, report);
});

test("workers whose clocks are three hours ahead and behind load the same, at the key's limits, and stay alive for each other", async () => {
  const [alone, shared] = [await fresh(), await fresh()];
  await bench({ simulator, warehouse: alone }).sync(core);
  const off = (ms: number): Clock => ({ ...systemClock, now: () => systemClock.now() + ms });
  const api = { max_concurrency: 6 };
  const loaded = await configOf(simulator, shared, { workers, api });
  const [ahead] = await startWorkers(loaded, 1, { name: "ahead", clock: off(3 * HOUR_MS) });
  const [behind] = await startWorkers(loaded, 1, { name: "behind", clock: off(-3 * HOUR_MS) });
  simulator.requests.clear();
  simulator.faults.latencyMs = 15;
  const many = bench({ simulator, warehouse: shared, config: { workers, api }, run: onWorkers });
  const first = await many.sync(core);
  expect(first).toMatchObject({ errors: [], exit_code: 0 });
  expect(simulator.requests.maxInFlight).toBeLessThanOrEqual(6);
  expect((await behind!.fleet.workers()).map(({ ageMs }) => Math.abs(ageMs) < 10_000)).toEqual([true, true]);
  const again = await shared.query<{ n: number }>(
    "select coalesce(max(retry_count), 0)::int as n from _tributary_jobs.job where name in ('runs', 'companies')",
  );
  // No worker was taken for dead.
  expect(again).toEqual([{ n: 0 }]);
  await expectSame(alone, shared, first);

  // Everything is recorded by one clock, whoever did it.
  const { from, to } = (
    await shared.query<{ from: Date; to: Date }>(
      "select min(least(started_at, finished_at)) as from, max(greatest(started_at, finished_at)) as to from (select started_at, finished_at from _tributary.runs union all select started_at, finished_at from _tributary.stream_runs) as all_runs",
    )
  )[0]!;
  expect(Math.max(Date.now() - from.getTime(), to.getTime() - Date.now())).toBeLessThan(HOUR_MS);
  // What changes later is noted as later, though the one who reads it is behind the one who read it first.
  await ahead!.leave();
  const latest = async () =>
    (
      await shared.query<{ at: Date; n: number }>(
        "select _changed_at as at, count(*)::int as n from procurement.purchase_orders group by 1 order by 1 desc limit 1",
      )
    )[0]!;
  const before = await latest();
  simulator.update("purchase_orders", 40);
  simulator.faults.latencyMs = 0;
  expect(await many.sync({ ...core, full: true })).toMatchObject({ errors: [], exit_code: 0 });
  const after = await latest();
  expect(after.at.getTime()).toBeGreaterThan(before.at.getTime());
  expect(after.n).toBe(40);
});
