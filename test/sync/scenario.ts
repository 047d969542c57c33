import { onTestFinished } from "vitest";
import { type Simulator, type SimulatorOptions, startSimulator } from "../../simulator/simulator.ts";
import { type StillClock, stillClock } from "../support/clock.ts";
import { interposed, type Look, type Passing } from "../support/interposed.ts";
import { type Bench, bench, type Setting } from "../support/run.ts";
import type { Warehouse } from "../support/warehouse.ts";

const none = { orders: 0, invoices: 0, items: 0, findings: 0, ingested: 0 };

/** A small service that the test can look into, a warehouse, and runs between them. */
export interface Scenario extends Bench {
  readonly clock: StillClock;
  readonly simulator: Simulator;
  readonly warehouse: Warehouse;
  /** Sees every request from now on; may answer itself. */
  look: (passing: Passing) => Look | Promise<Look>;
  /** How many rows of a table fulfil a condition. */
  count(table: string, where?: string): Promise<number>;
}

/** The core's streams by the size that gives them rows. */
const sized = {
  orders: "purchase_order*",
  invoices: "invoice*",
  items: "items",
  findings: "findings*",
  ingested: "ingested",
};

/** Only the streams with a size have rows; the core's others are not read, unless the configuration chooses. */
export async function scenario(
  make: () => Promise<Warehouse>,
  sizes: SimulatorOptions["sizes"],
  more: { readonly options?: SimulatorOptions } & Pick<Setting, "config" | "run"> = {},
): Promise<Scenario> {
  const clock = stillClock();
  const simulator = await startSimulator({ sizes: { ...none, ...sizes }, now: clock.date, ...more.options });
  onTestFinished(() => simulator.close());
  const warehouse = await make();
  const between = await interposed(simulator, passing => looking.look(passing));
  const given: object = { ...sizes, ...more.options?.sizes };
  const unread = Object.entries(sized).flatMap(([size, pattern]) => (Object.hasOwn(given, size) ? [] : [pattern]));
  // Making views and comparing them takes a tenth of a small run; whoever looks at them says so.
  const plain = ({ api, ...config }: Setting["config"] & { readonly api?: object } = {}) => ({
    ...{ views: false, ...config },
    api: { clock: "check", ...api },
  });
  const runs = bench({ ...more, config: plain(more.config), simulator: between, warehouse, clock, unread });
  const looking: Scenario = {
    ...runs,
    configure: config => runs.configure(plain(config)),
    simulator,
    warehouse,
    look: () => undefined,
    async count(table, where = "true") {
      const [row] = await warehouse.query<{ n: number }>(
        `select count(*) as n from ${table.includes(".") ? table : `procurement.${table}`} where ${where}`,
      );
      return Number(row!.n);
    },
  };
  return looking;
}

/** The numbers of a line that say where its rows went: what came in is what is accounted for. */
export function balance(line: {
  rows_read: number;
  carried: number;
  inserted: number;
  updated: number;
  unchanged: number;
  rejected: number;
  repeated: number;
  before_start: number;
}): { came: number; went: number } {
  return {
    came: line.rows_read + line.carried,
    went: line.inserted + line.updated + line.unchanged + line.rejected + line.repeated + line.before_start,
  };
}
