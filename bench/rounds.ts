import type { Warehouse } from "./figure.ts";
import type { Laboratory } from "./laboratory.ts";

/** A job in each warehouse, as often as jobs are run, by turns: a slow moment of the machine meets all of them. */
export async function inTurns<T>(
  laboratory: Laboratory,
  what: string,
  round: (warehouse: Warehouse) => Promise<T>,
): Promise<ReadonlyMap<Warehouse, readonly T[]>> {
  const { warehouses, runs, say } = laboratory;
  const rounds = new Map<Warehouse, T[]>(warehouses.map(warehouse => [warehouse, []]));
  for (let run = 1; run <= runs; run++)
    for (const warehouse of warehouses) {
      say(`  ${what}, ${warehouse}, ${run} of ${runs}`);
      rounds.get(warehouse)!.push(await round(warehouse));
    }
  return rounds;
}
