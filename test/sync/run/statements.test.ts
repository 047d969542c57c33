import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { expect, onTestFinished, test } from "vitest";
import { startSimulator } from "../../../simulator/simulator.ts";
import type { Stream } from "../../../src/catalog/stream.ts";
import { streams } from "../../../streams/index.ts";
import { stillClock } from "../../support/clock.ts";
import { bench } from "../../support/run.ts";
import { warehouses } from "../../support/warehouse.ts";

const sizes = { orders: 6, invoices: 6, items: 4, findings: 4, ingested: 12 };
const SOME = 6;

const some = (isWanted: (stream: Stream) => boolean) =>
  streams.filter(stream => stream.preset !== "lookup" && isWanted(stream)).slice(0, SOME);

const kinds = {
  list: some(({ mode }) => mode.kind === "scan" && mode.lookup === undefined),
  snapshot: some(({ mode }) => mode.kind === "snapshot" && mode.parameters === undefined),
  detail: some(({ mode }) => mode.kind === "detail" && mode.of === "items"),
};

/** What a stream may send, of those that one more of its kind adds to a run. */
const most = {
  duckdb: { list: 12, snapshot: 12, detail: 73 },
  postgres: { list: 19, snapshot: 19, detail: 118 },
};

async function statementsOf(work: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const told = () => void count++;
  subscribe("tributary.statement", told);
  await work();
  unsubscribe("tributary.statement", told);
  return count;
}

test.each(warehouses)(
  "an unchanged night sends few statements for a stream of each kind: $name",
  async ({ name, make }) => {
    const clock = stillClock();
    const simulator = await startSimulator({ sizes, now: clock.date });
    onTestFinished(() => simulator.close());
    const warehouse = await make();
    const { sync } = bench({ simulator, warehouse, clock, config: { streams: { preset: "all" } } });
    const all = Object.values(kinds).flat();
    const catalogue = streams.filter(stream => stream.name === "items" || all.includes(stream));
    expect(await sync({ catalogue, names: all.map(stream => stream.name) })).toMatchObject({ status: "succeeded" });
    const night = (of: readonly Stream[]) =>
      statementsOf(async () => {
        clock.advance(60_000);
        const names = of.map(stream => stream.name);
        for (const line of (await sync({ catalogue, names })).streams)
          expect(line).toMatchObject({ status: "succeeded", inserted: 0, updated: 0, deleted: 0 });
      });
    await night(all);
    const each: Record<string, number> = {};
    for (const [kind, its] of Object.entries(kinds)) {
      expect(its.length, kind).toBe(SOME);
      const [first, ...others] = its;
      each[kind] = Math.ceil(((await night(its)) - (await night([first!]))) / others.length);
    }
    for (const [kind, count] of Object.entries(each))
      expect(count, kind).toBeLessThanOrEqual(most[name as keyof typeof most][kind as keyof typeof kinds]);
  },
);
