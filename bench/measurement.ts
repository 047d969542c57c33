import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import type { Load } from "./figure.ts";
import type { FloorOrder } from "./floor.ts";
import type { Laboratory } from "./laboratory.ts";
import type { Usage } from "./meter.ts";
import type { Service } from "./service.ts";

/** One process: what it used (CPU with that of its helpers), and what it printed. */
export interface Measured extends Pick<Load, "cpuMs" | "wallMs" | "peakBytes">, Pick<Usage, "statements"> {
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a Node program to its end in a process of its own; `job` names its CPU profile, `take` answers what is kept of its output.
 * Throws with what it said when it fails.
 */
export async function measure(
  laboratory: Laboratory,
  job: string,
  argv: readonly string[],
  take: (stdout: Readable) => Promise<string> = text,
): Promise<Measured> {
  const { built, folder, nodeFlags, profiles } = laboratory;
  const file = join(folder, "usage.json");
  const profiling =
    profiles === undefined
      ? []
      : ["--cpu-prof", `--cpu-prof-dir=${profiles}`, `--cpu-prof-name=${job.replaceAll(/\W+/g, "-")}.cpuprofile`];
  const child = spawn(process.execPath, [...nodeFlags, ...profiling, "--import", built.meter, ...argv], {
    env: { ...process.env, BENCH_USAGE_FILE: file },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, [code]] = await Promise.all([take(child.stdout), text(child.stderr), once(child, "exit")]);
  if (code !== 0) throw new Error(`${job}: expected exit code 0, got ${code}:\n${stderr}${stdout}`);
  const { helperCpuMs, ...usage } = JSON.parse(await readFile(file, "utf8")) as Usage;
  await rm(file);
  return { ...usage, cpuMs: usage.cpuMs + helperCpuMs, stdout, stderr };
}

/** Fetches and parses, nothing else. */
export async function measureFloor(laboratory: Laboratory, service: Service, order: FloorOrder): Promise<Load> {
  const argv = [laboratory.built.floor, service.url, service.key, JSON.stringify(order)];
  const { stdout, cpuMs, wallMs, peakBytes } = await measure(laboratory, "floor", argv);
  return { ...(JSON.parse(stdout) as Pick<Load, "rows" | "requests" | "bytes">), cpuMs, wallMs, peakBytes };
}
