import { mkdirSync, rmdirSync, unlinkSync } from "node:fs";
import { expect, test } from "vitest";
import { identityEndpoint } from "../../../streams/identity.ts";
import { duckdbWarehouse, passing } from "../../support/warehouse.ts";
import { scenario } from "../scenario.ts";

test("a run that stored its rows and could not show them stands as failed in the warehouse, with the reason it told", async () => {
  const warehouse = await passing(duckdbWarehouse("snapshot"));
  const place = await scenario(async () => warehouse, { items: 30 });
  const { path } = warehouse.destination as { readonly path: string };
  expect((await place.sync()).exit_code).toBe(0);
  place.clock.advance(3_600_000);
  place.simulator.update("items", 3);
  let isInTheWay = false;
  place.look = ({ path: asked }) => {
    // Whose key it is may be asked before the warehouse is open.
    if (!isInTheWay && asked !== identityEndpoint.path) {
      isInTheWay = true;
      unlinkSync(path);
      mkdirSync(path);
    }
    return undefined;
  };
  const failed = await place.sync();
  expect([failed.status, failed.exit_code]).toEqual(["failed", 6]);
  expect(failed.streams).toMatchObject([{ stream: "items", status: "succeeded", updated: 3 }]);
  rmdirSync(path);
  place.clock.advance(3_600_000);
  expect((await place.sync()).exit_code).toBe(0);
  const runs = await warehouse.query("select status, exit_code, error from _tributary.runs order by started_at");
  const well = { status: "succeeded", exit_code: 0, error: null };
  expect(runs).toEqual([well, { status: "failed", exit_code: 6, error: failed.errors[0]?.message }, well]);
});
