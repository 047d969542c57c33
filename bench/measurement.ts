import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Built } from "./build.ts";
import type { Usage } from "./meter.ts";

/** How measured processes are started: Node's own flags, and where CPU profiles go, if anywhere. */
export interface Laboratory {
  readonly built: Built;
  readonly folder: string;
  readonly nodeFlags: readonly string[];
  readonly profiles: string | undefined;
}

/** One job's process: what it used, and what it printed. */
export interface Measured extends Usage {
  readonly stdout: string;
}

/** Runs a program to its end in a process of its own. Throws with what it said when it fails. */
export async function measure(laboratory: Laboratory, job: string, argv: readonly string[]): Promise<Measured> {
  const { built, folder, nodeFlags, profiles } = laboratory;
  const file = join(folder, "usage.json");
  const profiling =
    profiles === undefined
      ? []
      : ["--cpu-prof", `--cpu-prof-dir=${profiles}`, `--cpu-prof-name=${job.replaceAll(" ", "-")}.cpuprofile`];
  const child = spawn(process.execPath, [...nodeFlags, ...profiling, "--import", built.meter, ...argv], {
    env: { ...process.env, BENCH_USAGE_FILE: file },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  if (code !== 0) throw new Error(`${job}: expected exit code 0, got ${code}:\n${stderr}${stdout}`);
  const usage = JSON.parse(await readFile(file, "utf8")) as Usage;
  await rm(file);
  return { ...usage, stdout };
}
