import { once } from "node:events";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import type { RequestEntry, Simulator } from "../../simulator/simulator.ts";
import { night, openCompany, type Sizes } from "./company.ts";
import { goodSync, type Instant, killedSync, type Phase, reach, startSync } from "./killing.ts";
import { noRepeats, type Repeats, repeatsOf } from "./repeats.ts";
import { differences, type Tables, tablesOf } from "./tables.ts";
import type { MakeWarehouse, More, Warehouse } from "./warehouse.ts";

/** A warehouse's first load, or the run after a night in which rows were changed, added and deleted. */
export type Scenario = "first" | "night";

/** An undisturbed run: what every other one has to end with, and how long one may choose an instant from. */
interface Undisturbed {
  readonly tables: Tables;
  readonly counters: readonly string[];
  readonly requests: number;
  /** From its first request to its end. */
  readonly ms: number;
}

/** One service, and the undisturbed run of each scenario. */
export interface Yard {
  readonly company: Simulator;
  readonly undisturbed: Readonly<Record<Scenario, Undisturbed>>;
  /** A warehouse that is about to see the scenario. */
  warehouse(scenario: Scenario): Promise<Warehouse>;
  close(): Promise<void>;
}

/** No audit: every detail that is fetched twice is then one too many. */
export const strict = { streams: { defaults: { details: { audit: 0 } } } } satisfies More;

export async function openYard(make: MakeWarehouse, sizes: Sizes, more: More = {}): Promise<Yard> {
  const company = await openCompany(sizes);
  const before = await make(company.url, { ...strict, ...more });
  await goodSync(before);
  night(company);
  const warehouse = (scenario: Scenario) =>
    scenario === "night" ? before.copy() : make(company.url, { ...strict, ...more });
  const undisturbed = { first: await leftAlone("first"), night: await leftAlone("night") };
  return {
    company,
    undisturbed,
    warehouse,
    async close() {
      await before.remove();
      await company.close();
    },
  };

  async function leftAlone(scenario: Scenario): Promise<Undisturbed> {
    const made = await warehouse(scenario);
    company.requests.clear();
    const running = startSync(made);
    await reach(running, company, { by: "requests", value: 1 });
    const begun = performance.now();
    if (running.child.exitCode === null) await once(running.child, "exit");
    const ms = performance.now() - begun;
    const { code, stderr } = await running.ended;
    if (code !== 0) throw new Error(`expected the undisturbed run to succeed, got exit code ${code}:\n${stderr}`);
    const { total: requests } = company.requests;
    const result = { tables: await tablesOf(made), counters: await countersOf(made), requests, ms };
    await made.remove();
    return result;
  }
}

/** An instant of a scenario's run: the first half of all chances by request, the second by time. `chance` is in 0–1. */
export function instantOf(yard: Yard, scenario: Scenario, chance: number): Instant {
  const { requests, ms } = yard.undisturbed[scenario];
  if (chance < 0.5) return { by: "requests", value: 1 + Math.floor(chance * 2 * requests) };
  return { by: "ms", value: Math.floor((chance - 0.5) * 2 * ms) };
}

export interface Outcome {
  readonly phase: Phase;
  /** What is wrong after the next run; empty: nothing. */
  readonly faults: readonly string[];
  readonly repeats: Repeats;
}

/** Kills a sync at an instant and lets the next one run to its end. */
export async function trial(yard: Yard, scenario: Scenario, instant: Instant): Promise<Outcome> {
  const { company } = yard;
  const warehouse = await yard.warehouse(scenario);
  company.requests.clear();
  const phase = await killedSync(warehouse, company, instant);
  const killed = await requestsSoFar(company);
  const { stderr } = await goodSync(warehouse, ["--log-level", "debug"]);
  const next = await requestsSoFar(company);
  const outcome = isTorn(stderr)
    ? { phase, faults: differences(yard.undisturbed[scenario].tables, await tablesOf(warehouse)), repeats: noRepeats }
    : {
        phase,
        faults: [...(await faultsOf(yard, scenario, warehouse)), ...(stderr.match(/DuckDB says: [^"]*/g) ?? [])],
        repeats: await repeatsOf(warehouse, killed, next),
      };
  // What a failed trial leaves is kept to be looked at.
  if (outcome.faults.length === 0) await warehouse.remove();
  else process.stderr.write(`${warehouse.config}\n${stderr}\n`);
  return outcome;
}

/**
 * Whether DuckDB itself left a file that it cannot read: about one kill of a thousand, also of a process that does nothing but
 * write with it, interrupts the writing of a block in its place. The run after goes on from the newest version, and reads again
 * what was stored since: tables have to be right, what was counted and asked for is that of two runs.
 */
const isTorn = (stderr: string): boolean => /was damaged .*DuckDB says: .*checksum/.test(stderr);

/** What is wrong with a warehouse that should be as the undisturbed run left it. */
export async function faultsOf(yard: Yard, scenario: Scenario, warehouse: Warehouse): Promise<string[]> {
  const { tables, counters } = yard.undisturbed[scenario];
  const found = await countersOf(warehouse);
  return [
    ...differences(tables, await tablesOf(warehouse)),
    ...(await warehouse.litter()).map(name => `left behind: ${name}`),
    ...counters.filter(line => !found.includes(line)).map(line => `expected the counters ${line}, got ${found}`),
    ...(await unbalanced(warehouse)),
  ];
}

/** Rows written by all runs together; each is written once, whichever run does it. */
async function countersOf(warehouse: Warehouse): Promise<string[]> {
  const rows = await warehouse.state(
    `select stream, sum(inserted), sum(updated), sum(deleted) from _tributary.stream_runs
       where stream <> 'findings_summary' group by stream order by stream`,
  );
  return rows.map(row => row.map(String).join(" "));
}

/** What a run that succeeded has read or carried over, it has counted as something. */
async function unbalanced(warehouse: Warehouse): Promise<string[]> {
  const rows = await warehouse.state(
    `select stream, rows_read, carried, inserted, updated, unchanged, repeated, rejected from _tributary.stream_runs
       where status = 'succeeded' and rows_read + carried <> inserted + updated + unchanged + repeated + rejected`,
  );
  return rows.map(row => `counters that don't add up: ${row.map(String).join(" ")}`);
}

/** The log of requests, emptied; those whose client was killed end with their sockets. */
export async function requestsSoFar({ requests }: Simulator): Promise<readonly RequestEntry[]> {
  while (requests.entries.length < requests.total) await sleep(2);
  const entries = [...requests.entries];
  requests.clear();
  return entries;
}
