import { expect, test } from "vitest";
import { lineOf } from "../../support/run.ts";
import { warehouses } from "../../support/warehouse.ts";
import { scenario } from "../scenario.ts";

// DuckDB adds no constraints to a table that exists.
const { make } = warehouses.find(({ name }) => name === "postgres")!;

test("rows whose counters cannot be written are not published", async () => {
  const place = await scenario(make, { items: 40 });
  const { simulator, sync, warehouse } = place;
  await sync({ names: ["purchase_orders"] });
  const [first] = [...simulator.truth.rows("items")].map(row => String(row["item_id"]));
  simulator.patch("items", first!, { total_spend_ttm: "1,234.56" });
  await warehouse.query("alter table _tributary.problems add constraint refused check (table_name <> 'items')");
  expect(lineOf(await sync({ names: ["items"] }), "items")).toMatchObject({ status: "failed" });
  const published = () =>
    warehouse.query(
      "select (select count(*) from procurement.items) as rows, (select count(*) from _tributary.stream_state where stream = 'items') as states",
    );
  expect(await published()).toEqual([{ rows: 0, states: 0 }]);
  await warehouse.query("alter table _tributary.problems drop constraint refused");
  await sync({ names: ["items"] });
  expect(await published()).toEqual([{ rows: 40, states: 1 }]);
});
