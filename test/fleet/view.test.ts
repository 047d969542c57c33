import { tmpdir } from "node:os";
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { statusReport } from "../../src/cli/terminal/status_report.ts";
import { systemClock } from "../../src/clock.ts";
import type { CompanyData, RunData } from "../../src/fleet/job_data.ts";
import { openFleet } from "../../src/fleet/opening.ts";
import { readFleet } from "../../src/fleet/view.ts";
import type { WorkerDoing } from "../../src/fleet/worker_row.ts";
import { readStatus } from "../../src/operations/status.ts";
import { streams } from "../../streams/index.ts";
import { read } from "../repository/pages.ts";
import { createDatabase } from "../support/database.ts";
import { bench, configOf, plain } from "../support/run.ts";
import { ducklakeWarehouse, postgresWarehouse } from "../support/warehouse.ts";
import { onWorkers, startWorkers, until } from "./workers.ts";

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({ sizes: { orders: 300, invoices: 300, items: 400, findings: 50, ingested: 300 } });
});
afterAll(() => simulator.close());

const workers = {};
const nothing = {
  note: null,
  workers: [],
  queue: { waiting_companies: 0, active_companies: 0, runs: [] },
};

test("before the first worker there is nothing, and looking makes nothing", async () => {
  const place = await postgresWarehouse(inject("postgresUrl"));
  onTestFinished(() => place.drop());
  const schemas = "select nspname from pg_namespace order by 1";
  const before = await place.query(schemas);
  expect(await readFleet(await configOf(simulator, place, { workers }))).toEqual(nothing);
  expect(await place.query(schemas)).toEqual(before);
});

test("the catalog of a lake tells the same way, and a file has no workers", async () => {
  const lake = await ducklakeWarehouse(inject("postgresUrl"), tmpdir());
  onTestFinished(() => lake.drop());
  const config = await configOf(simulator, lake, { workers });
  expect(await readFleet(config)).toEqual(nothing);
  await using fleet = await openFleet(config, { clock: systemClock }, { supervises: false });
  await fleet.beat(row("in-the-lake", { jobs: [] }));
  expect((await readFleet(config)).workers).toMatchObject([{ id: "in-the-lake", up: true }]);
  const file = await configOf(simulator, { destination: { type: "duckdb", path: "w.duckdb" } }, { workers });
  expect(await readFleet(file)).toEqual({ ...nothing, note: expect.stringMatching(/^workers: expected .*postgres/) });
});

test("while workers work the status names who works on which company, and never a key", async () => {
  const place = await postgresWarehouse(inject("postgresUrl"));
  const companies = [{ name: "acme" }, { name: "beta" }];
  const config = { workers, company: undefined, companies };
  const loaded = await configOf(simulator, place, config);
  await startWorkers(loaded, 2);
  simulator.faults.latencyMs = 30;
  const running = bench({ simulator, warehouse: place, config, run: onWorkers }).sync({
    names: ["preset:core"],
    company: "acme",
  });
  let seen = await readFleet(loaded);
  const isReading = () =>
    seen.workers.some(({ jobs }) =>
      jobs.some(job => job.streams.some(({ state, rows }) => state === "reading" && rows)),
    );
  await until(async () => {
    seen = await readFleet(loaded);
    return isReading() && seen.queue.runs.some(({ conductor }) => conductor !== null);
  });
  // The run is not over before it has been looked at in all ways.
  simulator.faults.latencyMs = 3_000;
  expect(seen.workers.map(({ id, up, draining, refusal }) => [id, up, draining, refusal])).toEqual([
    ["worker-1", true, false, null],
    ["worker-2", true, false, null],
  ]);
  const [run] = seen.queue.runs;
  expect(run).toMatchObject({ command: "sync", state: "active", conductor: expect.stringMatching(/^worker-[12]$/) });
  const jobs = seen.workers.flatMap(worker => worker.jobs);
  expect(new Set(jobs.map(job => job.run_id))).toEqual(new Set([run!.run_id]));
  expect(jobs.filter(({ company }) => company === null)).toHaveLength(1);
  expect(seen.queue.active_companies).toBe(1);
  // The status of another company has the runs alone.
  const other = await readFleet(loaded, "beta");
  expect(other.workers.flatMap(worker => worker.jobs).filter(({ company }) => company !== null)).toEqual([]);
  expect(other.queue).toMatchObject({ waiting_companies: 0, active_companies: 0 });
  const status = await readStatus(loaded, streams, undefined);
  const report = statusReport(status, Date.now(), plain);
  expect(report).toMatch(/\nWorkers: {3}2 up\n {2}worker-1 \(0\.0\.0\), seen \d.* ago: /);
  expect(report).toMatch(/\nQueue: {5}1 run; 0 companies waiting, 1 being worked on\n/);
  const jobData = JSON.stringify(await place.query("select data from _tributary_jobs.job"));
  const holders = JSON.stringify(await place.query("select company, family from _tributary.holders"));
  expect(holders).toContain("key ");
  for (const text of [jobData, holders]) expect(text).not.toContain(simulator.key);
  expect(JSON.stringify(status)).not.toContain(simulator.key);
  simulator.faults.latencyMs = 0;
  expect((await running).errors).toEqual([]);
  const after = await readFleet(loaded);
  expect(after.queue).toEqual(nothing.queue);
});

const row = (id: string, doing: WorkerDoing, pid = 1) => ({
  ...{ id, host: "a-host", pid, version: "1.0.0", draining: false, isStopped: false, doing },
});

const RUN = "20261126T020000-1a2b3c4d";
const asked = { runId: RUN, startedAt: "2026-11-26T02:00:00Z", askedAt: "2026-11-26T02:00:00Z", waitMs: 0 };
const refresh = { full: false, allDetails: false, resume: false, confirmDeletes: false };
const runData: RunData = { ...asked, command: "schedule nightly", selection: { names: ["items"] }, refresh };
const companyData = (company: string): CompanyData => ({ ...runData, company, keyLock: `key of ${company}` });

