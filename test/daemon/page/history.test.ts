import { describe, expect, onTestFinished, test } from "vitest";
import { startSimulator } from "../../../simulator/simulator.ts";
import { readHistory } from "../../../src/daemon/page/source.ts";
import { changesOf } from "../../../src/warehouse/read/run_history.ts";
import { bench } from "../../support/run.ts";
import { warehouses } from "../../support/warehouse.ts";

const sizes = { orders: 5, invoices: 5, items: 12, findings: 5, ingested: 5 };
const schemas = { schema: "procurement", stateSchema: "_tributary" } as const;

describe.each(warehouses)("$name", ({ make, name }) => {
  test("the last runs are told, newest first, and of each stream its own", async () => {
    const warehouse = await make();
    const { path, url } = warehouse.destination as { path: string; url: string };
    const where =
      name === "duckdb"
        ? ({ type: "duckdb", path, readers: "direct", keepVersions: 2, publishEveryMs: 60_000, ...schemas } as const)
        : ({ type: "postgres", url, grantSelectTo: [], publishEveryMs: 60_000, ...schemas } as const);
    expect(await readHistory(where)).toBeUndefined();

    const simulator = await startSimulator({ sizes });
    onTestFinished(() => simulator.close());
    const { sync, clock } = bench({ simulator, warehouse });
    const first = await sync({ names: ["items", "findings"] });
    const ids = [first.run_id];
    for (const turn of [1, 2, 3]) {
      clock.advance(3_600_000);
      // One answer holds all items, so the one that it lacks is gone.
      if (turn === 2) simulator.delete("items", 1);
      if (turn === 3) {
        simulator.update("items", 3);
        simulator.faults.only = "/findings";
        simulator.faults.error500 = 1;
      }
      ids.push((await sync({ names: turn === 3 ? ["items", "findings"] : ["items"] })).run_id);
    }
    const history = await readHistory(where, 3);
    expect(history?.runs.map(run => run.run_id)).toEqual(ids.slice(1).toReversed());
    const newest = history?.runs[0];
    expect(newest).toMatchObject({ status: "failed", error: expect.stringContaining("try again later") });
    expect(newest?.streams.map(part => [part.stream, part.status])).toEqual(
      expect.arrayContaining([
        ["items", "succeeded"],
        ["findings", "failed"],
      ]),
    );
    expect(newest?.streams.find(part => part.stream === "findings")?.error).toContain("try again later");

    const of = (stream: string) => history?.streams.find(one => one.stream === stream)?.runs ?? [];
    expect(of("items").map(part => part.run_id)).toEqual(ids.slice(1));
    expect(of("items").at(-1)).toMatchObject({ rows_read: 11, rejected: 0, status: "succeeded" });
    expect(of("items").at(-2)).toMatchObject({ rows_read: 11 });
    expect(of("items").at(-3)).toMatchObject({ rows_read: 12 });
    expect(of("items").slice(-3).map(changesOf)).toEqual([0, 1, 3]);
    expect(of("findings").map(part => part.run_id)).toEqual([ids[0], ids[3]]);
    expect(of("purchase_orders")).toEqual([]);
  });
});
