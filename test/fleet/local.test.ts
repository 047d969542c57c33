import { afterAll, beforeAll, expect, test } from "vitest";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { roleDatabase, secretKey, workplace } from "../cli/workplace.ts";
import { ended, fleetPlace } from "./children.ts";
import { until } from "./workers.ts";

let simulator: Simulator;
const sizes = { orders: 1, invoices: 1, items: 3, findings: 1, ingested: 1 };
beforeAll(async () => {
  simulator = await startSimulator({ key: secretKey, sizes });
});
afterAll(() => simulator.close());

const fleet = (more: object = {}) => fleetPlace(simulator, more);

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test("work --local starts so many workers, and they leave with it, however it ends", async () => {
  const at = await fleet();
  const told = await at.work(2, "--local", "2");
  const pids = await at.up();
  expect(pids).toHaveLength(2);
  expect(pids).not.toContain(told.pid);
  told.kill("SIGTERM");
  expect(await ended(told)).toBe(0);
  expect(pids.map(isAlive)).toEqual([false, false]);
  expect(await at.up()).toEqual([]);

  const killed = await at.work(2, "--local", "2");
  const others = await at.up();
  killed.kill("SIGKILL");
  await until(() => !others.some(isAlive));
  expect(await at.up()).toEqual([]);
});

test("what can't be shared is refused with 2 and says what to do", async () => {
  const { destination } = await roleDatabase();
  const workers = {};
  const shared = { destination, workers };
  const run = "20260101T000000-00000000";
  const cases: readonly (readonly [object, readonly string[], RegExp])[] = [
    [{ destination }, ["work"], /only where the configuration has `workers:`\. Add it/],
    [{ destination }, ["sync", "--workers"], /only where the configuration has `workers:`\. Add it/],
    [{ workers }, ["work"], /expected destination\.type postgres or ducklake, got duckdb\. A file has one writer/],
    [shared, ["sync", "--workers", "--max-requests", "5"], /without --workers.*api\.requests_per_day/],
    [shared, ["work", "--stop", run], /expected a run that the workers have \(none now\), got 20260101T000000-/],
    [shared, ["work", "--stop", "last"], /Expected the id of a run such as 2026/],
    [shared, ["work", "--drain"], /expected a worker that is up/],
    [shared, ["work", "--local", "0"], /1/],
    [{ workers: { start_within: "0s" }, destination }, ["work"], /workers\.start_within/],
    [{ workers, destination: { ...destination, state_schema: "s".repeat(50) } }, ["work"], /at most 45 letters/],
  ];
  for (const [config, args, message] of cases) {
    const { code, stdout, stderr } = await workplace(simulator, { ...config }).run(args);
    expect([args, code, stdout, stderr]).toEqual([args, 2, "", expect.stringMatching(message)]);
  }
});

test("without a worker a follower says so, and the run waits for one", async () => {
  const at = await fleet();
  const following = at.start("sync", "--workers", "items");
  let said = "";
  following.stderr.on("data", (piece: Buffer) => {
    said += piece.toString();
  });
  await until(() => said.includes("No worker is up: the run waits in the queue. Start some with `tributary work`."));
  await at.work(1);
  expect(await ended(following)).toBe(0);
});

test("a sync that no worker takes in time ends with 1, and is not done later", async () => {
  const at = await fleet({ workers: { start_within: "2s" } });
  const { code, stderr } = await at.run(["sync", "--workers", "items"]);
  expect([code, stderr]).toEqual([1, expect.stringContaining("within workers.start_within, and it was withdrawn")]);
  await at.work(1);
  const { code: next } = await at.run(["sync", "--workers", "findings"]);
  expect(next).toBe(0);
  expect(await at.query("select distinct stream from _tributary.stream_runs")).toEqual([{ stream: "findings" }]);
});
