import { describe, expect, test } from "vitest";
import type { RunReport } from "../../../src/sync/run/run.ts";
import { lineOf } from "../../support/run.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { scenario } from "../../sync/scenario.ts";

const order = { names: ["ingested"], range: { from: "2025-03-01", to: undefined } };

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("a sync that waits for the lock goes first; then the backfill goes on from what it published", async () => {
    const place = await scenario(make, { ingested: 6_000 });
    const ended: string[] = [];
    let seen = 0;
    let waiting: Promise<RunReport> | undefined;
    place.look = async ({ path, query }) => {
      if (path !== "/ingested" || !query.has("date_from")) return undefined;
      if (++seen === 20) {
        waiting = place.sync({ names: ["ingested"], waitMs: 3_600_000 }).then(report => {
          ended.push("sync");
          return report;
        });
      }
      // No window gets another answer before the sync has ended: only by giving way can the backfill end.
      await waiting;
      return undefined;
    };
    const report = await place.backfill(order);
    ended.push("backfill");
    expect(ended).toEqual(["sync", "backfill"]);
    expect(await waiting).toMatchObject({ exit_code: 0 });
    expect(report).toMatchObject({ exit_code: 0, errors: [] });
    expect(lineOf(report, "ingested").inserted).toBeGreaterThan(0);
    expect(place.said.join()).toContain("another run waits");
    expect(await place.count("ingested")).toBe(6_000);
    const runs = await place.warehouse.query<{ command: string; status: string }>(
      "select command, status from _tributary.runs order by started_at",
    );
    expect(runs.map(({ command, status }) => `${command} ${status}`)).toEqual([
      "backfill stopped",
      "sync succeeded",
      "backfill succeeded",
    ]);
  });

  test("a sync that would not wait is refused, and the backfill does not stop for it", async () => {
    const place = await scenario(make, { ingested: 3_000 });
    let refusal: unknown;
    let seen = 0;
    place.look = async ({ path }) => {
      if (path === "/ingested" && ++seen === 10)
        refusal = await place.sync({ names: ["ingested"], waitMs: 0 }).catch(error => error);
      return undefined;
    };
    expect(await place.backfill(order)).toMatchObject({ exit_code: 0 });
    expect(refusal).toMatchObject({ name: "LockedError", exitCode: 4 });
    expect(await place.count("_tributary.runs", "command = 'backfill'")).toBe(1);
  });
});
