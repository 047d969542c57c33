import { join } from "node:path";
import type { Readable } from "node:stream";
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
/** `read` passes lines on: rows a second at least, and memory that no number of rows makes grow. */
const READ_ROWS = 100_000;
const MOST_READING = 250e6;

/** A large table as Parquet and as lines: how long and in how much memory, whole and by month. */
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
  const loaded = async (job: string, more: readonly string[] = []): Promise<Load> => {
    laboratory.say(`  ${warehouse}, ${job}`);
    return loadOf(await place.look(`${warehouse} ${job}`, [...lake, ...more]), rows);
  };
  const whole = await loaded("export");
  const monthly = await loaded("export by month", ["--partition-by", "items=first_purchased:month"]);
  laboratory.say(`  ${warehouse}, read`);
  const read = await place.look(`${warehouse} read`, ["read", "items", "--no-sync"], countedLines);
  // Each row is a line, and so is each state between them.
  if (Number(read.stdout) <= rows) throw new Error(`read: expected ${rows} rows, got ${read.stdout} lines`);
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
    { ...{ ...base, unit: "ms", load: monthly }, figure: "by month, wall", measured: monthly.wallMs },
    { ...base, ...memory(MOST_SORTING), figure: "by month, peak memory", measured: monthly.peakBytes },
    {
      ...{ ...base, unit: "ms", figure: "read, wall", measured: read.wallMs },
      target: { of: "measured", most: (1000 * rows) / READ_ROWS },
    },
    { ...base, ...memory(MOST_READING), figure: "read, peak memory", measured: read.peakBytes },
  ];
}

function loadOf({ stdout, stderr, cpuMs, wallMs, peakBytes }: Measured, rows: number): Load {
  const report = JSON.parse(stdout) as { tables: { rows: number; bytes: number }[] };
  const [items] = report.tables;
  if (items?.rows !== rows) throw new Error(`expected ${rows} rows, got ${stdout}\n${stderr}`);
  return { rows, requests: 0, bytes: items.bytes, cpuMs, wallMs, peakBytes };
}

async function countedLines(stdout: Readable): Promise<string> {
  let lines = 0;
  for await (const piece of stdout as AsyncIterable<Buffer>)
    for (let at = piece.indexOf("\n"); at >= 0; at = piece.indexOf("\n", at + 1)) lines += 1;
  return String(lines);
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
