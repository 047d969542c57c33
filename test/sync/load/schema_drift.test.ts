import { describe, expect, test } from "vitest";
import { comparePresence, reportDrift } from "../../../src/sync/load/schema_drift.ts";
import { core } from "../../support/core.ts";
import { lineOf } from "../../support/run.ts";
import { eitherWarehouse, warehouses } from "../../support/warehouse.ts";
import { type Scenario, scenario } from "../scenario.ts";

interface Told {
  readonly table_name: string;
  readonly column_name: string;
  readonly change: string;
  readonly example: string | null;
  readonly count: number;
  readonly first_seen_at: Date;
  readonly last_seen_at: Date;
}

const NIGHT = 86_400_000;
const config = { streams: { defaults: { details: { audit: 0 } } } };

const told = async ({ warehouse }: Scenario) =>
  (await warehouse.query<Told>("select * from _tributary.schema_changes order by column_name, change")).map(row => ({
    ...row,
    count: Number(row.count),
  }));

const items = (place: Scenario) => place.sync({ catalogue: core.filter(({ name }) => name === "items") });
const orders = core.filter(({ name }) => name.startsWith("purchase_order"));

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("a new field is one row and one warning; later nights move when it was last seen, and say nothing", async () => {
    const place = await scenario(make, { items: 12 });
    const { simulator, clock } = place;
    expect(await items(place)).toMatchObject({ status: "succeeded", warnings: [] });
    expect(await told(place)).toEqual([]);
    clock.advance(NIGHT);
    simulator.patch("items", "ITM-000003", { colour: "red", api_key: "sk_1" });
    simulator.patch("items", "ITM-000004", { colour: null });
    const second = clock.date();
    const report = await items(place);
    expect(report.warnings).toMatchObject([
      { code: "schema.unknown_fields", message: expect.stringContaining(`items.colour (string "red")`) },
    ]);
    const row = { table_name: "items", column_name: "colour", change: "new field: string", example: '"red"', count: 1 };
    expect(await told(place)).toMatchObject([{ ...row, first_seen_at: second, last_seen_at: second }]);
    clock.advance(NIGHT);
    simulator.patch("items", "ITM-000005", { colour: "blue" });
    expect(await items(place)).toMatchObject({ status: "succeeded", warnings: [] });
    expect(await told(place)).toMatchObject([{ ...row, count: 2, first_seen_at: second, last_seen_at: clock.date() }]);
    clock.advance(NIGHT);
    simulator.patch("items", "ITM-000005", { colour: ["blue"] });
    expect((await items(place)).warnings[0]).toMatchObject({
      fields: { changes: [{ table: "items", column: "colour", change: "new field: array", example: '["blue"]' }] },
    });
    expect((await told(place)).map(({ change }) => change)).toEqual(["new field: array", "new field: string"]);
  });

  test("fields of child rows and of nested objects are told by their path, those of details published early once", async () => {
    const publishing = { ...config, destination: { publish_every: "5s" } };
    const place = await scenario(make, { orders: 40 }, { config: publishing });
    const { simulator, sync, clock } = place;
    let lines = 0;
    for (const { po_number } of simulator.truth.rows("purchase_orders")) {
      const path = `/po/${encodeURIComponent(String(po_number))}`;
      const { line_items } = simulator.truth.get(path) as { line_items: object[] };
      lines += line_items.length;
      simulator.patchDetail(path, { line_items: line_items.map(line => ({ ...line, weight: 1.5 })), "a.b": true });
    }
    let asked = 0;
    place.look = ({ path }) => {
      if (path.startsWith("/po/") && ++asked % 10 === 0) clock.advance(6_000);
      return undefined;
    };
    const report = await sync({ catalogue: orders });
    expect(report.warnings.filter(({ message }) => message.includes("weight"))).toHaveLength(1);
    expect(await told(place)).toMatchObject([
      { table_name: "purchase_order_details", column_name: '"a.b"', change: "new field: boolean", count: 40 },
      { table_name: "purchase_order_line_items", column_name: "weight", change: "new field: number", count: lines },
    ]);
  });
});

