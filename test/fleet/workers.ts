import { expect, onTestFinished } from "vitest";
import type { Simulator } from "../../simulator/simulator.ts";
import { type Clock, systemClock } from "../../src/clock.ts";
import type { Config } from "../../src/config/config.ts";
import { runOnWorkers } from "../../src/fleet/following.ts";
import { type Fleet, openFleet } from "../../src/fleet/opening.ts";
import { Worker, type WorkerTools } from "../../src/fleet/worker.ts";
import type { Log } from "../../src/logging.ts";
import type { RunReport } from "../../src/sync/run/report.ts";
import type { RunOrder, RunTools } from "../../src/sync/run/run_order.ts";
import { identityEndpoint } from "../../streams/identity.ts";
import { streams } from "../../streams/index.ts";
import { relationsOf } from "../../streams/relations.ts";
import { stillClock } from "../support/clock.ts";
import { silentLog } from "../support/log.ts";
import { models } from "../support/models.ts";
import { bench, configOf } from "../support/run.ts";
import { contents, difference } from "../support/tables.ts";
import type { Warehouse } from "../support/warehouse.ts";

const defaults = { catalogue: streams, models, relations: relationsOf, identity: identityEndpoint };

/** A worker of this process. */
export interface TestWorker {
  readonly id: string;
  readonly worker: Worker;
  readonly fleet: Fleet;
  /** As SIGTERM does: what is under way is given back. */
  leave(): Promise<void>;
}

/** What a test's workers have otherwise than usual ones. */
interface Differing {
  readonly log?: Log;
  readonly version?: string;
  readonly name?: string;
  readonly clock?: Clock;
  readonly defaults?: Partial<WorkerTools["defaults"]>;
  /** Stands between it and its queue. */
  readonly through?: (queue: Fleet["queue"]) => Fleet["queue"];
}

/** Starts workers that leave when the test has ended. */
export async function startWorkers(
  config: Config,
  count: number,
  {
    log = silentLog,
    version = "0.0.0",
    name = "worker",
    clock = systemClock,
    through = queue => queue,
    ...differing
  }: Differing = {},
): Promise<readonly TestWorker[]> {
  const workers: TestWorker[] = [];
  for (let nth = 1; nth <= count; nth++) {
    const id = `${name}-${nth}`;
    const fleet = await openFleet(config, { clock });
    const worker = new Worker({
      ...{ id, config, log, clock, random: Math.random, redact: text => text },
      ...{ queue: through(fleet.queue), beat: fleet.beat },
      defaults: { ...defaults, version, ...differing.defaults },
    });
    const leaving = new AbortController();
    const served = worker.serve(leaving.signal);
    const leave = async () => {
      leaving.abort(new Error("the test's worker leaves"));
      await served;
      await fleet.close();
    };
    onTestFinished(leave);
    workers.push({ id, worker, fleet, leave });
  }
  return workers;
}

/** Has the workers of the configuration do an order: a `run` of `bench`. */
export async function onWorkers(order: RunOrder, tools: RunTools): Promise<RunReport> {
  await using fleet = await openFleet(order.config, { clock: systemClock }, { supervises: false });
  return await runOnWorkers(order, { ...tools, ...fleet, clock: systemClock });
}

/** Waits for something that other processes or workers do: for minutes, as several of them start on a busy machine. */
export async function until(isSo: () => boolean | Promise<boolean>, seconds = 300): Promise<void> {
  for (const end = Date.now() + seconds * 1_000; !(await isSo()); ) {
    if (Date.now() > end) throw new Error(`it did not happen within ${seconds} s`);
    await systemClock.sleep(20);
  }
}

/** Contents of tables without what tells when: two runs happen at two moments, and figures of a day are those of their clocks' days. */
export function timeless(rows: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const days = [stillClock().date(), new Date()].map(moment => moment.toISOString().slice(0, 10)).join("|");
  const dayless = (text: string) => text.replace(new RegExp(days, "g"), "day");
  const momentless = (row: string) => row.replace(/"_(first_seen|changed|fetched)_at":"[^"]*"/g, '"_$1_at":""');
  return new Map([...rows].map(([key, row]) => [dayless(key), dayless(momentless(row))]));
}

/** The rows that differ of the streams of a run, but for when they were stored. */
export async function differing(one: Warehouse, other: Warehouse, { streams: lines }: RunReport): Promise<string[]> {
  const tabled = streams.filter(({ name }) => lines.some(({ stream }) => stream === name));
  return difference(timeless(await contents(one, tabled)), timeless(await contents(other, tabled)));
}

/** Loads a service into one warehouse by one process, into the other by three workers, and compares rows, counters and the run's row. */
export async function sameByWorkers(simulator: Simulator, alone: Warehouse, shared: Warehouse): Promise<void> {
  const core = { names: ["preset:core"] };
  const one = await bench({ simulator, warehouse: alone }).sync(core);
  const config = { workers: {} };
  const loaded = await configOf(simulator, shared, config);
  await startWorkers(loaded, 3);
  const many = bench({ simulator, warehouse: shared, config, run: onWorkers });
  const report = await many.sync(core);
  expect(report.errors).toEqual([]);
  expect(report.exit_code).toBe(one.exit_code);
  expect(await differing(alone, shared, one)).toEqual([]);
  const counted = ({ stream, status, requests, inserted, rows_read }: (typeof one.streams)[number]) => {
    return { stream, status, requests, inserted, rows_read };
  };
  expect(report.streams.map(counted)).toEqual(one.streams.map(counted));
  expect(await shared.query("select run_id, status from _tributary.runs")).toEqual([
    { run_id: report.run_id, status: report.status },
  ]);
  expect(
    await shared.query(
      "select run_id, stream, status, requests from _tributary.stream_runs where run_id not in (select run_id from _tributary.runs)",
    ),
  ).toEqual([]);
}
