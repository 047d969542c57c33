import { type Figure, median, type Warehouse } from "../figure.ts";
import type { Laboratory, Part } from "../laboratory.ts";
import { startService } from "../service.ts";
import { makeWarehouse } from "../warehouse.ts";

/** 80 ms ± 20 for each answer. */
const FAULTS = { latencyMs: 60, latencyJitterMs: 40 };
const LATENCY_MS = 80;
const IN_FLIGHT = 8;
const MOST = 1.05;

/** A first load of an empty warehouse, whose requests are what takes its time. */
interface Job {
  readonly name: string;
  readonly streams: readonly string[];
  /** Rows by list; no less than `least` of each whatever the scale. */
  readonly sizes: Readonly<Record<"orders" | "invoices" | "items" | "findings" | "ingested", number>>;
  readonly least: number;
}

/** Bound by its longest list, whose cursors can only be followed one after the other. */
const lists: Job = {
  name: "five lists",
  streams: ["purchase_orders", "invoices", "items", "findings", "ingested"],
  sizes: { orders: 30_000, invoices: 20_000, items: 20_000, findings: 15_000, ingested: 20_000 },
  least: 100,
};

/** Bound by how much may be in flight: a request for each order and each invoice. */
const details: Job = {
  name: "core with its details",
  streams: ["preset:core"],
  sizes: { orders: 1_200, invoices: 1_200, items: 1_200, findings: 1_200, ingested: 1_200 },
  least: 40,
};

/** Wall time of first loads, to the time that the service's answers take whoever asks. */
export const latency: Part = {
  name: "latency",
  async measure(laboratory) {
    const figures: Figure[] = [];
    for (const job of [lists, details])
      for (const warehouse of laboratory.warehouses) figures.push(await measureJob(laboratory, warehouse, job));
    return figures;
  },
};

async function measureJob(laboratory: Laboratory, warehouse: Warehouse, job: Job): Promise<Figure> {
  const sizes = Object.fromEntries(
    Object.entries(job.sizes).map(([list, rows]) => [list, laboratory.size(rows, job.least)]),
  );
  const service = await startService({ sizes, faults: FAULTS });
  try {
    const rounds = [];
    for (let nth = 1; nth <= laboratory.runs; nth++) {
      laboratory.say(`  ${job.name}, ${warehouse}, ${nth} of ${laboratory.runs}`);
      const place = await makeWarehouse(laboratory, warehouse, service);
      await service.requests();
      const { load } = await place.run(`${warehouse} ${job.name}`, ["sync", ...job.streams]);
      rounds.push({ load, pathMs: criticalPath(await service.requests()) });
      await place.remove();
    }
    const wallMs = median(rounds.map(({ load }) => load.wallMs));
    const { load, pathMs } = rounds.toSorted((a, b) => a.load.wallMs - b.load.wallMs)[rounds.length >> 1]!;
    return {
      ...{ part: "latency", warehouse, unit: "ms", load },
      figure: `${job.name}, first load`,
      measured: wallMs,
      against: { what: "critical path", value: pathMs },
      target: { of: "ratio", most: MOST },
    };
  } finally {
    await service.close();
  }
}

/**
 * What no client can go below, in ms: whose key it is has to be known before anything is asked for; then come the pages of the
 * longest list, each named by the one before, or all requests, as many at once as are allowed. (A detail needs the page that
 * its row is on: with lists and details of these sizes no such chain is the longest.)
 */
export function criticalPath(requests: Readonly<Record<string, number>>, latencyMs = LATENCY_MS): number {
  const all = Object.entries(requests);
  const total = all.reduce((sum, [, count]) => sum + count, 0);
  const longestList = Math.max(...all.filter(([path]) => !path.includes("{")).map(([, count]) => count));
  return latencyMs * (1 + Math.max(longestList, (total - 1) / IN_FLIGHT));
}
