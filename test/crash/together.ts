import { performance } from "node:perf_hooks";
import { type Ended, type RunningSync, startSync } from "./killing.ts";
import type { Warehouse } from "./warehouse.ts";

/** Two syncs that were started together: the one that ended first, and the other one still under way. */
export interface Together {
  readonly refused: Ended;
  /** From the start of both to its end. */
  readonly ms: number;
  readonly working: RunningSync;
}

export async function startTogether(warehouse: Warehouse): Promise<Together> {
  const begun = performance.now();
  const both = [startSync(warehouse), startSync(warehouse)] as const;
  const first = await Promise.race(both.map(running => running.ended.then(() => running)));
  const ms = performance.now() - begun;
  return { refused: await first.ended, ms, working: first === both[0] ? both[1] : both[0] };
}

/** The process that a refused run named, if it said a sentence that names one and since when. */
export function holderNamed({ stderr }: Ended): number | undefined {
  const named = /run \S+ \(process (\d+) on \S+, `?tributary sync`?\).* since \d{4}-\d\d-\d\dT/.exec(stderr)?.[1];
  return named === undefined ? undefined : Number(named);
}
