import { type Figure, median, type Warehouse } from "../figure.ts";
import type { Laboratory, Part } from "../laboratory.ts";
import { measureFloor } from "../measurement.ts";
import { type Requests, startService } from "../service.ts";
import { makeWarehouse } from "../warehouse.ts";

/** 80 ms ± 20 for each answer. */
const FAULTS = { latencyMs: 60, latencyJitterMs: 40 };
const IN_FLIGHT = 8;
const MOST = 1.05;

/** A first load of an empty warehouse, whose requests are what takes its time. */
interface Job {
  readonly name: string;
  readonly streams: readonly string[];
  /** Rows by list; no less than `least` of each whatever the scale. */
  readonly sizes: Readonly<Record<"orders" | "invoices" | "items" | "findings" | "ingested", number>>;
  readonly least: number;
  /** Where the floor finds the same lists, if it can read all that the job does. */
  readonly floor: readonly string[] | undefined;
}

/** Bound by its longest list, whose cursors can only be followed one after the other: as many orders as part `cpu` has. */
const lists: Job = {
  name: "five lists",
  streams: ["purchase_orders", "invoices", "items", "findings", "ingested"],
  sizes: { orders: 200_000, invoices: 60_000, items: 60_000, findings: 40_000, ingested: 60_000 },
  least: 100,
  floor: ["/po", "/reconciliation", "/items", "/findings", "/ingested"],
};

/** Bound by how much may be in flight: a request for each order and each invoice. */
const details: Job = {
  name: "core with its details",
  streams: ["preset:core"],
  sizes: { orders: 8_000, invoices: 8_000, items: 8_000, findings: 8_000, ingested: 8_000 },
  least: 40,
  floor: undefined,
};

/** Wall time of first loads, to the time that the service's answers take whoever asks. */
export const latency: Part = {
  name: "latency",
  async measure(laboratory) {
    const figures: Figure[] = [];
    for (const job of [lists, details])
      for (const warehouse of laboratory.warehouses) figures.push(...(await measureJob(laboratory, warehouse, job)));
    return figures;
  },
};

async function measureJob(laboratory: Laboratory, warehouse: Warehouse, job: Job): Promise<Figure[]> {
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
      const pathMs = criticalPath(await service.requests());
      await place.remove();
      const order = { lists: job.floor ?? [], sideBySide: true } as const;
      const floor = job.floor === undefined ? undefined : await measureFloor(laboratory, service, order);
      rounds.push({ load, pathMs, floor });
    }
    const wallMs = median(rounds.map(({ load }) => load.wallMs));
    const { load, pathMs } = rounds.toSorted((a, b) => a.load.wallMs - b.load.wallMs)[rounds.length >> 1]!;
    const base = { part: "latency", warehouse, unit: "ms", figure: `${job.name}, first load` } as const;
    const path = { what: "critical path", value: pathMs };
    const figures: Figure[] = [{ ...base, load, measured: wallMs, against: path, target: { of: "ratio", most: MOST } }];
    const floors = rounds.flatMap(({ floor }) => floor ?? []);
    // The machine's own lateness is in this one too.
    if (floors.length > 0)
      figures.push({
        ...base,
        measured: wallMs,
        against: { what: "fetch and parse", value: median(floors.map(floor => floor.wallMs)) },
      });
    return figures;
  } finally {
    await service.close();
  }
}

/**
 * What no client can go below, in ms: whose key it is has to be known before anything is asked for; then come the pages of the
 * longest list, each named by the one before, or all requests, as many at once as are allowed. Each takes what it took: the
 * service was asked how long it let them wait. (A detail needs the page that its row is on: with lists and details of these
 * sizes no such chain is the longest.)
 */
export function criticalPath({ counts, spentMs }: Requests): number {
  const all = Object.entries(spentMs);
  const total = all.reduce((sum, [, ms]) => sum + ms, 0);
  const requests = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const longestList = Math.max(...all.filter(([path]) => !path.includes("{")).map(([, ms]) => ms));
  const first = total / requests;
  return first + Math.max(longestList, (total - first) / IN_FLIGHT);
}
