import { expect, inject, test } from "vitest";
import { lived, move } from "../operations/move/moving.ts";
import { temporaryFolder } from "../source/archive/folder.ts";
import { type Bench, bench } from "../support/run.ts";
import { postgresWarehouse, type Warehouse } from "../support/warehouse.ts";

const postgres = () => postgresWarehouse(inject("postgresUrl"));

test("the catalog may be in the database of the warehouse that is moved, with a state schema of its own", async () => {
  const place = await lived(postgres);
  const { warehouse: former, simulator, clock, config } = place;
  const beside = async (stateSchema: string): Promise<Pick<Warehouse, "destination">> => ({
    destination: {
      ...{ type: "ducklake", catalog: former.destination["url"], data_path: await temporaryFolder() },
      ...{ extensions: inject("extensions"), state_schema: stateSchema },
    },
  });
  await expect(move(place, former, await beside("_tributary"))).rejects.toThrow(
    /is the state of a PostgreSQL warehouse/,
  );
  const to = await beside("_lake");
  expect(await move(place, former, to)).toMatchObject({ companies: ["acme"] });
  const night = async (runs: Bench) =>
    (await runs.sync()).streams.map(({ inserted, updated, deleted, unchanged }) => [
      inserted + updated + deleted,
      unchanged,
    ]);
  const usual = await night(bench({ simulator, warehouse: former, clock, config }));
  expect(await night(bench({ simulator, warehouse: to, clock, config }))).toEqual(usual);
});