test("who is silent, leaves or refuses is told apart, and so is what waits for a worker", async () => {
  const place = await postgresWarehouse(inject("postgresUrl"));
  onTestFinished(() => place.drop());
  const config = await configOf(simulator, place, { workers });
  await using fleet = await openFleet(config, { clock: systemClock }, { supervises: false });
  const conducts: WorkerDoing["jobs"][number] = {
    ...{ kind: "runs", runId: RUN, since: "2026-11-26T02:00:01Z", streams: [] },
    ...{ limitedBy: "latency", inFlight: 0, ceiling: 0, limited429: 0 },
  };
  await fleet.beat(row("conductor", { jobs: [conducts] }));
  await fleet.beat({ ...row("leaving", { jobs: [] }), draining: true });
  await fleet.beat(row("refusing", { refusal: "The warehouse was written by a later version.", jobs: [] }));
  // What a silent one said last is not so any more.
  await fleet.beat(row("silent", { jobs: [conducts] }));
  await fleet.beat(row("long dead", { jobs: [] }));
  await fleet.beat({ ...row("ended", { jobs: [] }), isStopped: true });
  await place.query("update _tributary.workers set seen_at = seen_at - interval '16 s' where id = 'silent'");
  await place.query("update _tributary.workers set seen_at = seen_at - interval '2 d' where id = 'long dead'");
  const id = (nth: number) => `00000000-0000-8000-8000-00000000000${nth}`;
  await fleet.queue.add("runs", [
    { id: id(1), data: runData, priority: 0 },
    { id: id(2), data: { ...runData, runId: "later" }, priority: 0 },
  ]);
  await fleet.queue.take("runs");
  await fleet.queue.add("companies", [
    { id: id(3), data: companyData("acme"), priority: 2 },
    { id: id(4), data: companyData("beta"), priority: 1 },
    { id: id(5), data: companyData("gamma"), priority: 1 },
  ]);
  await fleet.queue.take("companies");
  const found = await readFleet(config, "acme");
  expect(found.workers.map(({ id, up, draining, refusal }) => ({ id, up, draining, refusal }))).toEqual([
    { id: "conductor", up: true, draining: false, refusal: null },
    { id: "leaving", up: true, draining: true, refusal: null },
    { id: "refusing", up: true, draining: false, refusal: "The warehouse was written by a later version." },
    { id: "silent", up: false, draining: false, refusal: null },
  ]);
  expect(found.workers.at(-1)!.seen_seconds_ago).toBeGreaterThanOrEqual(16);
  expect(found.queue).toEqual({
    waiting_companies: 0,
    active_companies: 1,
    runs: [
      {
        ...{ run_id: RUN, command: "schedule nightly", state: "active", conductor: "conductor" },
        waiting_companies: [],
      },
      {
        ...{ run_id: "later", command: "schedule nightly", state: "waiting", conductor: null },
        waiting_companies: [],
      },
    ],
  });
  const all = await readFleet(config);
  expect(all.queue).toMatchObject({ waiting_companies: 2, runs: [{ waiting_companies: ["beta", "gamma"] }, {}] });
  // By which the number of workers is scaled.
  const scaler = parseAllDocuments(read("deploy/kubernetes/workers-scaler.yaml"))[1]!.toJS();
  expect(await place.query(scaler.spec.triggers[0].metadata.query)).toEqual([{ count: 5 }]);
  const report = statusReport(await readStatus(config, streams, undefined), Date.now(), plain);
  expect(report).toContain("\nWorkers:   3 up, 1 silent\n");
  expect(report).toMatch(/\n {2}leaving \(1\.0\.0\), seen .+, leaves when it is done: no jobs\n/);
  expect(report).toContain(": takes no jobs: The warehouse was written by a later version.\n");
  expect(report).toContain("\nQueue:     2 runs; 2 companies waiting, 1 being worked on\n");
});

test("a role that may read nothing of the workers is told so, and has all other figures", async () => {
  const database = await createDatabase(inject("postgresUrl"));
  onTestFinished(() => database.drop());
  const place = { destination: { type: "postgres", url: database.url } };
  await bench({ simulator, warehouse: place }).sync({ names: ["items"] });
  const config = await configOf(simulator, place, { workers });
  await using fleet = await openFleet(config, { clock: systemClock }, { supervises: false });
  await fleet.beat(row("one", { jobs: [] }));
  const role = `looking_${process.pid}`;
  await database.admin.query(`create role ${role} login password 'secret-word'`);
  onTestFinished(async () => void (await database.admin.query(`drop owned by ${role}; drop role ${role}`)));
  await database.admin.query(`grant usage on schema _tributary to ${role};
    grant select on all tables in schema _tributary to ${role}; revoke select on _tributary.workers from ${role}`);
  const asRole = { destination: { type: "postgres", url: database.as(role, "secret-word") } };
  const status = await readStatus(await configOf(simulator, asRole, { workers }), streams, undefined);
  expect(status.workers).toEqual({ ...nothing, note: expect.stringMatching(/permission denied|may not|workers/) });
  expect(status.last_run).toMatchObject({ status: "succeeded" });
  expect(statusReport(status, Date.now(), plain)).toMatch(/\nWorkers: {3}can't be looked at: .+\n/);
  await database.admin.query(`grant select on _tributary.workers to ${role}`);
  // pg-boss's schema is one more that it may not read.
  const again = await readStatus(await configOf(simulator, asRole, { workers }), streams, undefined);
  expect(again.workers?.note).toMatch(/_tributary_jobs|permission denied/);
});
