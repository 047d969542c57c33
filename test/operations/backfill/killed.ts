import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { type RequestEntry, type Simulator, startSimulator } from "../../../simulator/simulator.ts";
import { key as crashKey, type Sizes } from "../../crash/company.ts";
import type { Ended } from "../../crash/killing.ts";
import { differences, type Tables, tablesOf } from "../../crash/tables.ts";
import { requestsSoFar } from "../../crash/trial.ts";
import type { MakeWarehouse, Warehouse } from "../../crash/warehouse.ts";
import { program, variables } from "../../support/program.ts";

const FROM = "2023-03-01";
const IN_FLIGHT = 8;
/** What may be fetched again after a kill: the batch being stored, the one being read, and a page ahead of every open window. */
const PAGES_AGAIN = (2 * 2_500) / 100 + 4 * IN_FLIGHT;

/** Starts `tributary backfill` in a process of its own. */
function startBackfill(
  warehouse: Warehouse,
  args: readonly string[],
): { readonly child: ChildProcess; readonly ended: Promise<Ended> } {
  const child = spawn(process.execPath, [program, "backfill", "--config", warehouse.config, "--no-progress", ...args], {
    cwd: warehouse.folder,
    env: { ...variables, CRASH_KEY: crashKey },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const outputs = [text(child.stdout), text(child.stderr)] as const;
  const ended = Promise.all([...outputs, once(child, "close")]).then(([stdout, stderr, [code]]) => {
    return { code: code as number | null, stdout, stderr };
  });
  return { child, ended };
}

/** One service with three years of a feed, and what an undisturbed backfill makes of it. */
export interface History {
  readonly company: Simulator;
  readonly make: () => Promise<Warehouse>;
  readonly tables: Tables;
  readonly requests: number;
  close(): Promise<void>;
}

export async function openHistory(
  make: MakeWarehouse,
  sizes: Sizes,
  { key, latencyMs }: { readonly key: string; readonly latencyMs: number },
): Promise<History> {
  const now = () => new Date("2026-03-01T12:00:00Z");
  const company = await startSimulator({ seed: 7, sizes, key, now, historyDays: 1_095, faults: { latencyMs } });
  // Published again and again, so that kills meet publishes and what they leave.
  const warehouse = () => make(company.url, { destination: { publish_every: "1s" } });
  const undisturbed = await warehouse();
  await goodBackfill(undisturbed);
  const tables = await tablesOf(undisturbed);
  await undisturbed.remove();
  const { total: requests } = company.requests;
  return { company, make: warehouse, tables, requests, close: () => company.close() };
}

async function goodBackfill(warehouse: Warehouse): Promise<Ended> {
  const ended = await startBackfill(warehouse, ["ingested", "--from", FROM, "--yes"]).ended;
  if (ended.code !== 0)
    throw new Error(`expected a backfill that succeeds, got exit code ${ended.code}:\n${ended.stderr}`);
  return ended;
}

export interface KillOutcome {
  readonly requests: number;
  readonly phase: "under way" | "over";
  readonly again: number;
  /** Pages that may be fetched again. */
  readonly open: number;
  readonly faults: readonly string[];
}

/** Kills a backfill once a share of its requests has come, a moment later or so, and gives the same command again. */
export async function trialOf(history: History, chance: number): Promise<KillOutcome> {
  const { company } = history;
  const warehouse = await history.make();
  company.requests.clear();
  const running = startBackfill(warehouse, ["ingested", "--from", FROM, "--yes"]);
  const alive = () => running.child.exitCode === null && running.child.signalCode === null;
  const wanted = 1 + Math.floor(chance * history.requests);
  while (alive() && company.requests.total < wanted) await sleep(1);
  await sleep(Math.floor(chance * 10_000) % 37);
  running.child.kill("SIGKILL");
  await running.ended;
  const phase = running.child.signalCode === "SIGKILL" ? "under way" : "over";
  const killed = await requestsSoFar(company);
  await goodBackfill(warehouse);
  const next = await requestsSoFar(company);
  const faults = [
    ...differences(history.tables, await tablesOf(warehouse)),
    ...(await warehouse.litter()).map(name => `left behind: ${name}`),
  ];
  const again = phase === "over" ? 0 : pagesAgain(killed, next);
  if (faults.length === 0) await warehouse.remove();
  return { requests: killed.length, phase, again, open: PAGES_AGAIN, faults };
}

function pagesAgain(killed: readonly RequestEntry[], next: readonly RequestEntry[]): number {
  const identity = ({ path, query }: RequestEntry) => `${path}?${new URLSearchParams(query)}`;
  const answered = (entry: RequestEntry) => entry.status === 200 && entry.template === "/ingested";
  const asked = new Set(next.filter(answered).map(identity));
  return killed.filter(entry => answered(entry) && asked.has(identity(entry))).length;
}
