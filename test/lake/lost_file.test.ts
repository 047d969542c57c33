import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { LostFileError } from "../../src/errors.ts";
import { planReset, reset } from "../../src/operations/reset.ts";
import { lakeFailure } from "../../src/warehouse/ducklake/failure.ts";
import { streams } from "../../streams/index.ts";
import { meddle } from "../operations/verify/planting.ts";
import { configOf, lineOf } from "../support/run.ts";
import { warehouses } from "../support/warehouse.ts";
import { scenario } from "../sync/scenario.ts";

const { make } = warehouses.find(({ name }) => name === "ducklake")!;

test("a table of which a file was lost fails its own stream, with the file's name, until reset --drop drops it unread", async () => {
  const { sync, warehouse, simulator, clock, count } = await scenario(make, { orders: 30, items: 300 });
  await sync();
  const folder = join(String(warehouse.destination["data_path"]), "procurement", "items");
  const [file] = await readdir(folder);
  await rm(join(folder, file!));
  for (const name of ["items", "purchase_orders"] as const) simulator.update(name, 7);
  clock.advance(86_400_000);
  const night = await sync();
  const fields = { file: join(folder, file!), table: "items" };
  expect(night).toMatchObject({ exit_code: 6, errors: [{ code: "lake.file_lost", fields }] });
  expect(lineOf(night, "items")).toMatchObject({ status: "failed" });
  expect(lineOf(night, "purchase_order_details")).toMatchObject({ status: "succeeded", updated: 7 });

  const config = await configOf(simulator, warehouse, {});
  const order = { config, catalogue: streams, names: ["items"], companies: ["acme"], drop: true };
  const dropping = () => reset(order, { runId: "reset", clock, waitMs: 0, version: "999.0.0" });
  expect(await planReset(order)).toMatchObject([{ stream: "items" }]);
  const theirs = "_tributary.streams";
  await meddle(warehouse, [`insert into ${theirs} (company, stream, table_name) values ('beta', 'items', 'items')`]);
  await expect(dropping()).rejects.toMatchObject({ code: "lake.file_lost", fields: { table: "items" } });
  await meddle(warehouse, [`delete from ${theirs} where company = 'beta'`]);
  expect(await dropping()).toContain("dropped table items");
  clock.advance(86_400_000);
  expect(await sync()).toMatchObject({ exit_code: 0 });
  expect(await count("items")).toBe(300);
});

test.each([
  ["HTTP Error: HTTP GET error on 's3://lake/w/dw/items/ducklake-01.parquet' (HTTP 404)", true],
  ["HTTP Error: HTTP GET error on 's3://lake/w/dw/items/ducklake-01.parquet' (HTTP 503)", false],
  ['IO Error: Cannot open file "/nowhere/dw/items/ducklake-01.parquet": No such file or directory', false],
])("%s: the file is lost, not the storage or the drive: %s", (reason, isLost) => {
  expect(lakeFailure("read", new Error(reason)) instanceof LostFileError).toBe(isLost);
});
