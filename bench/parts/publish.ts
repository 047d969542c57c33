import type { Figure, Warehouse } from "../figure.ts";
import type { Part } from "../laboratory.ts";
import { startService } from "../service.ts";
import { makeWarehouse, type Run } from "../warehouse.ts";

const ROWS = 1_000_000;
/** What is done with a share of the rows changed; DuckDB's limits count the snapshot too. */
const SHARES = [
  { name: "nothing changed", share: 0, most: { duckdb: 2_000, postgres: 4_000 } },
  { name: "1 % changed", share: 0.01, most: { duckdb: 3_000, postgres: 3_000 } },
  { name: "everything changed", share: 1, most: undefined },
] as const;

/** Time of a list's merge into its table, and of the version that readers get: with nothing, little and everything changed. */
export const publish: Part = {
  name: "publish",
  async measure(laboratory) {
    const rows = laboratory.size(ROWS, 1_000);
    const figures: Figure[] = [];
    for (const warehouse of laboratory.warehouses) {
      const service = await startService({ sizes: { items: rows } });
      const place = await makeWarehouse(laboratory, warehouse, service);
      const sync = (job: string) => {
        laboratory.say(`  ${rows.toLocaleString("en-US")} rows, ${warehouse}, ${job}`);
        return place.run(`${warehouse} ${job}`, ["sync", "items"]);
      };
      try {
        figures.push(...figuresOf(warehouse, "first load", await sync("first load")));
        for (const { name, share, most } of SHARES) {
          const changed = Math.round(rows * share);
          if (changed > 0) await service.update({ items: changed });
          const run = await sync(name);
          const line = run.streams.get("items");
          if (line?.updated !== changed)
            throw new Error(`${name}: expected ${changed} rows updated, got ${JSON.stringify(line)}`);
          figures.push(...figuresOf(warehouse, name, run, most?.[warehouse]));
        }
      } finally {
        await place.remove();
        await service.close();
      }
    }
    return figures;
  },
};

function figuresOf(warehouse: Warehouse, name: string, run: Run, most?: number): Figure[] {
  const merge = between(run, "publishing", "published");
  // A night without news shows nothing.
  const snapshot = between(run, "releasing to readers", "released");
  const base = { part: "publish", warehouse, unit: "ms" } as const;
  const target = most === undefined ? {} : { target: { of: "measured", most } as const };
  if (warehouse === "postgres")
    return [{ ...base, figure: `${name}, merge`, measured: merge, load: run.load, ...target }];
  return [
    { ...base, figure: `${name}, merge`, measured: merge, load: run.load },
    { ...base, figure: `${name}, snapshot`, measured: snapshot },
    { ...base, figure: `${name}, merge and snapshot`, measured: merge + snapshot, ...target },
  ];
}

/** From the first time the one was said until the other was said last. */
function between({ said }: Run, from: string, to: string): number {
  const begun = said.find(({ message }) => message === from);
  const ended = said.findLast(({ message }) => message === to);
  return begun === undefined || ended === undefined ? 0 : ended.at - begun.at;
}
