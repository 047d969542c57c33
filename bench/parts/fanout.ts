import { type Figure, type Load, median, type Warehouse } from "../figure.ts";
import type { Laboratory, Part } from "../laboratory.ts";
import { measureFloor } from "../measurement.ts";
import { inTurns } from "../rounds.ts";
import { type Service, startService } from "../service.ts";
import { makeWarehouse } from "../warehouse.ts";

const ORDERS = 20_000;
/** Of each list: what a run costs before its first details, which a detail's price must not hold. */
const FEW = 100;
const LINES = 10;
/** As many requests at once as the configuration allows unless told otherwise. */
const DETAILS = { path: "/po/{}", key: "po_number", inFlight: 8 };

interface Round {
  readonly floor: Load;
  readonly first: Load;
}

/** CPU a detail with ten lines at zero latency, its row of the list included, to CPU of fetching and parsing the same. */
export const fanout: Part = {
  name: "fanout",
  async measure(laboratory) {
    const few = laboratory.quick ? undefined : await roundsAt(laboratory, FEW);
    const many = await roundsAt(laboratory, laboratory.size(ORDERS, 2 * FEW));
    return laboratory.warehouses.flatMap(warehouse =>
      figuresOf(warehouse, many.get(warehouse)!, few?.get(warehouse) ?? []),
    );
  },
};

async function roundsAt(laboratory: Laboratory, orders: number): Promise<ReadonlyMap<Warehouse, readonly Round[]>> {
  const service = await startService({ sizes: { orders }, linesPerOrder: LINES });
  const round = async (warehouse: Warehouse): Promise<Round> => {
    const floor = await measureFloor(laboratory, service, { lists: ["/po"], details: DETAILS });
    return { floor, first: await firstLoad(laboratory, warehouse, service, orders) };
  };
  return inTurns(laboratory, `${orders.toLocaleString("en-US")} details`, round).finally(() => service.close());
}

async function firstLoad(
  laboratory: Laboratory,
  warehouse: Warehouse,
  service: Service,
  orders: number,
): Promise<Load> {
  const place = await makeWarehouse(laboratory, warehouse, service);
  try {
    const command = ["sync", "purchase_orders", "purchase_order_details"];
    const { load, streams } = await place.run(`${warehouse} fan-out ${orders}`, command);
    for (const stream of ["purchase_orders", "purchase_order_details"])
      if (streams.get(stream)?.inserted !== orders)
        throw new Error(`fan-out: expected ${orders} inserted, got ${JSON.stringify(streams.get(stream))}`);
    return load;
  } finally {
    await place.remove();
  }
}

function figuresOf(warehouse: Warehouse, many: readonly Round[], few: readonly Round[]): Figure[] {
  const { requests } = many[0]!.floor;
  // Details alone: of the rows read, the half that came from the list.
  const details = many[0]!.first.rows / 2 - (few[0]?.first.rows ?? 0) / 2;
  const start = (of: keyof Round) => (few.length === 0 ? 0 : median(few.map(round => round[of].cpuMs)));
  const aDetail = (of: keyof Round) => (median(many.map(round => round[of].cpuMs)) - start(of)) / details;
  const load = many.toSorted((a, b) => a.first.cpuMs - b.first.cpuMs)[many.length >> 1]!.first;
  return [
    {
      ...{ part: "fanout", warehouse, unit: "ms", load },
      figure: "CPU a detail of ten lines",
      measured: aDetail("first"),
      against: { what: "fetch and parse", value: aDetail("floor") },
    },
    {
      ...{ part: "fanout", warehouse, unit: "rows/s" },
      figure: "details a second",
      measured: (1000 * load.rows) / 2 / load.wallMs,
    },
    {
      ...{ part: "fanout", warehouse, unit: "requests" },
      figure: "requests",
      measured: load.requests,
      against: { what: "lists and details", value: requests },
    },
  ];
}
