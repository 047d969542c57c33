import type { AnyWarehouse, Figure } from "../figure.ts";
import type { Laboratory, Part } from "../laboratory.ts";
import { startService } from "../service.ts";
import { makeWarehouse, type Run } from "../warehouse.ts";
import { LOOKS, measureLook } from "./startup.ts";

const SIZES = [1_000_000, 5_000_000] as const;
const JOBS = [
  { name: "first load", changed: 0, of: "inserted" },
  { name: "unchanged night", changed: 0, of: "unchanged" },
  { name: "1 % changed", changed: 0.01, of: "updated" },
] as const;
/** A lake's first load to PostgreSQL's. */
const SLOWER = 2;
const MEMORY = 600e6;

interface Done {
  readonly run: Run;
  readonly bytes: number;
  readonly files: number;
  /** Data files that were not there before. */
  readonly written: number;
}

/** A list in a lake, beside the same in a DuckDB file and in PostgreSQL. */
export const lake: Part = {
  name: "lake",
  async measure(laboratory) {
    const figures: Figure[] = [];
    for (const rows of new Set(SIZES.map(size => laboratory.size(size, 1_000)))) {
      const done = new Map<AnyWarehouse, readonly Done[]>();
      for (const warehouse of [...laboratory.warehouses, "ducklake"] as const)
        done.set(warehouse, await jobsOf(laboratory, warehouse, rows));
      for (const [warehouse, jobs] of done) figures.push(...figuresOf(warehouse, rows, jobs, done.get("postgres")));
    }
    // Without a limit: the catalog's server is elsewhere.
    for (const { preset, history } of LOOKS)
      figures.push(await measureLook(laboratory, "lake", "ducklake", { preset, history }));
    return figures;
  },
};

async function jobsOf(laboratory: Laboratory, warehouse: AnyWarehouse, rows: number): Promise<readonly Done[]> {
  const service = await startService({ sizes: { items: rows } });
  const place = await makeWarehouse(laboratory, warehouse, service);
  const all: Done[] = [];
  try {
    for (const { name, changed, of } of JOBS) {
      const wanted = changed === 0 ? rows : Math.round(rows * changed);
      if (changed > 0) await service.update({ items: wanted });
      laboratory.say(`  ${rows.toLocaleString("en-US")} rows, ${warehouse}, ${name}`);
      const before = new Set(all.length === 0 ? [] : await place.dataFiles());
      const run = await place.run(`${warehouse} ${rows} ${name}`, ["sync", "items"]);
      const line = run.streams.get("items");
      if (line?.[of] !== wanted) throw new Error(`${name}: expected ${wanted} rows ${of}, got ${JSON.stringify(line)}`);
      const files = await place.dataFiles();
      const written = files.filter(file => !before.has(file)).length;
      all.push({ run, bytes: await place.size(), files: files.length, written });
    }
  } finally {
    await place.remove();
    await service.close();
  }
  return all;
}

function figuresOf(
  warehouse: AnyWarehouse,
  rows: number,
  jobs: readonly Done[],
  peer: readonly Done[] | undefined,
): Figure[] {
  const base = { part: "lake", warehouse } as const;
  const isLake = warehouse === "ducklake";
  return jobs.flatMap(({ run: { load }, bytes, files, written }, i): Figure[] => {
    const name = `${rows.toLocaleString("en-US")} rows, ${JOBS[i]!.name}`;
    const against = isLake && peer !== undefined ? { what: "postgres", value: peer[i]!.run.load.wallMs } : undefined;
    const time: Figure = {
      ...{ ...base, unit: "ms", figure: `${name}, time`, measured: load.wallMs, load },
      ...(against && { against }),
      ...(against && i === 0 ? { target: { of: "ratio", most: SLOWER } } : {}),
    };
    const size: Figure = { ...base, unit: "bytes", figure: `${name}, size`, measured: bytes };
    if (!isLake) return [time, size];
    return [
      time,
      {
        ...{ ...base, unit: "bytes", figure: `${name}, peak memory`, measured: load.peakBytes },
        target: { of: "measured", most: MEMORY },
      },
      size,
      { ...base, unit: "files", figure: `${name}, data files`, measured: files },
      {
        ...{ ...base, unit: "files", figure: `${name}, data files written`, measured: written },
        ...(JOBS[i]!.of === "unchanged" ? { target: { of: "measured", most: 0 } } : {}),
      },
    ];
  });
}
