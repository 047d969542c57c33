import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { Simulator } from "../../simulator/simulator.ts";
import { program, variables } from "../support/program.ts";
import { key } from "./company.ts";
import type { Warehouse } from "./warehouse.ts";

/** When a sync is killed: after its `value`-th request has come, or `value` ms after its first one, or after its first publish began. */
export interface Instant {
  readonly by: "requests" | "ms" | "publishing";
  readonly value: number;
}

/** What a sync was doing when it was killed; `over`: it had ended before. */
export type Phase = "starting" | "reading" | "publishing" | "showing" | "over";

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningSync {
  readonly child: ChildProcess;
  /** Resolves when it says that it publishes, which it does at the log level debug. */
  readonly publishing: Promise<void>;
  readonly ended: Promise<Ended>;
}

/** Starts `tributary sync` in a process of its own. */
export function startSync(warehouse: Warehouse, args: readonly string[] = []): RunningSync {
  const child = spawn(process.execPath, [program, "sync", "--config", warehouse.config, "--no-progress", ...args], {
    cwd: warehouse.folder,
    env: { ...variables, CRASH_KEY: key },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const publishing = new Promise<void>(resolve => {
    child.stderr.on("data", (said: Buffer) => said.includes('"publishing"') && resolve());
  });
  const outputs = [text(child.stdout), text(child.stderr)] as const;
  const ended = Promise.all([...outputs, once(child, "close")]).then(([stdout, stderr, [code]]) => {
    return { code: code as number | null, stdout, stderr };
  });
  return { child, publishing, ended };
}

/** One sync to its end. */
export function sync(warehouse: Warehouse, args: readonly string[] = []): Promise<Ended> {
  return startSync(warehouse, args).ended;
}

/** One sync to its end, which has to be a good one. */
export async function goodSync(warehouse: Warehouse, args: readonly string[] = []): Promise<Ended> {
  const ended = await sync(warehouse, args);
  if (ended.code !== 0) throw new Error(`expected a sync that succeeds, got exit code ${ended.code}:\n${ended.stderr}`);
  return ended;
}

/** Waits for a moment of a running sync; false when it ended before. */
export async function reach(running: RunningSync, company: Simulator, instant: Instant): Promise<boolean> {
  const alive = () => running.child.exitCode === null && running.child.signalCode === null;
  const wanted = instant.by === "requests" ? instant.value : 1;
  while (alive() && company.requests.total < wanted) await sleep(1);
  if (instant.by === "publishing") await Promise.race([running.publishing, running.ended]);
  if (instant.by !== "requests" && alive()) await Promise.race([sleep(instant.value), once(running.child, "exit")]);
  return alive();
}

/** A sync that is killed as `kill -9` does it. */
export async function killedSync(warehouse: Warehouse, company: Simulator, instant: Instant): Promise<Phase> {
  const running = startSync(warehouse, ["--log-level", "debug"]);
  const reached = await reach(running, company, instant);
  running.child.kill("SIGKILL");
  const { stderr } = await running.ended;
  return reached ? phaseOf(stderr, company) : "over";
}

function phaseOf(stderr: string, company: Simulator): Phase {
  // Its last line may have been cut off by the kill.
  const lines = stderr.slice(0, stderr.lastIndexOf("\n") + 1).split("\n");
  const said = lines.flatMap(line => (line.startsWith("{") ? [JSON.parse(line)] : []));
  const about = (message: string) => said.filter(line => line.msg === message);
  if (about("releasing to readers").length > about("released").length) return "showing";
  const publishing = new Map<string, number>();
  for (const { stream } of about("publishing")) publishing.set(stream, (publishing.get(stream) ?? 0) + 1);
  for (const { stream } of about("published")) publishing.set(stream, (publishing.get(stream) ?? 0) - 1);
  if ([...publishing.values()].some(open => open > 0)) return "publishing";
  return company.requests.total === 0 ? "starting" : "reading";
}
