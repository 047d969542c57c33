import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { sql } from "kysely";
import { expect, it } from "vitest";
import { openStage } from "../../../src/warehouse/duckdb/stage/stage.ts";
import { gadgets } from "./gadgets.ts";
import { helper, opened, settingsFor, temporaryFolder } from "./workbench.ts";

it("holds a record and exactly its rows whenever the process is killed", async () => {
  const folder = await temporaryFolder();
  const { db } = await opened(settingsFor(join(folder, "w.duckdb")));
  const root = join(folder, "stage");
  let scans = 0;
  for (let kill = 0; kill < 8; kill++) {
    const child = helper("appender.helper.ts", root);
    await child.heard();
    await wait(Math.random() * 60);
    await child.kill();
    const stage = await openStage(root, "acme", gadgets);
    const { rows: recorded = 0, scan = 0 } = (stage.record ?? {}) as { rows?: number; scan?: number };
    const { rows } = await sql`select (select count(*) from ${stage.keys()} k) as keys,
      (select count(*) from ${stage.rows(gadgets.main)} m) as main, (select coalesce(max(_seq), 0) from ${stage.rows(gadgets.main)} m) as last,
      (select count(*) from ${stage.rows(gadgets.children[0]!)} c) as parts`.execute(db);
    expect(rows).toEqual([{ keys: recorded, main: recorded, last: recorded, parts: recorded }]);
    expect(stage.staged).toBe(recorded);
    expect(scan).toBeGreaterThanOrEqual(scans);
    scans = scan;
  }
  expect(scans).toBeGreaterThan(0);
});
