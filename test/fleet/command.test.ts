import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import type { RunReport } from "../../src/sync/run/report.ts";
import { json, secretKey } from "../cli/workplace.ts";
import { ended, fleetPlace } from "./children.ts";
import { until } from "./workers.ts";

let simulator: Simulator;
const sizes = { orders: 120, invoices: 20, items: 130, findings: 5, ingested: 20 };
beforeAll(async () => {
  simulator = await startSimulator({ key: secretKey, sizes });
});
afterAll(() => simulator.close());

const fleet = (more: object = {}) => fleetPlace(simulator, more);
const orders = ["purchase_orders", "purchase_order_details"];
const details = () => simulator.requests.count("/po/{po_number}");

/** Answers are that late while commands are started beside a run: however long that takes, the run is not over by then. */
const LATE_MS = 5_000;

/** Slows the service until `part` is done. */
async function slowly<T>(part: () => Promise<T>, latencyMs = 400): Promise<T> {
  simulator.requests.clear();
  simulator.faults.latencyMs = latencyMs;
  try {
    return await part();
  } finally {
    simulator.faults.latencyMs = 0;
  }
}

test("a sync by workers ends with the report and the exit code of a plain one, that of a wrong key too", async () => {
  const counted = ({ streams, status, exit_code, errors }: RunReport) => ({
    // Each request has an id of its own.
    ...{ status, exit_code, errors: JSON.parse(JSON.stringify(errors).replace(/req_\w+/g, "")) as unknown },
    streams: streams.map(({ run_id: _, started_at: __, finished_at: ___, error, ...line }) => ({
      ...line,
      error: error?.replace(/req_\w+/, ""),
    })),
  });
  const [plain, shared] = [await fleet(), await fleet()];
  const worker = await shared.work(1);
  const [alone, together] = [await plain.run(["sync", "--json"]), await shared.run(["sync", "--workers", "--json"])];
  expect(counted(json<RunReport>(together))).toEqual(counted(json<RunReport>(alone)));
  expect([alone.code, together.code]).toEqual([0, 0]);
  const text = await shared.run(["sync", "--workers", "items"]);
  expect([text.code, text.stdout]).toEqual([0, expect.stringContaining("items")]);
  worker.kill("SIGTERM");
  expect(await ended(worker)).toBe(0);
  expect(await shared.up()).toEqual([]);

  const api = { base_url: simulator.url, key: "sk-revoked" };
  const [wrong, wrongShared] = [await fleet({ api }), await fleet({ api })];
  await wrongShared.work(1);
  const refused = await wrong.run(["sync", "--json"]);
  const refusedShared = await wrongShared.run(["sync", "--workers", "--json"]);
  expect([refused.code, refusedShared.code]).toEqual([3, 3]);
  const [told, toldShared] = [refused, refusedShared].map(ended => counted(json<RunReport>(ended)));
  expect(toldShared!.errors).toEqual(told!.errors);
});

test("Ctrl-C ends the following with 130 and the run goes on; --stop ends the run, and says so of unknown ones", async () => {
  const at = await fleet();
  await at.work(1);
  const { said, runId } = await slowly(async () => {
    const following = at.start("sync", "--workers", ...orders);
    const stderr = text(following.stderr);
    await until(() => details() > 2);
    following.kill("SIGINT");
    expect(await ended(following)).toBe(130);
    const asked = details();
    await until(() => details() > asked + 16);
    simulator.faults.latencyMs = LATE_MS;
    const [run] = await at.query("select run_id, status from _tributary.runs");
    expect(run).toMatchObject({ status: "running" });
    const id = String(run!["run_id"]);
    const unknown = await at.run(["work", "--stop", "20260101T000000-00000000"]);
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining(`(${id}), got 20260101T000000-`)]);
    const stopped = await at.run(["work", "--stop", id]);
    expect([stopped.code, stopped.stdout]).toEqual([0, `Run ${id} ends at its next safe point.\n`]);
    const ends = async () => (await at.query("select status, exit_code::int from _tributary.runs"))[0]!;
    await until(async () => (await ends())["status"] !== "running");
    expect(await ends()).toEqual({ status: "stopped", exit_code: 5 });
    expect(details()).toBeLessThan(sizes.orders);
    return { said: await stderr, runId: id };
  });
  expect(said).toContain(`No longer following run ${runId}, which goes on. \`tributary work --stop ${runId}\` ends it`);
});

test("SIGTERM leaves with 0 and another worker goes on; drained workers end what they do, and a new one has the rest", async () => {
  const at = await fleet({ workers: {} });
  const first = await at.work(1);
  const following = at.start("sync", "--workers", "--json", ...orders);
  const stdout = text(following.stdout);
  const second = await slowly(async () => {
    await until(() => details() > 2);
    simulator.faults.latencyMs = LATE_MS;
    const since = performance.now();
    const other = await at.work(2);
    const between = performance.now();
    first.kill("SIGTERM");
    expect(await ended(first)).toBe(0);
    // What the documentation promises of a stop; where a mere start takes as long as that, a few times what this takes.
    expect(performance.now() - between).toBeLessThan(Math.max(10_000, 4 * (between - since)));
    const asked = details();
    await until(() => details() > asked);
    return other;
  });
  expect(await ended(following)).toBe(0);
  expect(JSON.parse(await stdout)).toMatchObject({ status: "succeeded", errors: [] });

  const jobs = async (kind: string) =>
    (await at.query(`select state from _tributary_jobs.job where name = '${kind}' order by created_on`)).slice(1);
  const again = at.start("sync", "--workers", "--json", "--details", ...orders, "items", "invoices", "findings");
  await slowly(async () => {
    // Drained before it took one, a worker rightly leaves all of them.
    await until(async () => (await jobs("companies")).some(({ state }) => state === "active"));
    const { stdout: said } = await at.run(["work", "--drain"]);
    expect(said).toMatch(/^\S+: finishing, then leaving\.\n$/);
    // The worker hears of it as it says the next time that it is there.
    const seen = async () => String((await at.query("select seen_at::text as at from _tributary.workers"))[0]?.["at"]);
    const before = await seen();
    await until(async () => (await seen()) !== before);
  }, 4_000);
  expect(await ended(second)).toBe(0);
  expect(await at.up()).toEqual([]);
  expect(await jobs("companies")).toEqual([{ state: "completed" }]);
  expect(await jobs("runs")).toEqual([{ state: "retry" }]);
  await at.work(1);
  expect(await ended(again)).toBe(0);
  expect(await at.query("select status from _tributary.runs order by run_id")).toEqual([
    { status: "succeeded" },
    { status: "succeeded" },
  ]);
});
