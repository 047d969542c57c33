import { expect, onTestFinished } from "vitest";
import { startSimulator } from "../../../simulator/simulator.ts";
import { type MoveReport, moveWarehouse } from "../../../src/operations/move_warehouse.ts";
import type { Progress } from "../../../src/warehouse/transfer/transfer.ts";
import { streams } from "../../../streams/index.ts";
import { stillClock } from "../../support/clock.ts";
import { silentLog } from "../../support/log.ts";
import { models } from "../../support/models.ts";
import { bench, configOf } from "../../support/run.ts";
import { passing, type Warehouse } from "../../support/warehouse.ts";

const DAY = 86_400_000;
/** Lists without details, which take a run least. */
const few = { streams: { exclude: ["invoice*", "findings*", "ingested", "purchase_order_*"] } };

/** A warehouse with a night behind it, and what is moved from it. */
export async function lived(from: () => Promise<Warehouse>, config: Readonly<Record<string, unknown>> = few) {
  const clock = stillClock();
  const sizes = { orders: 30, invoices: 20, items: 40, findings: 20, ingested: 30 };
  const simulator = await startSimulator({ sizes, now: clock.date });
  onTestFinished(() => simulator.close());
  const warehouse = await passing(from());
  const runs = bench({ simulator, warehouse, clock, config });
  expect((await runs.sync()).exit_code).toBe(0);
  clock.advance(DAY);
  simulator.update("purchase_orders", 3);
  simulator.delete("items", 2);
  expect((await runs.sync()).exit_code).toBe(0);
  return { clock, simulator, warehouse, config };
}

export type Lived = Awaited<ReturnType<typeof lived>>;

export interface Moving {
  readonly signal?: AbortSignal;
  readonly watch?: (progress: Progress) => void;
}

/** What the command does. */
export async function move(
  { clock, simulator, config }: Omit<Lived, "warehouse">,
  from: Pick<Warehouse, "destination">,
  to: Pick<Warehouse, "destination">,
  { signal = new AbortController().signal, watch = () => undefined }: Moving = {},
): Promise<MoveReport> {
  const order = {
    config: await configOf(simulator, from, config),
    to: await configOf(simulator, to, config),
    ...{ catalogue: streams, models, version: "1.0.0" },
  };
  return moveWarehouse(order, { clock, log: silentLog, runId: "move", signal, waitMs: 0, watch });
}
