import { join } from "node:path";
import { buildCommand } from "../build.ts";
import { type Figure, type Load, median, type Warehouse } from "../figure.ts";
import type { Laboratory, Part } from "../laboratory.ts";
import { inTurns } from "../rounds.ts";
import { type Service, startService } from "../service.ts";
import { makeWarehouse } from "../warehouse.ts";

const ROWS = 200;
/** Short jobs, and small differences: so many more of them than of the others, for a calm median. */
const TIMES = 5;

/** The same sync by the command as it is built, and by one with all of undici in it. */
interface Round {
  readonly lean: Load;
  readonly whole: Load;
}

/** What it saves to bundle two classes of undici instead of all of it (rolldown.config.ts): a sync that finds nothing new. */
export const undici: Part = {
  name: "undici",
  async measure(laboratory) {
    const whole = await buildCommand(join(laboratory.folder, "whole-undici"), []);
    const service = await startService({ sizes: { items: ROWS } });
    const runs = laboratory.quick ? 1 : TIMES * laboratory.runs;
    const round = (warehouse: Warehouse) => roundOf(laboratory, warehouse, service, whole);
    const rounds = await inTurns({ ...laboratory, runs }, "lean and whole", round).finally(() => service.close());
    return laboratory.warehouses.flatMap(warehouse => figuresOf(warehouse, rounds.get(warehouse)!));
  },
};

async function roundOf(laboratory: Laboratory, warehouse: Warehouse, service: Service, cli: string): Promise<Round> {
  const withWhole = { ...laboratory, built: { ...laboratory.built, cli } };
  const lean = await syncAgain(laboratory, warehouse, service, "lean");
  return { lean, whole: await syncAgain(withWhole, warehouse, service, "whole") };
}

async function syncAgain(
  laboratory: Laboratory,
  warehouse: Warehouse,
  service: Service,
  undici: string,
): Promise<Load> {
  const place = await makeWarehouse(laboratory, warehouse, service);
  const sync = (job: string) => place.run(`${warehouse} ${job}, ${undici} undici`, ["sync", "items"]);
  try {
    await sync("first load");
    return (await sync("nothing to do")).load;
  } finally {
    await place.remove();
  }
}

function figuresOf(warehouse: Warehouse, rounds: readonly Round[]): Figure[] {
  const middle = (of: keyof Round, what: "cpuMs" | "peakBytes") => median(rounds.map(round => round[of][what]));
  const load = rounds.map(({ lean }) => lean).toSorted((a, b) => a.cpuMs - b.cpuMs)[rounds.length >> 1]!;
  const beside = (what: "cpuMs" | "peakBytes") => ({
    measured: middle("lean", what),
    against: { what: "all of undici", value: middle("whole", what) },
  });
  const base = { part: "undici", warehouse, load } as const;
  return [
    { ...base, figure: "sync with nothing to do, CPU", unit: "ms", ...beside("cpuMs") },
    { ...base, figure: "sync with nothing to do, peak memory", unit: "bytes", ...beside("peakBytes") },
  ];
}
