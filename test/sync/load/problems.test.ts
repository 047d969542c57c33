import { describe, expect, test } from "vitest";
import { date, id, table } from "../../../schemas/fields.ts";
import { streamOf } from "../../catalog/streams.ts";
import { eitherWarehouse, warehouses } from "../../support/warehouse.ts";
import { told } from "../answers.ts";
import { scenario } from "../scenario.ts";

interface Stored {
  readonly rows: number;
  readonly first: string;
  readonly last: string;
}

describe.each(eitherWarehouse)("$name", ({ make }) => {
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

test.each([
  [1, 0],
  [2, 1],
])("of a child table's values, %i of twenty that could not be read are a share of them all", async (bad, code) => {
  const mails = streamOf("mails", {
    id: id(),
    parts: table("mail_parts", "A part.", { due: date().nullable() }),
  });
  const parts = Array.from({ length: 20 }, (_, i) => ({ due: i < bad ? "soon" : "2026-03-15" }));
  const strict = { problems: { max_share: 0.05, on_exceed: "fail" } };
  const place = await told(warehouses[0]!.make, [mails], { "/mails": () => ({ mails: [{ id: "1", parts }] }) }, strict);
  const report = await place.run();
  expect(report.exit_code).toBe(code);
  const due = {
    table: "mail_parts",
    column: "due",
    unread: 2,
    rows: 20,
    reason: expect.stringMatching(/calendar date/),
  };
  const refused = { code: "problems.too_many", fields: { max_share: 0.05, columns: [due], refused: true } };
  expect(report.errors).toMatchObject(code === 0 ? [] : [refused]);
  const shares = await place.warehouse.query<{ share: number }>("select share from _tributary.problems");
  expect(shares).toEqual(code === 0 ? [{ share: 0.05 }] : []);
});
