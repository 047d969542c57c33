import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import type { Figure, Load, Warehouse } from "../figure.ts";
import type { Laboratory, Part } from "../laboratory.ts";
import type { Measured } from "../measurement.ts";
import { startService } from "../service.ts";
import { type BenchWarehouse, makeWarehouse } from "../warehouse.ts";

const ROWS = 1_000_000;
/** DuckDB is given 256 MB; Node, the driver and what DuckDB doesn't count come on top: less for whole tables than for sorted ones. */
const MOST_MEMORY = 512e6;
const MOST_SORTING = 768e6;

/** A large table as Parquet: how long and in how much memory, whole and by month, and what it costs when nothing changed. */
export const exports: Part = {
  name: "exports",
  async measure(laboratory) {
    const rows = laboratory.size(ROWS, 1_000);
    const figures: Figure[] = [];
    for (const warehouse of laboratory.warehouses) {
      const service = await startService({ sizes: { items: rows } });
      const place = await makeWarehouse(laboratory, warehouse, service);
      try {
        laboratory.say(`  ${rows.toLocaleString("en-US")} rows, ${warehouse}`);
        await place.run(`${warehouse} first load`, ["sync", "items"]);
        figures.push(...(await figuresOf(laboratory, place, warehouse, rows)));
      } finally {
        await place.remove();
        await service.close();
      }
    }
    return figures;
  },
};

async function figuresOf(
  laboratory: Laboratory,
  place: BenchWarehouse,
  warehouse: Warehouse,
  rows: number,
): Promise<Figure[]> {
  const bare = await bareCopy(laboratory, place, warehouse);
  const lake = ["export", "items", "--out", join(place.folder, "lake")];
  const loaded = async (job: string, status: string, more: readonly string[] = []): Promise<Load> => {
    laboratory.say(`  ${warehouse}, ${job}`);
    return loadOf(await place.look(`${warehouse} ${job}`, [...lake, ...more]), rows, status);
  };
  const whole = await loaded("export", "written");
  const again = await loaded("export without changes", "unchanged");
  const monthly = await loaded("export by month", "written", ["--partition-by", "items=first_purchased:month"]);
  const base = { part: "exports", warehouse } as const;
  const memory = (most: number) => ({ unit: "bytes", target: { of: "measured", most } }) as const;
  return [
    {
      ...{ ...base, unit: "rows/s", load: whole },
      figure: "export, rows a second",
      measured: (1000 * rows) / whole.wallMs,
      against: { what: "bare COPY", value: (1000 * rows) / bare },
    },
    { ...base, ...memory(MOST_MEMORY), figure: "export, peak memory", measured: whole.peakBytes },
    { ...{ ...base, unit: "ms", load: again }, figure: "nothing changed, wall", measured: again.wallMs },
    { ...{ ...base, unit: "ms", load: monthly }, figure: "by month, wall", measured: monthly.wallMs },
    { ...base, ...memory(MOST_SORTING), figure: "by month, peak memory", measured: monthly.peakBytes },
  ];
}

function loadOf({ stdout, stderr, cpuMs, wallMs, peakBytes }: Measured, rows: number, status: string): Load {
  const report = JSON.parse(stdout) as { status: string; tables: { rows: number; bytes: number }[] };
  const [items] = report.tables;
  if (report.status !== status || items?.rows !== rows)
    throw new Error(`expected ${rows} rows, ${status}, got ${stdout}\n${stderr}`);
  return { rows, requests: 0, bytes: items.bytes, cpuMs, wallMs, peakBytes };
}

/** Milliseconds of the database's own COPY with nothing around it; one thread, as the export has. */
async function bareCopy(laboratory: Laboratory, place: BenchWarehouse, warehouse: Warehouse): Promise<number> {
  laboratory.say(`  ${warehouse}, bare COPY`);
  const started = performance.now();
  if (warehouse === "postgres") {
    await place.execute("copy procurement.items to '/dev/null' (format csv)");
    return performance.now() - started;
  }
  const instance = await DuckDBInstance.create(join(place.folder, "warehouse.duckdb"), {
    access_mode: "READ_ONLY",
    threads: "1",
  });
  const connection = await instance.connect();
  try {
    const file = join(place.folder, "bare.parquet").replaceAll("'", "''");
    await connection.run(`copy procurement.items to '${file}' (format parquet, compression zstd)`);
    return performance.now() - started;
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}
