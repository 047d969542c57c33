import { expect, onTestFinished, test } from "vitest";
import { startSimulator } from "../../../simulator/simulator.ts";
import { diskLine } from "../../../src/operations/check/destination.ts";
import { inspectPlace, type Where } from "../../../src/warehouse/connect/open.ts";
import { bench } from "../../support/run.ts";
import { duckdbWarehouse, passing } from "../../support/warehouse.ts";

const disk = { folder: "/srv", free: 100e9, size: 4e9, versions: 2, spill: "/srv/w.versions/spill" };

/** DuckDB's temporary files. */
const SPILL = 80e6;

test("a publish copies the file once more than versions are kept; which copies are still to come counts", () => {
  const needed = (versions: number) => diskLine({ ...disk, versions }, 2).fields["needed_bytes"];
  expect(diskLine(disk, 2)).toMatchObject({ level: "ok", code: "check.disk", fields: { copies: 1 } });
  expect(needed(2)).toBe(4e9 + SPILL);
  expect(needed(0)).toBe(12e9 + SPILL);
  expect(needed(1)).toBe(8e9 + SPILL);
  // More are there than are kept from now on: one more is written before they go.
  expect(needed(9)).toBe(4e9 + SPILL);
});

test("what DuckDB spills counts: a disk with room for a copy of a small file alone is full", () => {
  const small = { ...disk, size: 20e6 };
  expect(diskLine({ ...small, free: 90e6 }, 2)).toMatchObject({ level: "fail", code: "check.disk_full" });
  expect(diskLine({ ...small, free: 110e6 }, 2)).toMatchObject({ level: "warn", code: "check.disk_low" });
});

test("below twice the need is a warning, below it a failure", () => {
  const levels = (free: number) => diskLine({ ...disk, free }, 2);
  expect(levels(2 * (4e9 + SPILL))).toMatchObject({ level: "ok", advice: null });
  expect(levels(8.1e9)).toMatchObject({ level: "warn", exitCode: 0, advice: expect.stringContaining("keep_versions") });
  expect(levels(4e9 + SPILL).level).toBe("warn");
  expect(levels(4e9)).toMatchObject({ level: "fail", exitCode: 6, advice: expect.stringContaining("Make room") });
  expect(diskLine({ ...disk, free: 11e9, versions: 0 }, 2).level).toBe("fail");
});

test("where readers open the file itself there are no copies to make or to keep fewer of", () => {
  const direct = { ...disk, versions: undefined, free: 5e9 };
  expect(diskLine(direct, 2)).toMatchObject({
    level: "warn",
    message: expect.stringContaining("as much again as the file has"),
    advice: expect.not.stringContaining("keep_versions"),
  });
});

test("an empty warehouse wants a little room too", () => {
  const empty = { ...disk, size: 0, versions: 0 };
  expect(diskLine({ ...empty, free: 1e9 }, 2)).toMatchObject({
    level: "ok",
    message: expect.stringContaining("nothing is loaded yet"),
  });
  expect(diskLine({ ...empty, free: 9e8 }, 2).level).toBe("warn");
});

test("versions, size and free space are those of the warehouse's own disk", async () => {
  const simulator = await startSimulator({ sizes: { findings: 5 } });
  onTestFinished(() => simulator.close());
  const warehouse = await passing(duckdbWarehouse("snapshot"));
  const { sync, clock } = bench({ simulator, warehouse });
  const where = { keepVersions: 2, schema: "procurement", stateSchema: "_tributary", ...warehouse.destination };
  const look = () => inspectPlace(where as Where & { type: "duckdb" });
  expect(await look()).toMatchObject({ size: 0, versions: 0 });
  await sync({ names: ["findings"] });
  const once = await look();
  expect(once).toMatchObject({ versions: 1, spill: expect.stringMatching(/warehouse\.versions\/spill$/) });
  expect(once.size).toBeGreaterThan(0);
  expect(once.free).toBeGreaterThan(0);
  for (let night = 0; night < 2; night++) {
    clock.advance(86_400_000);
    simulator.update("findings", 1);
    await sync({ names: ["findings"] });
  }
  expect(await look()).toMatchObject({ versions: 2 });
  const direct = { ...(where as Where & { type: "duckdb" }), readers: "direct" as const };
  expect(await inspectPlace({ ...direct, path: `${direct.path}.other` })).toMatchObject({ versions: undefined });
});
