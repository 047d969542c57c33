import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createDatabase } from "../test/support/database.ts";
import { type Laboratory, measure } from "./measurement.ts";
import type { Service } from "./service.ts";

export const warehouses = ["duckdb", "postgres"] as const;
export type Warehouse = (typeof warehouses)[number];
export const nights = ["first load", "unchanged night"] as const;
/** `floor`, or a warehouse and what is done to it. */
export type JobName = "floor" | `${Warehouse} ${(typeof nights)[number]}`;

/** One job, once. CPU includes the helper processes a job started. */
export interface Result {
  readonly job: JobName;
  readonly rows: number;
  readonly requests: number;
  readonly bytes: number;
  readonly cpuMs: number;
  readonly helperCpuMs: number;
  readonly wallMs: number;
  readonly peakBytes: number;
}

interface Counts {
  readonly rows: number;
  readonly requests: number;
  readonly bytes: number;
}

/** Fetches and parses every page, nothing else. */
export async function runFloor(laboratory: Laboratory, service: Service): Promise<Result> {
  const { stdout, ...usage } = await measure(laboratory, "floor", [laboratory.built.floor, service.url, service.key]);
  const counts = JSON.parse(stdout) as Counts;
  return result("floor", counts, usage);
}

/** A first load into a new warehouse and an unchanged night on it. `postgresUrl` is a server's, where a database may be made. */
export async function runPair(
  laboratory: Laboratory,
  service: Service,
  rows: number,
  warehouse: Warehouse,
  postgresUrl: string,
): Promise<Result[]> {
  const folder = join(laboratory.folder, "warehouse");
  await mkdir(folder);
  const database = warehouse === "postgres" ? await createDatabase(postgresUrl) : undefined;
  const destination =
    database === undefined ? { type: "duckdb", path: "./warehouse.duckdb" } : { type: "postgres", url: database.url };
  const config = join(folder, "config.yaml");
  // JSON is YAML.
  await writeFile(
    config,
    JSON.stringify({ api: { base_url: service.url, key: service.key }, company: "acme", destination }),
  );
  try {
    const first = await runSync(laboratory, config, `${warehouse} first load`, { inserted: rows, unchanged: 0 });
    const night = await runSync(laboratory, config, `${warehouse} unchanged night`, { inserted: 0, unchanged: rows });
    return [first, night];
  } finally {
    await database?.drop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function runSync(
  laboratory: Laboratory,
  config: string,
  job: JobName,
  expected: { readonly inserted: number; readonly unchanged: number },
): Promise<Result> {
  const argv = [laboratory.built.cli, "sync", "items", "--config", config, "--json", "--no-progress"];
  const { stdout, ...usage } = await measure(laboratory, job, argv);
  const { streams } = JSON.parse(stdout) as { streams: (typeof expected & Counts & { rows_read: number })[] };
  const told = streams[0];
  if (told === undefined || told.inserted !== expected.inserted || told.unchanged !== expected.unchanged)
    throw new Error(`${job}: expected ${JSON.stringify(expected)}, got ${stdout}`);
  return result(job, { ...told, rows: told.rows_read }, usage);
}

function result(job: JobName, { rows, requests, bytes }: Counts, usage: Omit<Result, "job" | keyof Counts>): Result {
  return { job, rows, requests, bytes, ...usage, cpuMs: usage.cpuMs + usage.helperCpuMs };
}
