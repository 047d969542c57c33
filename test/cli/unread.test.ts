import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import type { RunReport } from "../../src/run.ts";
import { program, variables } from "../support/program.ts";
import { secretKey, simulated, workplace } from "./workplace.ts";

test("a run goes on when whoever read its log is gone", async () => {
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
