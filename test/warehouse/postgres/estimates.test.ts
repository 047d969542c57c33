import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Destination } from "../../../src/warehouse/destination.ts";
import { everything, store } from "../../rows/store.ts";
import { scan } from "../conformance/scan.ts";
import { warehouses } from "../warehouses.ts";

const { make } = warehouses.find(({ name }) => name === "postgres")!;
const rows = (count: number, text: string) =>
  Array.from({ length: count }, (_, i) => ({ id: `${i}`, text, lines: [{ line_no: "1" }, { line_no: "2" }] }));

/** How many rows PostgreSQL believes to be in tables whose names begin so; -1 where it has never looked. */
async function believed({ db }: Destination, beginning: string): Promise<Record<string, number>> {
  const { rows } = await sql<{ relname: string; reltuples: number }>`select relname, reltuples from pg_class
    where relkind = 'r' and starts_with(relname, ${beginning})`.execute(db);
  return Object.fromEntries(rows.map(row => [row.relname.replace(/_[0-9a-f]{12}$/, ""), Number(row.reltuples)]));
}

test("the server knows how many rows a publish is to write, and how many are missing", async () => {
  const destination = await make();
  await store(destination, rows(1_300, "one"));
  await scan(destination, rows(700, "two"));
  expect(await believed(destination, "changed_")).toEqual({ changed: 700 });
  expect(await believed(destination, "missing_")).toEqual({ missing: 600 });
});

test("a first load's child tables are looked at with their parents'", async () => {
  const destination = await make();
  await store(destination, rows(600, "one"));
  expect(await believed(destination, "thing")).toEqual({ things: -1, thing_lines: -1 });
  await destination.afterPublish(everything, 600);
  expect(await believed(destination, "thing")).toEqual({ things: 600, thing_lines: 1_200 });
});
