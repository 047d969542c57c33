import { describe, expect, test } from "vitest";
import { warehouses } from "../support/warehouse.ts";
import { scenario } from "./scenario.ts";

interface Stored {
  readonly rows: number;
  readonly first: string;
  readonly last: string;
}

describe.each(warehouses)("$name", ({ make }) => {
  test("a problem seen again is one row that keeps when it was seen first", async () => {
    const place = await scenario(make, { orders: 5, invoices: 1, items: 5, findings: 1, ingested: 1 });
    const { simulator, sync, warehouse, clock } = place;
    simulator.patch("items", "ITM-000003", { avg_price: "a lot" });
    const told = () =>
      warehouse.query<Stored>(`select rows, cast(first_seen_at as varchar) as first, cast(last_seen_at as varchar) as last
        from _tributary.problems where column_name = 'avg_price'`);
    await sync({ names: ["items"] });
    const [before] = await told();
    clock.advance(3_600_000);
    await sync({ names: ["items"] });
    const after = await told();
    expect(after).toHaveLength(1);
    expect(after[0]?.first).toBe(before?.first);
    expect(after[0]?.last).not.toBe(before?.last);
  });
});
