/** What a simulation has seen, summed over scenarios. */
export interface Totals {
  scenarios: number;
  readonly runs: Record<string, number>;
  readonly faults: Record<string, number>;
  readonly deaths: Record<string, number>;
  readonly counts: Record<string, number>;
}

/** A count: a run was to die at a touch that it never came to. */
export const TOO_SHORT = "deaths that a run was too short for";

export const noTotals = (): Totals => ({ scenarios: 0, runs: {}, faults: {}, deaths: {}, counts: {} });

export function note(counts: Record<string, number>, name: string, by = 1): void {
  counts[name] = (counts[name] ?? 0) + by;
}

export function addTotals(to: Totals, from: Totals): void {
  to.scenarios += from.scenarios;
  for (const part of ["runs", "faults", "deaths", "counts"] as const)
    for (const [name, count] of Object.entries(from[part])) note(to[part], name, count);
}
