import { temporaryFolder } from "../source/archive/folder.ts";
import { duckdbWarehouse, passing, type Warehouse, warehouses } from "../support/warehouse.ts";
import { type Scenario, scenario } from "../sync/scenario.ts";
import { office, officeAnswer, type Row, type Stock, stocked } from "./office.ts";

const DAY = 86_400_000;

/** The databases, each with what makes a warehouse of it. */
export const kinds: readonly (readonly [string, () => Promise<Warehouse>])[] = warehouses.map(({ name, make }) => [
  name,
  name === "duckdb" ? () => passing(duckdbWarehouse("snapshot")) : make,
]);

/** An office whose rows hold personal data, and the runs that read it. */
export interface Place extends Scenario {
  readonly stock: Stock;
  readonly archive: string;
  /** Requests since the last look. */
  asked(): number;
  under(privacy: Row, history?: boolean): void;
  night(order?: object): ReturnType<Scenario["sync"]>;
}

export async function placeOf(make: () => Promise<Warehouse>, privacy: Row = {}): Promise<Place> {
  const archive = await temporaryFolder();
  const configOf = (policy: Row, history = true) => ({
    archive: { path: archive },
    deletes: { min_rows: 3 },
    streams: { defaults: { max_reject_share: 1, history } },
    privacy: policy,
    // Old versions of the file go because they have to, not because they are too many.
    destination: { keep_versions: 9 },
    views: true,
  });
  const place = await scenario(make, {}, { config: configOf(privacy) });
  const stock = stocked();
  let requests = 0;
  place.look = request => {
    requests++;
    return officeAnswer(stock, request);
  };
  return Object.assign(place, {
    stock,
    archive,
    asked() {
      const since = requests;
      requests = 0;
      return since;
    },
    under: (policy: Row, history = true) => place.configure(configOf(policy, history)),
    night: (order: object = {}) => {
      place.clock.advance(DAY);
      return place.sync({ catalogue: office, ...order });
    },
  });
}
