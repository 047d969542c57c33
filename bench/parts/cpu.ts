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
  duckdb: [1.85, 1.1],
  postgres: [1, 1],
};

type Job = "first" | "night";

/** A job, and the CPU in ms of the floor: the mean of one before it and one after it, for machines change their pace. */
interface Beside {
  readonly load: Load;
  readonly floorMs: number;
}

type Round = Readonly<Record<Job, Beside>>;

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
  const round = (warehouse: Warehouse) => roundOf(laboratory, warehouse, service, rows);
  return inTurns(laboratory, `twice ${rows.toLocaleString("en-US")} rows`, round).finally(() => service.close());
}

async function roundOf(laboratory: Laboratory, warehouse: Warehouse, service: Service, rows: number): Promise<Round> {
  const place = await makeWarehouse(laboratory, warehouse, service);
  const floor = async () => (await measureFloor(laboratory, service, { lists: LISTS })).cpuMs;
  let before = await floor();
  const sync = async (job: string, counter: "inserted" | "unchanged"): Promise<Beside> => {
    const { load, streams } = await place.run(`${warehouse} ${job}`, ["sync", "items", "purchase_orders"]);
    for (const stream of ["items", "purchase_orders"])
      if (streams.get(stream)?.[counter] !== rows)
        throw new Error(`${job}: expected ${rows} ${counter}, got ${JSON.stringify(streams.get(stream))}`);
    const after = await floor();
    const floorMs = (before + after) / 2;
    before = after;
    return { load, floorMs };
  };
  try {
    return { first: await sync("first load", "inserted"), night: await sync("unchanged night", "unchanged") };
  } finally {
    await place.remove();
  }
}

function figuresOf(warehouse: Warehouse, many: readonly Round[], few: readonly Round[]): Figure[] {
  const rows = many[0]!.first.load.rows - (few[0]?.first.load.rows ?? 0);
  const figure = (of: Job, name: string, most: number): Figure[] => {
    const { load } = many.toSorted((a, b) => a[of].load.cpuMs - b[of].load.cpuMs)[many.length >> 1]![of];
    const ours = (rounds: readonly Round[]) => median(rounds.map(round => round[of].load.cpuMs));
    const floor = (rounds: readonly Round[]) => median(rounds.map(round => round[of].floorMs));
    const aRow = (cpuMs: (rounds: readonly Round[]) => number) =>
      (cpuMs(many) - (few.length === 0 ? 0 : cpuMs(few))) / rows;
    return [
      {
        ...{ part: "cpu", warehouse, unit: "ms", load },
        figure: `${name}, CPU a row`,
        measured: aRow(ours),
        against: { what: "fetch and parse", value: aRow(floor) },
        target: { of: "ratio", most },
      },
      {
        ...{ part: "cpu", warehouse, unit: "ms" },
        figure: `${name}, the whole process`,
        measured: ours(many),
        against: { what: "fetch and parse", value: floor(many) },
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
