import { type Figure, type Load, median, type Warehouse } from "../figure.ts";
import type { Laboratory, Part } from "../laboratory.ts";
import { measureFloor } from "../measurement.ts";
import { inTurns } from "../rounds.ts";
import { type Service, startService } from "../service.ts";
import { makeWarehouse } from "../warehouse.ts";

const ROWS = 200_000;
/** Of each list: what a run costs before its first rows, which a row's price must not hold. */
const FEW = 100;
const LISTS = ["/items", "/po"];
const TARGETS: Readonly<Record<Warehouse, readonly [firstLoad: number, night: number]>> = {
  duckdb: [2.2, 1.7],
  postgres: [1.5, 1.7],
};

interface Round {
  readonly floor: Load;
  readonly first: Load;
  readonly night: Load;
}

/** CPU a row of two lists at zero latency, to CPU a row of fetching and parsing the same pages. */
export const cpu: Part = {
  name: "cpu",
  async measure(laboratory) {
    const many = await roundsAt(laboratory, laboratory.size(ROWS, 2 * FEW));
    const few = laboratory.quick ? undefined : await roundsAt({ ...laboratory, profiles: undefined }, FEW);
    return laboratory.warehouses.flatMap(warehouse =>
      figuresOf(warehouse, many.get(warehouse)!, few?.get(warehouse) ?? []),
    );
  },
};

async function roundsAt(laboratory: Laboratory, rows: number): Promise<ReadonlyMap<Warehouse, readonly Round[]>> {
  const service = await startService({ sizes: { items: rows, orders: rows } });
  const round = async (warehouse: Warehouse): Promise<Round> => {
    const floor = await measureFloor(laboratory, service, { lists: LISTS });
    return { floor, ...(await roundOf(laboratory, warehouse, service, rows)) };
  };
  return inTurns(laboratory, `twice ${rows.toLocaleString("en-US")} rows`, round).finally(() => service.close());
}

async function roundOf(
  laboratory: Laboratory,
  warehouse: Warehouse,
  service: Service,
  rows: number,
): Promise<Omit<Round, "floor">> {
  const place = await makeWarehouse(laboratory, warehouse, service);
  const sync = async (job: string, counter: "inserted" | "unchanged") => {
    const { load, streams } = await place.run(`${warehouse} ${job}`, ["sync", "items", "purchase_orders"]);
    for (const stream of ["items", "purchase_orders"])
      if (streams.get(stream)?.[counter] !== rows)
        throw new Error(`${job}: expected ${rows} ${counter}, got ${JSON.stringify(streams.get(stream))}`);
    return load;
  };
  try {
    return { first: await sync("first load", "inserted"), night: await sync("unchanged night", "unchanged") };
  } finally {
    await place.remove();
  }
}

function figuresOf(warehouse: Warehouse, many: readonly Round[], few: readonly Round[]): Figure[] {
  const aRow = (of: keyof Round) => {
    const rows = many[0]!.first.rows - (few[0]?.first.rows ?? 0);
    const start = few.length === 0 ? 0 : median(few.map(round => round[of].cpuMs));
    return (median(many.map(round => round[of].cpuMs)) - start) / rows;
  };
  const figure = (of: "first" | "night", name: string, most: number): Figure[] => {
    const load = many.toSorted((a, b) => a[of].cpuMs - b[of].cpuMs)[many.length >> 1]![of];
    const whole = (each: Load) => each.cpuMs;
    return [
      {
        ...{ part: "cpu", warehouse, unit: "ms", load },
        figure: `${name}, CPU a row`,
        measured: aRow(of),
        against: { what: "fetch and parse", value: aRow("floor") },
        target: { of: "ratio", most },
      },
      {
        ...{ part: "cpu", warehouse, unit: "ms" },
        figure: `${name}, the whole process`,
        measured: median(many.map(round => whole(round[of]))),
        against: { what: "fetch and parse", value: median(many.map(round => whole(round.floor))) },
      },
      {
        ...{ part: "cpu", warehouse, unit: "rows/s" },
        figure: `${name}, rows a second`,
        measured: (1000 * load.rows) / load.wallMs,
      },
    ];
  };
  const [firstLoad, night] = TARGETS[warehouse];
  return [...figure("first", "first load", firstLoad), ...figure("night", "unchanged night", night)];
}
