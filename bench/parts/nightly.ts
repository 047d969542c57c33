import type { Figure, Warehouse } from "../figure.ts";
import type { Laboratory, Part } from "../laboratory.ts";
import { type Service, startService } from "../service.ts";
import { type BenchWarehouse, makeWarehouse, type Run, type StreamLine } from "../warehouse.ts";

const ROWS = 1_000_000;
/** Of the orders, changed before the night. */
const CHANGED = 0.01;
/** Of unchanged details, looked at again. */
const AUDIT = 0.02;
const PAGE = 100;
/**
 * Details of older orders are out of range. The simulator's newest are 20 days old; one order in 16 has no date, and those
 * are always in range: some 70,000 of a million are asked for, not all.
 */
const RANGE_DAYS = 25;
const DAY_MS = 86_400_000;
/** Requests to what was needed, rows written to rows changed. */
const REQUESTS = 1.02;
const WRITTEN = 1;
/** Growth of an unchanged night. */
const QUIET_BYTES = 1e6;
const STREAMS = ["purchase_orders", "purchase_order_details"];

/** One night: what it did, and what it left on the disk. */
interface Night {
  readonly run: Run;
  readonly size: number;
  /** What versions for readers took more than before, and the write-ahead log. */
  readonly versions: number;
  readonly logged: number;
}

/** A night in which 1 % of the orders changed, with the details of the recent ones, and one in which nothing did. */
export const nightly: Part = {
  name: "nightly",
  async measure(laboratory) {
    const rows = laboratory.size(ROWS, 1_000);
    const start = new Date(Date.now() - RANGE_DAYS * DAY_MS).toISOString().slice(0, 10);
    const figures: Figure[] = [];
    for (const warehouse of laboratory.warehouses) {
      // Each its own: it is the simulator's rows that change, and both are to begin with the same.
      const service = await startService({ sizes: { orders: rows, items: PAGE }, linesPerOrder: 1 });
      const config = { streams: { start, defaults: { details: { audit: AUDIT } } } };
      const place = await makeWarehouse(laboratory, warehouse, service, config);
      try {
        figures.push(...(await nightsOf(laboratory, warehouse, service, place, { rows, start })));
      } finally {
        await place.remove();
        await service.close();
      }
    }
    return figures;
  },
};

async function nightsOf(
  laboratory: Laboratory,
  warehouse: Warehouse,
  service: Service,
  place: BenchWarehouse,
  { rows, start }: { readonly rows: number; readonly start: string },
): Promise<Figure[]> {
  const say = (job: string) => laboratory.say(`  ${rows.toLocaleString("en-US")} orders, ${warehouse}, ${job}`);
  const sync = (job: string) => place.run(`${warehouse} ${job}`, ["sync", ...STREAMS]);
  const night = async (job: string): Promise<Night> => {
    const look = async () => ({
      size: await place.size(),
      versions: await place.versions(),
      logged: await place.logged(),
    });
    const before = await look();
    await service.requests();
    const run = await sync(job);
    const { size, versions, logged } = await look();
    return { run, size: size - before.size, versions: versions - before.versions, logged: logged - before.logged };
  };
  say("first load");
  await sync("first load");
  const [details = 0] = await place.numbers("select count(*) from procurement.purchase_order_details");
  const changed = Math.round(rows * CHANGED);
  await service.update({ purchase_orders: changed });
  say(`${changed.toLocaleString("en-US")} changed`);
  const busy = await night("night, 1 % changed");
  const sent = total((await service.requests()).counts);
  const written = await lastPublished(place, "purchase_orders");
  const inRange = await lastPublished(place, "purchase_orders", `and (po_date is null or po_date >= date '${start}')`);
  const detailed = await lastPublished(place, "purchase_order_details");
  check(busy.run, "purchase_orders", written);
  check(busy.run, "purchase_order_details", detailed);
  say("nothing changed");
  const quiet = await night("night, nothing changed");
  // The order list and the details of what changed in it; asking whose key it is is the one request more.
  const audited = Math.ceil(AUDIT * (details - inRange));
  const needed = Math.ceil(rows / PAGE) + inRange + audited;
  const base = { part: "nightly", warehouse } as const;
  return [
    {
      ...{ ...base, unit: "requests", load: busy.run.load },
      figure: "1 % changed, requests",
      measured: sent,
      against: { what: "pages, changed, audit", value: needed },
      target: { of: "ratio", most: REQUESTS },
    },
    {
      ...{ ...base, unit: "rows" },
      figure: "1 % changed, rows written",
      measured: written + detailed,
      against: { what: "changed", value: changed + inRange },
      target: { of: "ratio", most: WRITTEN },
    },
    { ...{ ...base, unit: "ms" }, figure: "1 % changed, wall time", measured: busy.run.load.wallMs },
    { ...{ ...base, unit: "bytes" }, figure: "1 % changed, growth of the warehouse", measured: busy.size },
    {
      ...{ ...base, unit: "rows", load: quiet.run.load },
      figure: "unchanged night, rows written",
      measured: sumOf(quiet.run, writtenRows),
      target: { of: "measured", most: 0 },
    },
    {
      ...{ ...base, unit: "bytes" },
      figure: "unchanged night, growth of the warehouse",
      measured: quiet.size,
      target: { of: "measured", most: QUIET_BYTES },
    },
    ...[busy, quiet].map(({ versions, logged }, i) => {
      const name = i === 0 ? "1 % changed" : "unchanged night";
      return warehouse === "duckdb"
        ? ({ ...base, unit: "bytes", figure: `${name}, kept versions`, measured: versions } as const)
        : ({ ...base, unit: "bytes", figure: `${name}, write-ahead log`, measured: logged } as const);
    }),
  ];
}

/** Rows of a table that the last publish which touched it wrote, by their own word; 0 where that was the first load. */
async function lastPublished(place: BenchWarehouse, table: string, and = ""): Promise<number> {
  const [count = 0] = await place.numbers(`select count(*) from procurement.${table}
    where _changed_at > (select min(_changed_at) from procurement.${table}) ${and}`);
  return count;
}

const writtenRows = ({ inserted, updated, deleted }: StreamLine) => inserted + updated + deleted;
const sumOf = ({ streams }: Run, of: (line: StreamLine) => number) =>
  [...streams.values()].reduce((sum, line) => sum + of(line), 0);
const total = (counts: Readonly<Record<string, number>>) => Object.values(counts).reduce((sum, n) => sum + n, 0);

/** The report and the tables must tell the same. */
function check({ streams }: Run, stream: string, written: number): void {
  const line = streams.get(stream);
  if (line === undefined || writtenRows(line) !== written)
    throw new Error(`${stream}: its tables say ${written} rows were written, the report ${JSON.stringify(line)}`);
}
