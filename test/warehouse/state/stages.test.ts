import { expect, test } from "vitest";
import { dropStages } from "../../../src/warehouse/state/drop_stages.ts";
import { ensureState } from "../../../src/warehouse/state/state_ddl.ts";
import { encode, everything } from "../../rows/store.ts";
import { warehouses } from "../warehouses.ts";

test.each(warehouses)(
  "$name: of what was staged nothing is left, in the spare stage neither",
  async ({ name, make }) => {
    const destination = await make();
    await ensureState(destination.db, destination.dialect, destination.stateSchema);
    const stages = async () => [
      await destination.stage("acme", everything),
      ...[await destination.spareStage("acme", everything)].filter(stage => stage !== undefined),
    ];
    const before = await stages();
    expect(before.length).toBe(name === "duckdb" ? 2 : 1);
    for (const stage of before) {
      await stage.begin({ scan: "a" });
      await stage.append((await encode([{ id: "1" }])).batch, { scan: "a" });
    }
    expect((await stages()).map(({ staged }) => staged)).toEqual(before.map(() => 1));

    await dropStages(destination, "acme", everything);
    expect((await stages()).map(({ record, staged }) => ({ record, staged }))).toEqual(
      before.map(() => ({ record: undefined, staged: 0 })),
    );
  },
);