describe("in one database", () => {
  const { make } = warehouses[0]!;

  test("a value of an unusual type is told, as a problem too where it does not fit", async () => {
    const place = await scenario(make, { items: 12 });
    const { simulator, count } = place;
    simulator.patch("items", "ITM-000003", { mpn: 12.5 });
    simulator.patch("items", "ITM-000004", { avg_price: { amount: 1, bot_token: "xoxb" } });
    const report = await items(place);
    expect(report.warnings.find(({ code }) => code === "schema.other_types")?.message).toContain(
      "items.avg_price (object",
    );
    expect(await told(place)).toMatchObject([
      { column_name: "avg_price", change: "other type: object", example: '{"amount":1}', count: 1 },
      { column_name: "mpn", change: "other type: number", example: "12.5", count: 1 },
    ]);
    expect(await count("_tributary.problems", "column_name = 'avg_price'")).toBe(1);
    expect(await count("items", "mpn = '12.5'")).toBe(1);
  });

  test("a field that every row had and none has is told, and so is its return", async () => {
    const place = await scenario(make, { items: 20 });
    const { simulator, clock } = place;
    await items(place);
    const keys = [...simulator.truth.rows("items")].map(row => String(row["item_id"]));
    const patch = (fields: object) => {
      for (const key of keys) simulator.patch("items", key, { ...fields });
      clock.advance(NIGHT);
    };
    patch({ avg_price: undefined });
    const gone = clock.date();
    const report = await items(place);
    const drift = { fields: { changes: [{ table: "items", column: "avg_price" }], count: 1 } };
    expect(report.warnings).toMatchObject([{ code: "schema.vanished", ...drift }]);
    const row = { table_name: "items", column_name: "avg_price", example: null, count: 20, first_seen_at: gone };
    expect(await told(place)).toMatchObject([{ ...row, change: "vanished", last_seen_at: gone }]);
    clock.advance(NIGHT);
    expect(await items(place)).toMatchObject({ warnings: [] });
    expect(await told(place)).toMatchObject([{ ...row, change: "vanished", last_seen_at: clock.date() }]);
    patch({ avg_price: "3.00" });
    const back = await items(place);
    expect(back).toMatchObject({ status: "succeeded", warnings: [] });
    expect(back.notes).toMatchObject([{ code: "schema.returned", ...drift }]);
    expect(await told(place)).toMatchObject([{ ...row, change: "returned", last_seen_at: clock.date() }]);
    patch({ avg_price: undefined });
    expect((await items(place)).warnings).toMatchObject([{ code: "schema.vanished", ...drift }]);
    expect(await told(place)).toMatchObject([{ ...row, change: "vanished", last_seen_at: clock.date() }]);
  });

  test("where new fields are a failure nothing is published, and they are told", async () => {
    const strict = { streams: { defaults: { unknown_fields: "fail" } } };
    const place = await scenario(make, { items: 12 }, { config: strict });
    const { simulator, clock, count, configure } = place;
    await items(place);
    simulator.patch("items", "ITM-000003", { colour: "red", mpn: "New" });
    clock.advance(NIGHT);
    for (let night = 0; night < 2; night++) {
      const report = await items(place);
      expect(report.exit_code).toBe(1);
      expect(lineOf(report, "items")).toMatchObject({ status: "failed", updated: 0 });
      expect(lineOf(report, "items").error).toMatch(/items\.colour \(string "red"\).*unknown_fields: fail/);
      expect(await count("items", "mpn = 'New'")).toBe(0);
      expect(await told(place)).toMatchObject([{ column_name: "colour", count: 1 }]);
    }
    configure({});
    expect(await items(place)).toMatchObject({ status: "succeeded", warnings: [] });
    expect(await count("items", "mpn = 'New'")).toBe(1);
  });

  test("keys that are data are told by a hundred, and the rest by their number", async () => {
    const place = await scenario(make, { items: 12 });
    const { simulator, clock } = place;
    const keys = (from: number, to: number) =>
      Object.fromEntries(Array.from({ length: to - from }, (_, i) => [`k${from + i}`, i]));
    simulator.patch("items", "ITM-000003", keys(0, 90));
    simulator.patch("items", "ITM-000004", keys(50, 130));
    expect((await items(place)).warnings).toHaveLength(1);
    const first = await told(place);
    expect(first).toHaveLength(101);
    expect(first[0]).toMatchObject({ column_name: "*", change: "more new fields", count: 30 });
    expect(first.reduce((sum, { count }) => sum + count, 0)).toBe(100 + 30 + 40);
    clock.advance(NIGHT);
    simulator.patch("items", "ITM-000005", { other: 1 });
    expect(await items(place)).toMatchObject({ warnings: [] });
    expect(await told(place)).toHaveLength(101);
  });

  test("a scan that is gone on with tells what its first part saw", async () => {
    const place = await scenario(make, { items: 230 });
    const { simulator, clock } = place;
    const all = [...simulator.truth.rows("items")];
    for (const row of all) simulator.patch("items", String(row["item_id"]), { colour: "red" });
    const wanted = all.length;
    let pages = 0;
    place.look = ({ path }) =>
      path === "/items" && ++pages >= 3
        ? { status: 400, body: { error: { code: "BROKEN", message: "no", details: null, request_id: "1" } } }
        : undefined;
    expect(await items(place)).toMatchObject({ exit_code: 1 });
    expect(await told(place)).toEqual([]);
    clock.advance(60_000);
    place.look = () => undefined;
    const report = await items(place);
    expect(lineOf(report, "items")).toMatchObject({ carried: 200 });
    expect(await told(place)).toMatchObject([{ column_name: "colour", count: wanted }]);
    // A field that only the second part lacks has not vanished.
    const last = all.slice(200).map(row => String(row["item_id"]));
    for (const key of last) simulator.patch("items", key, { avg_price: undefined });
    expect(await items(place)).toMatchObject({ warnings: [] });
  });
});

