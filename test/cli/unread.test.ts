import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import type { Status } from "../../src/operations/status.ts";
import type { RunReport } from "../../src/sync/run/run.ts";
import { program, variables } from "../support/program.ts";
import { json, secretKey, simulated, type Workplace, workplace } from "./workplace.ts";

test("a run goes on when the reader of its log is gone", async () => {
  const child = workplace(await simulated()).start("sync", "items", "--json", "--log-level", "debug");
  child.stderr.destroy();
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, "close")]);
  expect(JSON.parse(stdout) as RunReport).toMatchObject({ status: "succeeded", streams: [{ inserted: 130 }] });
  expect(code).toBe(0);
});

test("a run goes on when the disk of its log is full", async () => {
  const { folder: cwd } = workplace(await simulated());
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
  const place = workplace(await simulated());
  expect(await unread(place, "sync", "items")).toBe(0);
  const rows = async () =>
    json<Status>(await place.run(["status", "--json"])).streams.find(({ stream }) => stream === "items")?.rows;
  expect(await rows()).toBe(130);
  expect(await unread(place, "reset", "items", "--drop", "--yes")).toBe(0);
  expect(await rows()).toBe(0);
});
