import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import type { Status } from "../../src/operations/status.ts";
import type { RunReport } from "../../src/sync/run/run.ts";
import { program, variables } from "../support/program.ts";
import { json, secretKey, simulated, type Workplace, workplace } from "./workplace.ts";

test("a run goes on when the reader of its log is gone", async () => {
  const child = workplace(await simulated(), { views: false }).start("sync", "items", "--json", "--log-level", "debug");
  child.stderr.destroy();
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, "close")]);
  expect(JSON.parse(stdout) as RunReport).toMatchObject({ status: "succeeded", streams: [{ inserted: 130 }] });
  expect(code).toBe(0);
});

test("a run goes on when the disk of its log is full", async () => {
  const { folder: cwd } = workplace(await simulated(), { views: false });
  const words = ["-c", `exec "$0" "$@" 2>/dev/full`, process.execPath, program, "sync", "items", "--json"];
  const env = { ...variables, KEY: secretKey };
  const child = spawn("sh", words, { cwd, env, stdio: ["ignore", "pipe", "ignore"] });
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, "close")]);
  expect(JSON.parse(stdout) as RunReport).toMatchObject({ status: "succeeded", streams: [{ inserted: 130 }] });
  expect(code).toBe(0);
});

/** How a command ends whose stdout nobody reads. */
async function unread(place: Workplace, ...args: readonly string[]): Promise<unknown> {
  const child = place.start(...args);
  child.stdout.destroy();
  child.stderr.resume();
  const [code] = await once(child, "close");
  return code;
}

test("a command that fails says so by its exit code, though nobody reads its stdout", async () => {
  const simulator = await simulated();
  const place = workplace(simulator, { schedules: [{ name: "nightly", cron: "0 2 * * *" }] });
  expect(await unread(place, "sync", "no_such_stream", "--json")).toBe(2);
  expect(await unread(place, "schedule", "--once", "nope", "--json")).toBe(2);
  simulator.renewKey("another");
  expect(await unread(place, "check")).toBe(3);
});

test("a command does its work to the end, though nobody reads its stdout", async () => {
  const place = workplace(await simulated(), { views: false });
  expect(await unread(place, "sync", "items")).toBe(0);
  const rows = async () =>
    json<Status>(await place.run(["status", "--json"])).streams.find(({ stream }) => stream === "items")?.rows;
  expect(await rows()).toBe(130);
  expect(await unread(place, "reset", "items", "--drop", "--yes")).toBe(0);
  expect(await rows()).toBe(0);
});

test("a reader that has what it wanted ends a query without a word", async () => {
  const place = workplace(await simulated(), { views: false });
  await place.run(["sync", "items"]);
  const child = place.start("query", "select * from range(1000000)");
  const said = text(child.stderr);
  await once(child.stdout, "data");
  child.stdout.destroy();
  expect(await once(child, "close")).toEqual([0, null]);
  expect(await said).toBe("");
});

test("a full disk under stdout is reported once the work is done", async () => {
  const { folder: cwd, run } = workplace(await simulated(), { views: false });
  for (const words of [
    "sync items --json --log-level warn",
    "query 'select 1'",
    "read items --no-sync --log-level warn",
  ]) {
    const script = `exec "$0" "$1" ${words} >/dev/full`;
    const env = { ...variables, KEY: secretKey };
    const child = spawn("sh", ["-c", script, process.execPath, program], {
      cwd,
      env,
      stdio: ["ignore", "ignore", "pipe"],
    });
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
    expect(stderr, words).toMatch(/^Expected to write to stdout, but: ENOSPC.*\n$/);
    expect(code, words).toBe(1);
  }
  expect((await run(["query", "select count(*) from items"])).stdout).toContain("130");
});
