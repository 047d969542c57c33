import { type Figure, median, type Warehouse } from "../figure.ts";
import type { Laboratory, Part } from "../laboratory.ts";
import { startService } from "../service.ts";
import { makeWarehouse } from "../warehouse.ts";
import { criticalPath } from "./latency.ts";

/** Few rows: what a stream costs without them is looked for. */
const SIZES = { orders: 12, invoices: 12, items: 8, findings: 8, ingested: 24 };
const BEYOND_MS = 2_500;
const TIMES = 3;

/** A night of all streams in which nothing has changed: what it takes beside its requests, and how often the database is asked. */
export const idle: Part = {
  name: "idle",
  async measure(laboratory) {
    const figures: Figure[] = [];
    for (const warehouse of laboratory.warehouses) figures.push(...(await measureIn(laboratory, warehouse)));
    return figures;
  },
};

async function measureIn(laboratory: Laboratory, warehouse: Warehouse): Promise<Figure[]> {
  const service = await startService({ sizes: SIZES });
  try {
    const place = await makeWarehouse(laboratory, warehouse, service, { streams: { preset: "all" } });
    const sync = (job: string) => place.run(`${warehouse} ${job}`, ["sync"]);
    laboratory.say(`  ${warehouse}`);
    await sync("first load of all streams");
    const rounds = [];
    for (let nth = 1; nth <= (laboratory.quick ? 1 : TIMES * laboratory.runs); nth++) {
      await service.requests();
      const { load, streams, statements } = await sync("unchanged night of all streams");
      const beyondMs = load.wallMs - criticalPath(await service.requests());
      rounds.push({ load, beyondMs, statements, streams: streams.size });
    }
    await place.remove();
    const { load, statements, streams } = rounds.toSorted((a, b) => a.beyondMs - b.beyondMs)[rounds.length >> 1]!;
    const base = { part: "idle", warehouse } as const;
    return [
      {
        ...{ ...base, figure: "unchanged night of all streams, beyond its requests", unit: "ms", load },
        measured: median(rounds.map(({ beyondMs }) => beyondMs)),
        target: { of: "measured", most: BEYOND_MS },
      },
      {
        ...{ ...base, figure: "statements of such a night", unit: "statements", measured: statements },
        against: { what: "streams", value: streams },
      },
    ];
  } finally {
    await service.close();
  }
}
