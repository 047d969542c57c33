import { hostname } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/clock.ts";
import { loadConfig } from "../../src/config/load.ts";
import { versionedBy } from "../../src/config/selection.ts";
import { openUnseen } from "../../src/warehouse/connect/open.ts";
import { lookAt } from "../../src/warehouse/schema/look.ts";
import { streams } from "../../streams/index.ts";
import { type AnyWarehouse, type Figure, median, type Warehouse } from "../figure.ts";
import type { Laboratory, Part } from "../laboratory.ts";
import { measure } from "../measurement.ts";
import { startService } from "../service.ts";
import { makeWarehouse } from "../warehouse.ts";
import { criticalPath } from "./latency.ts";

/** Short jobs: so many more of them than of the others, for a calm median. */
const TIMES = 3;
const HELP_MS = 300;

const LATENCY_MS = 50;
const ROWS = 1_000;
const LEAST = 40;
const IDLE_MS = 2_000;
/** How long the look at the database may take at the beginning of a run, in ms. With histories it lists functions too. */
export const LOOKS = [
  { preset: "core", history: false, most: 10 },
  { preset: "core", history: true },
  { preset: "all", history: false, most: 50 },
] as const;
const TIMES_LOOKED = 15;

/** What is waited for before there is anything to do. */
export const startup: Part = {
  name: "startup",
  async measure(laboratory) {
    const idle: Figure[] = [];
    for (const warehouse of laboratory.warehouses) idle.push(await measureIdle(laboratory, warehouse));
    const looks: Figure[] = [];
    for (const warehouse of laboratory.warehouses)
      for (const look of LOOKS) looks.push(await measureLook(laboratory, "startup", warehouse, look));
    return [await measureHelp(laboratory), ...idle, ...looks];
  },
};

const timesOf = ({ quick, runs }: Laboratory): number => (quick ? 1 : TIMES * runs);

async function measureHelp(laboratory: Laboratory): Promise<Figure> {
  const walls: number[] = [];
  for (let nth = 1; nth <= timesOf(laboratory); nth++)
    walls.push((await measure(laboratory, "help", [laboratory.built.cli, "--help"])).wallMs);
  return {
    ...{ part: "startup", figure: "tributary --help", unit: "ms" },
    measured: median(walls),
    target: { of: "measured", most: HELP_MS },
  };
}

/** A sync of the core streams, with their details, that finds nothing new; what its requests take is subtracted. */
async function measureIdle(laboratory: Laboratory, warehouse: Warehouse): Promise<Figure> {
  const rows = laboratory.size(ROWS, LEAST);
  const sizes = { orders: rows, invoices: rows, items: rows, findings: rows, ingested: rows };
  const service = await startService({ sizes, faults: { latencyMs: LATENCY_MS } });
  try {
    const place = await makeWarehouse(laboratory, warehouse, service);
    const sync = (job: string) => place.run(`${warehouse} ${job}`, ["sync", "preset:core"]);
    laboratory.say(`  ${warehouse}`);
    await sync("first load");
    const rounds = [];
    for (let nth = 1; nth <= timesOf(laboratory); nth++) {
      await service.requests();
      const { load } = await sync("nothing to do");
      rounds.push({ load, beyondMs: load.wallMs - criticalPath(await service.requests()) });
    }
    await place.remove();
    const { load } = rounds.toSorted((a, b) => a.beyondMs - b.beyondMs)[rounds.length >> 1]!;
    return {
      ...{ part: "startup", warehouse, unit: "ms", load },
      figure: "sync with nothing to do, beyond its requests",
      measured: median(rounds.map(({ beyondMs }) => beyondMs)),
      target: { of: "measured", most: IDLE_MS },
    };
  } finally {
    await service.close();
  }
}

/** The one statement about tables and views, and the read of the facts, of a run that finds both as they were. */
export async function measureLook(
  laboratory: Laboratory,
  part: string,
  warehouse: AnyWarehouse,
  { preset, history, most }: { readonly preset: string; readonly history: boolean; readonly most?: number },
): Promise<Figure> {
  const rows = 10;
  const service = await startService({
    sizes: { orders: rows, invoices: rows, items: rows, findings: rows, ingested: rows },
  });
  try {
    const chosen = { streams: { preset, defaults: { history } } };
    const place = await makeWarehouse(laboratory, warehouse, service, chosen);
    const sync = (job: string) => place.run(`${warehouse} ${job}`, ["sync"]);
    await sync(`first load of preset ${preset}`);
    const { load } = await sync(`unchanged night of preset ${preset}`);
    const { config } = await loadConfig(join(place.folder, "config.yaml"), {});
    const holder = { pid: process.pid, host: hostname(), command: "bench", startedAt: new Date().toISOString() };
    const looking = {
      ...{ clock: systemClock, readers: config.destination.grantSelectTo },
      functions: versionedBy(streams, config.streams).size > 0,
    };
    const opened = await openUnseen(config.destination, { runId: "bench", holder, clock: systemClock }, 0);
    const walls: number[] = [];
    try {
      for (let nth = 0; nth < TIMES_LOOKED; nth++) {
        const begun = performance.now();
        await lookAt(opened, looking);
        walls.push(performance.now() - begun);
      }
    } finally {
      await opened.close();
    }
    await place.remove();
    return {
      ...{ part, warehouse, unit: "ms", load, measured: median(walls) },
      figure: `the look at the database, preset ${preset}${history ? ", with histories" : ""}`,
      ...(most === undefined ? {} : { target: { of: "measured", most } }),
    };
  } finally {
    await service.close();
  }
}
