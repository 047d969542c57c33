import { expect, onTestFinished, test } from "vitest";
import { startSimulator } from "../../simulator/simulator.ts";
import type { RunReport } from "../../src/sync/run/run.ts";
import { streams } from "../../streams/index.ts";
import { stillClock } from "../support/clock.ts";
import { models } from "../support/models.ts";
import { unreconciled, unreconciledCube } from "../support/reconciliation.ts";
import { bench } from "../support/run.ts";
import { compareWithTruth } from "../support/truth.ts";
import { warehouses } from "../support/warehouse.ts";
import { answersOf, untrueDeclarations } from "../warehouse/views/answers.ts";

const sizes = { orders: 6, invoices: 8, items: 4, findings: 6, ingested: 20 };
const config = { streams: { preset: "all" }, views: true };
const read = streams.filter(stream => stream.preset !== "lookup" && stream.name !== "vendor_orders_as_of");

/** What the models answered in the first database: the other one has to say the same. */
let answers: Awaited<ReturnType<typeof answersOf>> | undefined;

test.each(warehouses)(
  "what the documents leave open may all be otherwise: every stream is loaded value by value: $name",
  async ({ name, make }) => {
    const clock = stillClock();
    const simulator = await startSimulator({ sizes, vocabulary: "other", now: clock.date });
    onTestFinished(() => simulator.close());
    const warehouse = await make();
    const { sync } = bench({ simulator, warehouse, clock, config });
    const report = await sync();
    expect(report.streams.filter(isFaulty)).toEqual([]);
    const loaded = await compareWithTruth(simulator, warehouse, read, "2026-03-15");
    expect(loaded).toMatchObject({ different: 0, differences: [] });
    expect(await unreconciled(warehouse)).toEqual([]);
    expect(await unreconciledCube(warehouse)).toEqual([]);
    expect(await untrueDeclarations(warehouse, models.models)).toEqual([]);
    const answered = await answersOf(warehouse, models.models);
    expect(answered.get("spend_by_vendor_month")).not.toEqual([]);
    for (const [model, rows] of answers ?? []) expect({ model, rows: answered.get(model) }).toEqual({ model, rows });
    answers ??= answered;

    // What came before decides what is asked for then, alike in both databases.
    if (name === "duckdb") return;
    for (const stream of simulator.streams) {
      if (simulator.truth.count(stream) > 2) simulator.update(stream, 2);
      simulator.insert(stream, 1);
    }
    clock.advance(60_000);
    const changed = await sync();
    expect(changed.streams.filter(isFaulty)).toEqual([]);
    const comparable = read.filter(
      ({ mode }) =>
        !("absence" in mode && mode.absence === "kept") && !(mode.kind === "detail" && mode.everyDays !== undefined),
    );
    const compared = await compareWithTruth(simulator, warehouse, comparable, "2026-03-15", streams);
    expect(compared).toMatchObject({ different: 0, differences: [] });
  },
);

/** A warning tells that date columns took the day of moments; whether every other value fits is compared. */
const isFaulty = ({ status, rejected }: RunReport["streams"][number]): boolean =>
  (status !== "succeeded" && status !== "warning") || rejected > 0;
