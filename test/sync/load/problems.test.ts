import { describe, expect, test } from "vitest";
import { anyJson, date, id, json, list, table } from "../../../schemas/fields.ts";
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

  test("JSON that is no array where the documents say array is NULL, and stands in _problems as it came", async () => {
    const mails = streamOf("mails", { id: id(), list: list(), thing: json(), loose: anyJson() });
    const rows = [
      { id: "1", list: [1], thing: { a: 1 }, loose: "x" },
      { id: "2", list: { a: 1 }, thing: "text", loose: [2] },
    ];
    const place = await told(make, [mails], { "/mails": () => ({ mails: rows }) });
    const { streams } = await place.run();
    expect(streams[0]).toMatchObject({ inserted: 2, problems: 2 });
    const stored = await place.warehouse.query<Record<"list" | "thing" | "loose" | "problems", string | null>>(
      `select cast(list as varchar) as list, cast(thing as varchar) as thing, cast(loose as varchar) as loose,
        cast(_problems as varchar) as problems from procurement.mails order by id`,
    );
    const values = stored.map(row => Object.values(row).map(text => (text === null ? null : JSON.parse(text))));
    expect(values).toEqual([
      [[1], { a: 1 }, "x", null],
      [
        ...[null, null, [2]],
        { list: expect.objectContaining({ value: { a: 1 } }), thing: expect.objectContaining({ value: "text" }) },
      ],
    ]);
    const changes = await place.warehouse.query("select column_name from _tributary.schema_changes order by 1");
    expect(changes).toEqual([{ column_name: "list" }, { column_name: "thing" }]);
  });
});

test("a warning names a column once, whatever was wrong with its values, and adds them up", async () => {
  const mails = streamOf("mails", { id: id(), due: date().nullable() });
  // Three reasons, of which none alone is too many.
  const bad = ["soon", "2026-03-15T10:00:00Z", 4];
  const rows = Array.from({ length: 40 }, (_, i) => ({ id: String(i), due: bad[i] ?? "2026-03-15" }));
  const place = await told(warehouses[0]!.make, [mails], { "/mails": () => ({ mails: rows }) });
  const { warnings } = await place.run();
  const [message] = warnings.filter(({ code }) => code === "problems.too_many");
  expect(message?.fields).toMatchObject({ columns: [{ table: "mails", column: "due", unread: 3, rows: 40 }] });
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
