import type { Figure, Load, Warehouse } from "../figure.ts";
import type { Laboratory, Part } from "../laboratory.ts";
import { startService } from "../service.ts";
import { makeWarehouse } from "../warehouse.ts";

const SIZES = [10_000, 100_000, 200_000, 1_000_000] as const;
/** At a small scale sizes become the same one, which is measured once. */
const LEAST = 1_000;
const MEMORY: Readonly<Record<Warehouse, readonly [firstLoad: number, night: number]>> = {
  duckdb: [400e6, 300e6],
  postgres: [150e6, 150e6],
};
/** The largest to 200,000 rows. */
const FLAT = 1.1;
/** A row's time at the largest, to that at 100,000. */
const SLOWER = 1.2;

interface Pair {
  readonly first: Load;
  readonly night: Load;
}

/** Peak memory and time a row of one list as it grows a hundredfold. */
export const growth: Part = {
  name: "growth",
  async measure(laboratory) {
    const figures: Figure[] = [];
    const pairs = new Map<string, Pair>();
    for (const rows of new Set(SIZES.map(size => laboratory.size(size, LEAST)))) {
      const service = await startService({ sizes: { items: rows } });
      try {
        for (const warehouse of laboratory.warehouses) {
          laboratory.say(`  ${rows.toLocaleString("en-US")} rows, ${warehouse}`);
          const place = await makeWarehouse(laboratory, warehouse, service);
          const sync = async (job: string) => (await place.run(`${warehouse} ${job}`, ["sync", "items"])).load;
          pairs.set(`${warehouse} ${rows}`, { first: await sync("first load"), night: await sync("unchanged night") });
          await place.remove();
        }
      } finally {
        await service.close();
      }
    }
    for (const warehouse of laboratory.warehouses)
      for (const job of ["first", "night"] as const) figures.push(...figuresOf(laboratory, warehouse, job, pairs));
    return figures;
  },
};

function figuresOf(
  laboratory: Laboratory,
  warehouse: Warehouse,
  of: keyof Pair,
  pairs: ReadonlyMap<string, Pair>,
): Figure[] {
  const job = of === "first" ? "first load" : "unchanged night";
  const rowsOf = (size: number) => laboratory.size(size, LEAST);
  const at = (size: number) => pairs.get(`${warehouse} ${rowsOf(size)}`)![of];
  const count = (size: number) => rowsOf(size).toLocaleString("en-US");
  const timeOf = (size: number) => at(size).wallMs / at(size).rows;
  const [small, compared, usual, largest] = SIZES;
  const base = { part: "growth", warehouse } as const;
  return [
    ...SIZES.map(
      (size): Figure => ({
        ...{ ...base, unit: "bytes", load: at(size) },
        figure: `${job}, peak memory at ${count(size)} rows`,
        measured: at(size).peakBytes,
        ...(size >= usual ? { target: { of: "measured", most: MEMORY[warehouse][of === "first" ? 0 : 1] } } : {}),
      }),
    ),
    {
      ...{ ...base, unit: "bytes" },
      figure: `${job}, peak memory at ${count(largest)} rows`,
      measured: at(largest).peakBytes,
      against: { what: count(usual), value: at(usual).peakBytes },
      target: { of: "ratio", most: FLAT },
    },
    {
      ...{ ...base, unit: "ms" },
      figure: `${job}, time a row at ${count(small)} rows`,
      measured: timeOf(small),
    },
    {
      ...{ ...base, unit: "ms" },
      figure: `${job}, time a row at ${count(largest)} rows`,
      measured: timeOf(largest),
      against: { what: count(compared), value: timeOf(compared) },
      target: { of: "ratio", most: SLOWER },
    },
  ];
}
