import { type Figure, median, type Warehouse } from "../figure.ts";
import type { Laboratory, Part } from "../laboratory.ts";
import { startService } from "../service.ts";
import { makeWarehouse } from "../warehouse.ts";

const FEW = 2_000;
const MANY = 2_000_000;
/** Streams of which the run log speaks; with a run every 40 minutes nothing is older than a year. */
const STREAMS = 160;
const APART = "40 minutes";
const TIMES = 3;
const MOST = 1.25;

const jobs = ["status", "sync"] as const;
type Walls = Record<(typeof jobs)[number], number>;

/** A look at how it is, and a run that finds nothing new, must not take longer for all that ran before. */
export const records: Part = {
  name: "records",
  async measure(laboratory) {
    const figures: Figure[] = [];
    for (const warehouse of laboratory.warehouses) {
      const many = laboratory.size(MANY, FEW);
      const [few, all] = [await wallsWith(laboratory, warehouse, FEW), await wallsWith(laboratory, warehouse, many)];
      for (const job of jobs)
        figures.push({
          ...{ part: "records", warehouse, unit: "ms" },
          figure: `${job}, ${many.toLocaleString("en-US")} rows in stream_runs`,
          measured: all[job],
          against: { what: `${FEW.toLocaleString("en-US")} rows`, value: few[job] },
          target: { of: "ratio", most: MOST },
        });
    }
    return figures;
  },
};

/** Medians of both jobs, by a warehouse whose run log has so many rows. */
async function wallsWith(laboratory: Laboratory, warehouse: Warehouse, rows: number): Promise<Walls> {
  const service = await startService({ sizes: { orders: 0, invoices: 0, items: 40, findings: 0, ingested: 0 } });
  try {
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
        case when ${run} < 30 then true end, ${columns.map(() => "0").join(", ")}
      from generate_series(0, ${rows - 1}) as t(i)`);
    await place.execute(`insert into _tributary.runs
        (run_id, command, status, exit_code, started_at, finished_at, version, warnings)
      select 'run-' || i, 'sync', 'succeeded', 0,
        (select min(started_at) from _tributary.runs) - (i + 1) * interval '${APART}', ${at}, '0', '[]'
      from generate_series(0, ${Math.ceil(rows / STREAMS) - 1}) as t(i)`);
    if (warehouse === "postgres") await place.execute("vacuum analyze");
    await place.run(`${warehouse} settles`, ["sync", "items"]);
    const walls: Record<(typeof jobs)[number], number[]> = { status: [], sync: [] };
    for (let nth = 1; nth <= (laboratory.quick ? 1 : TIMES * laboratory.runs); nth++) {
      walls.status.push((await place.look(`${warehouse} status`, ["status"])).wallMs);
      walls.sync.push((await place.run(`${warehouse} sync`, ["sync", "items"])).load.wallMs);
    }
    await place.remove();
    return { status: median(walls.status), sync: median(walls.sync) };
  } finally {
    await service.close();
  }
}
