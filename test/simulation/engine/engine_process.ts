import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { build } from "rolldown";
import type { Done, Job, Strike } from "./job.ts";

/** How a job ended: with an answer, or with the process. `notice` says at what it was killed, or what it struck. */
export interface Ended {
  readonly done: Done | undefined;
  /** How the process ended that nobody had killed. */
  readonly crash: string | undefined;
  readonly notice: string;
}

/** Processes that run the engine. One is always booted beside the one at work, so that a death costs nothing but its boot. */
export interface EngineProcess {
  run(job: Job, strike: (strike: Strike) => Promise<void>): Promise<Ended>;
  close(): Promise<void>;
}

/** The engine with its packages as one file: a process boots in half the time. DuckDB's stays outside, it is native. */
export async function buildRunner(): Promise<{ readonly file: string; remove(): Promise<void> }> {
  const cache = join(import.meta.dirname, "../../../node_modules/.cache");
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, "simulation-"));
  await build({
    input: join(import.meta.dirname, "runner.ts"),
    platform: "node",
    external: ["@duckdb/node-api", "pg-native"],
    logLevel: "silent",
    output: { file: join(folder, "runner.js"), format: "esm", codeSplitting: false },
  });
  return { file: join(folder, "runner.js"), remove: () => rm(folder, { recursive: true, force: true }) };
}

/** After so many jobs a process has earned its rest: what leaks would otherwise add up. */
const JOBS = 400;

interface Hand {
  readonly child: ChildProcess;
  readonly ready: Promise<unknown>;
  jobs: number;
  notices: string;
}

export function openEngineProcess(file: string): EngineProcess {
  const idle: Hand[] = [];
  const all = new Set<ChildProcess>();
  let closed = false;

  const boot = (): Hand => {
    const { NODE_OPTIONS: _, ...env } = process.env;
    const child = fork(file, [], {
      stdio: ["ignore", "ignore", "inherit", "pipe", "ipc"],
      execArgv: [],
      env: { ...env, NODE_COMPILE_CACHE: join(file, "../compiled") },
    });
    all.add(child);
    child.once("exit", () => all.delete(child));
    const hand: Hand = { child, ready: once(child, "message"), jobs: 0, notices: "" };
    child.stdio[3]?.on("data", (data: Buffer) => {
      hand.notices += data.toString();
    });
    return hand;
  };
  const refill = () => {
    while (!closed && idle.length < 1) idle.push(boot());
  };
  refill();
  return {
    async run(job, strike) {
      const hand = idle.shift() ?? boot();
      refill();
      await hand.ready;
      hand.notices = "";
      const { child } = hand;
      let crash: string | undefined;
      const done = await new Promise<Done | undefined>(resolve => {
        const heard = (message: Done | Strike) => {
          if ("strike" in message) {
            void strike(message).finally(() => child.connected && child.send("struck"));
            return;
          }
          child.off("close", left);
          child.off("message", heard);
          resolve(message);
        };
        const left = (code: number | null, signal: string | null) => {
          child.off("message", heard);
          if (signal !== "SIGKILL") crash = String(signal ?? code);
          resolve(undefined);
        };
        child.on("message", heard);
        // Not "exit": what it wrote last comes before this.
        child.once("close", left);
        child.send(job);
      });
      hand.jobs += 1;
      if (done !== undefined && hand.jobs < JOBS) idle.unshift(hand);
      else if (done !== undefined) child.disconnect();
      return { done, crash, notice: hand.notices.trim() };
    },
    async close() {
      closed = true;
      const leaving = [...all].map(child => once(child, "exit"));
      for (const child of all) child.kill("SIGKILL");
      await Promise.all(leaving);
    },
  };
}
