import { type Figure, median, type Warehouse } from "../figure.ts";
import type { Laboratory, Part } from "../laboratory.ts";
import { type Service, startService } from "../service.ts";
import { type BenchWarehouse, makeWarehouse } from "../warehouse.ts";

/** Streams of which the run log speaks; with a run every 40 minutes nothing is older than a year. */
const STREAMS = 160;
/** Runs of each stream that are marked `recent`. */
const RECENT = 30;
/** As many recent rows as with many: what is older is all that the two warehouses differ in. */
const FEW = RECENT * STREAMS;
const MANY = 2_000_000;
const APART = "40 minutes";
const TIMES = 3;
const MOST = 1.25;

const jobs = ["status", "sync"] as const;
type Walls = Record<(typeof jobs)[number], number>;

/** A look at how it is, and a run that finds nothing new, must not take longer for all that ran before. */
export const records: Part = {
  name: "records",
  async measure(laboratory) {
    const service = await startService({ sizes: { orders: 0, invoices: 0, items: 40, findings: 0, ingested: 0 } });
    try {
      const figures: Figure[] = [];
      for (const warehouse of laboratory.warehouses) {
        const many = laboratory.size(MANY, FEW);
        const places: BenchWarehouse[] = [];
        for (const rows of [FEW, many]) places.push(await placeWith(laboratory, warehouse, service, rows));
        const [few, all] = await wallsIn(laboratory, warehouse, places);
        for (const place of places) await place.remove();
        for (const job of jobs)
          figures.push({
            ...{ part: "records", warehouse, unit: "ms" },
            figure: `${job}, ${many.toLocaleString("en-US")} rows in stream_runs`,
            measured: all![job],
            against: { what: `${FEW.toLocaleString("en-US")} rows`, value: few![job] },
            target: { of: "ratio", most: MOST },
          });
      }
      return figures;
    } finally {
      await service.close();
    }
  },
};

/** A warehouse whose run log has so many rows. */
async function placeWith(
  laboratory: Laboratory,
  warehouse: Warehouse,
  service: Service,
  rows: number,
): Promise<BenchWarehouse> {
  const config = warehouse === "duckdb" ? { destination: { readers: "direct" } } : {};
  const place = await makeWarehouse(laboratory, warehouse, service, config);
  laboratory.say(`  ${warehouse}, ${rows} rows`);
  await place.run(`${warehouse} first load`, ["sync", "items"]);
  const zeros = [
    "requests",
    "retries",
    "pages",
    "rows_read",
    "inserted",
    "updated",
    "unchanged",
    "repeated",
    "carried",
  ];
  const columns = [...zeros, "missing", "deleted", "rejected", "problems", "rounded", "bytes"];
  // A quotient of whole numbers is none in DuckDB.
  const run = `cast((i - i % ${STREAMS}) / ${STREAMS} as bigint)`;
  const at = `cast('2000-01-01' as timestamptz)`;
  const begun = `(select min(started_at) from _tributary.runs) - (${run} + 1) * interval '${APART}'`;
  await place.execute(`insert into _tributary.stream_runs
      (run_id, company, stream, status, started_at, finished_at, recent, ${columns.join(", ")})
    select 'run-' || ${run}, 'acme', 'stream_' || i % ${STREAMS}, 'succeeded', ${begun}, ${at},
      case when ${run} < ${RECENT} then true end, ${columns.map(() => "0").join(", ")}
    from generate_series(0, ${rows - 1}) as t(i)`);
  await place.execute(`insert into _tributary.runs
      (run_id, command, status, exit_code, started_at, finished_at, version, warnings)
    select 'run-' || i, 'sync', 'succeeded', 0,
      (select min(started_at) from _tributary.runs) - (i + 1) * interval '${APART}', ${at}, '0', '[]'
    from generate_series(0, ${Math.ceil(rows / STREAMS) - 1}) as t(i)`);
  // As autovacuum has long done where so many runs went by.
  if (warehouse === "postgres") await place.execute("vacuum analyze");
  await place.run(`${warehouse} settles`, ["sync", "items"]);
  return place;
}

/** Of each warehouse the medians of both jobs. They take turns at going first: a slow moment of the machine meets both. */
async function wallsIn(
  laboratory: Laboratory,
  warehouse: Warehouse,
  places: readonly BenchWarehouse[],
): Promise<readonly Walls[]> {
  const met = places.map(place => ({ place, status: [] as number[], sync: [] as number[] }));
  for (let nth = 1; nth <= (laboratory.quick ? 1 : TIMES * laboratory.runs); nth++) {
    for (const { place, status, sync } of nth % 2 === 1 ? met : met.toReversed()) {
      status.push((await place.look(`${warehouse} status`, ["status"])).wallMs);
      sync.push((await place.run(`${warehouse} sync`, ["sync", "items"])).load.wallMs);
    }
  }
  return met.map(({ status, sync }) => ({ status: median(status), sync: median(sync) }));
}
