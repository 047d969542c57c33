import { cp, lstat, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { textsOf } from "../../src/message.ts";
import type { RunReport } from "../../src/sync/run/run.ts";
import { openDuckdbForReading } from "../../src/warehouse/duckdb/reading.ts";
import { streams } from "../../streams/index.ts";
import { type StillClock, stillClock } from "../support/clock.ts";
import { bench } from "../support/run.ts";
import { compareWithTruth } from "../support/truth.ts";
import { type Doorway, openDoorway } from "./doorway.ts";

/** A DuckDB warehouse and where everything of it lies. */
export interface Place {
  readonly folder: string;
  readonly path: string;
  readonly home: string;
  readonly work: string;
  /** A run; what is done before its first page comes in. */
  run(meanwhile?: () => Promise<void>): Promise<RunReport>;
  /** How many rows readers find. */
  seen(): Promise<number>;
  /** What readers find that the service has not, or the other way round, and what should not lie about. */
  wrong(): Promise<readonly string[]>;
}

/** A warehouse full of yesterday, and a service with something new. */
export interface FileEvening {
  readonly folder: string;
  readonly clock: StillClock;
  /** The same company's warehouse elsewhere. */
  at(folder: string): Place;
  /** A copy of what the evening left. */
  copy(): Promise<Place>;
  close(): Promise<void>;
}

/** How many rows the evening left. */
export const YESTERDAYS = 60;
const names = ["items"];
const config = { streams: { include: names, exclude: ["invoice*", "findings*", "ingested", "purchase*"] } };

export async function fileEvening(): Promise<FileEvening> {
  const sizes = { orders: 1, invoices: 1, items: YESTERDAYS, findings: 1, ingested: 1 };
  const clock = stillClock("2026-03-16T12:00:00.000Z");
  const simulator = await startSimulator({ sizes, now: clock.date });
  const way = await openDoorway(simulator);
  const folder = await mkdtemp(join(tmpdir(), "tributary-file-"));
  const at = (where: string) => placeAt(where, simulator, way, clock);
  const { exit_code, errors } = await at(folder).run();
  if (exit_code !== 0) throw new Error(textsOf(errors).join("\n"));
  clock.advance(86_400_000);
  simulator.update("items", 5);
  simulator.insert("items", 10);
  return {
    folder,
    clock,
    at,
    async copy() {
      const other = await mkdtemp(join(tmpdir(), "tributary-file-"));
      await cp(folder, other, { recursive: true, verbatimSymlinks: true });
      return at(other);
    },
    async close() {
      way.close();
      await simulator.close();
      await rm(folder, { recursive: true });
    },
  };
}

function placeAt(folder: string, simulator: Simulator, way: Doorway, clock: StillClock): Place {
  const path = join(folder, "w.duckdb");
  const home = join(folder, "w.versions");
  const warehouse = { destination: { type: "duckdb", path } };
  return {
    folder,
    path,
    home,
    work: join(home, "work.duckdb"),
    async run(meanwhile) {
      let met = false;
      way.watch(async asked => {
        if (met || asked !== "/items") return;
        met = true;
        await meanwhile?.();
      });
      return bench({ simulator: way.service, warehouse, clock, config }).sync({ names });
    },
    seen: async () => Number((await ask<{ n: number }>(path, "select count(*) as n from procurement.items"))[0]?.n),
    async wrong() {
      const view = { name: "duckdb" as const, query: <T>(text: string) => ask<T>(path, text) };
      const look = <T>(looking: (at: typeof view) => Promise<T>) => looking(view);
      const reader = { ...view, ...warehouse, look, drop: async () => undefined };
      const chosen = streams.filter(stream => names.includes(stream.name));
      const { differences } = await compareWithTruth(
        simulator,
        reader,
        chosen,
        clock.date().toISOString().slice(0, 10),
      );
      return [...differences, ...(await litter(folder, home)), ...((await lstat(path)).isSymbolicLink() ? [] : [path])];
    },
  };
}

async function litter(folder: string, home: string): Promise<string[]> {
  const own = (await readdir(home)).sort();
  return [
    ...(await readdir(folder)).filter(name => name !== "w.duckdb" && name !== "w.versions"),
    ...own.filter(name => !name.startsWith("20") && name !== "stage" && name !== "work.duckdb"),
    ...own.filter(name => name.startsWith("20")).slice(2),
  ];
}

async function ask<T>(path: string, text: string): Promise<T[]> {
  const reading = await openDuckdbForReading({ path, readers: "snapshot", stateSchema: "_tributary" });
  try {
    return (await sql<T>`${sql.raw(text)}`.execute(reading.db)).rows;
  } finally {
    await reading.close();
  }
}
