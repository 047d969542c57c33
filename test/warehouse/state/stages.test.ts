import { expect, test } from "vitest";
import { dropStages } from "../../../src/warehouse/state/drop_stages.ts";
import { ensureState } from "../../../src/warehouse/state/state_ddl.ts";
import { encode, everything } from "../../rows/store.ts";
import { warehouses } from "../warehouses.ts";

test.each(warehouses)("$name: of what was staged nothing is left", async ({ make }) => {
  const destination = await make();
  await ensureState(destination.db, destination.dialect, destination.stateSchema);
  const stage = await destination.stage("acme", everything);
  await stage.begin({ scan: "a" });
  await stage.append((await encode([{ id: "1" }])).batch, { scan: "a" });
  expect((await destination.stage("acme", everything)).staged).toBe(1);

  await dropStages(destination, "acme", everything);
  expect(await destination.stage("acme", everything)).toMatchObject({ record: undefined, staged: 0 });
});
