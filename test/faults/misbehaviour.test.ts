import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Faults, type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { textsOf } from "../../src/message.ts";
import { streams } from "../../streams/index.ts";
import { stillClock } from "../support/clock.ts";
import { type Bench, bench, lineOf } from "../support/run.ts";
import { compareWithTruth } from "../support/truth.ts";
import { type Warehouse, warehouses } from "../support/warehouse.ts";
import { type Case, cases, items } from "./cases.ts";

const sizes = { orders: 40, invoices: 0, items: 450, findings: 0, ingested: 0 };
const few = { views: false, streams: { exclude: ["invoice*", "findings*", "ingested"] } };

interface Met extends Bench {
  readonly simulator: Simulator;
  readonly warehouse: Warehouse;
  /** Differences between the tables and the service. */
  wrong(names: readonly string[]): Promise<readonly string[]>;
}

async function met(index: number, { faults, config }: Pick<Case, "faults" | "config">): Promise<Met> {
  const clock = stillClock();
  const simulator = await startSimulator({ sizes, now: clock.date, faults });
  onTestFinished(() => simulator.close());
  const warehouse = await warehouses[index % 2]!.make();
  return {
    ...bench({ simulator, warehouse, clock, config: { ...few, ...config } }),
    simulator,
    warehouse,
    async wrong(names) {
      const chosen = streams.filter(stream => names.includes(stream.name));
      return (await compareWithTruth(simulator, warehouse, chosen, "2026-03-15")).differences;
    },
  };
}

const quiet: Partial<Faults> = {
  only: null,
  rateLimit: null,
  next429: 0,
  planLimit: null,
  error500: 0,
  badGateway: 0,
  slowBody: 0,
  redirectTo: null,
  repeatRows: 0,
  expireCursorAfterPages: 0,
  missingPagination: 0,
  unknownFields: 0,
  wrongTypes: 0,
  nullKeys: 0,
};

describe("a service that misbehaves", () => {
  it.each(cases.map((each, index) => ({ ...each, index })))("$name", async each => {
    const { sync, simulator, clock, said, wrong } = await met(each.index, each);
    const report = await sync({ names: [...each.streams] });
    const told = [...textsOf([...report.errors, ...report.warnings]), ...said].join("\n");
    expect(report.exit_code, told).toBe(each.exit);
    expect(lineOf(report, each.streams[0]!), told).toMatchObject({ status: each.status, ...each.line });
    if (each.told !== undefined) expect(told).toMatch(each.told);
    if (each.rightAtOnce) expect(await wrong(each.streams)).toEqual([]);
    // What one stream meets is not the others' concern.
    const others = report.streams.filter(line => line.stream !== each.streams[0]);
    if (each.exit === 1) expect(others.filter(line => line.status !== "succeeded")).toEqual([]);

    if (typeof each.faults.expireCursorAfterPages !== "object") Object.assign(simulator.faults, quiet);
    clock.advance(1_200_000);
    const next = await sync({ names: [...each.streams] });
    expect(next.exit_code, textsOf(next.errors).join("\n")).toBe(0);
    expect(await wrong(each.streams)).toEqual([]);
  });
});

describe("a redirect to another origin", () => {
  it("is never followed: nobody there is asked anything", async () => {
    const asked: unknown[] = [];
    const elsewhere = createServer((request, response) => {
      asked.push(request.headers);
      response.end("{}");
    });
    await new Promise<void>(resolve => elsewhere.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void elsewhere.close());
    const redirectTo = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
    const { sync, simulator, wrong } = await met(0, { faults: { redirectTo } });
    const report = await sync({ names: items });
    expect(report.exit_code).toBe(1);
    expect(textsOf(report.errors).join("\n")).toContain(`a redirect to ${redirectTo}`);
    expect(asked).toEqual([]);
    simulator.faults.redirectTo = null;
    expect((await sync({ names: items })).exit_code).toBe(0);
    expect(await wrong(items)).toEqual([]);
  });
});