test("a part of the rows tells what vanished, but makes nothing a field of every row; windows of the past tell nothing", () => {
  const known = { things: { always: ["a", "b"], vanished: ["c"] } };
  const presence = { things: { rows: 20, always: ["a", "d"], never: ["b"] } };
  const part = comparePresence(known, { presence, full: false, windows: [] });
  expect(part.next).toEqual({ things: { always: ["a"], vanished: ["b"] } });
  expect(part.changes).toMatchObject([
    { column: "b", change: "vanished", count: 20 },
    { column: "c", change: "returned", count: 20 },
  ]);
  const window = { from: "2020-01-01", to: null, cursor: null, pages: 1, done: true };
  expect(comparePresence(known, { presence, full: false, windows: [window] })).toEqual({ next: known, changes: [] });
});

describe("few rows", () => {
  const few = (always: readonly string[], never: readonly string[], rows = 19) => ({
    presence: { things: { rows, always, never } },
    full: true,
    windows: [],
  });
  const known = { things: { always: ["a", "b"], vanished: ["c"] } };

  test("make nothing a field of every row", () => {
    expect(comparePresence({}, few(["a"], [])).next).toEqual({});
    expect(comparePresence({}, few(["a"], [], 20)).next).toEqual({ things: { always: ["a"], vanished: [] } });
    expect(comparePresence(known, few(["a", "b", "d"], ["c"])).next).toEqual(known);
  });

  test("have lost nothing, and more of them say so afterwards", () => {
    const { next, changes } = comparePresence(known, few(["a"], ["b", "c"]));
    expect(changes).toEqual([]);
    expect(next).toEqual(known);
    expect(comparePresence(next, few(["a"], ["b"], 20)).changes).toMatchObject([
      { column: "b", change: "vanished", count: 20 },
      { column: "c", change: "returned" },
    ]);
  });

  test("show what is back, and what not every row has", () => {
    const { next, changes } = comparePresence(known, few(["a"], []));
    expect(changes).toMatchObject([{ column: "c", change: "returned", count: 19 }]);
    expect(next).toEqual({ things: { always: ["a"], vanished: [] } });
  });
});

test("which new fields get columns is told with what keeps one from it", () => {
  const stream = core.find(({ name }) => name === "items")!;
  const field = (column: string) => ({ table: "items", column, change: "new field: null", example: null, count: 1 });
  const columns = "From the next run on they have columns of their own, once a value was seen; at most 100 a table.";
  expect(reportDrift(stream, [field("colour")], "column").warnings[0]!.message.endsWith(columns)).toBe(true);
  expect(reportDrift(stream, [field("colour"), field('"."')], "column").warnings[0]?.message).toContain(
    `${columns} Those that no column can be called after stay in _extra: items.".".`,
  );
});
