import { describe, expect, test } from "vitest";
import { id, record, text } from "../../../schemas/fields.ts";
import { defineStream, scan } from "../../../src/catalog/stream.ts";
import { forget } from "../../support/forgetting.ts";
import { type Passing, refused } from "../../support/interposed.ts";
import { lineOf } from "../../support/run.ts";
import { warehouses } from "../../support/warehouse.ts";
import { page, told } from "../answers.ts";
import { scenario } from "../scenario.ts";

const things = defineStream({
  name: "things",
  path: "/things",
  mode: scan({ rows: "things" }),
  row: record("Things.", { id: id().describe("Which."), state: text().nullable().describe("How it stands.") }),
  key: ["id"],
  preset: "core",
});

const live = "_deleted_at is null";

describe.each(warehouses)("$name", ({ make }) => {
  test("a list whose total is exact deletes what it no longer shows at once, and asks nobody", async () => {
    const { simulator, sync, count } = await scenario(make, { orders: 230 });
    await sync({ names: ["purchase_orders"] });
    const gone = simulator.delete("purchase_orders", 7);
    simulator.requests.clear();
    const report = await sync({ names: ["purchase_orders"] });
    expect(lineOf(report, "purchase_orders")).toMatchObject({ status: "succeeded", deleted: 7, missing: 0 });
    expect(simulator.requests.count("/po/{po_number}")).toBe(0);
    expect(await count("purchase_orders", live)).toBe(223);
    expect(
      await count("purchase_orders", `not (${live}) and po_number in (${gone.map(key => `'${key}'`).join()})`),
    ).toBe(7);
  });

  test("without a total a row's own endpoint is asked: its 404 deletes, its answer doesn't, nor does a refusal", async () => {
    const place = await scenario(make, { invoices: 120 });
    const { simulator, sync, count } = place;
    await sync({ names: ["invoices"] });
    const [hidden, mute] = [...simulator.truth.rows("invoices")].slice(40).map(row => String(row["doc_id"]));
    const gone = new Set([...simulator.delete("invoices", 4), hidden!, mute!]);
    simulator.delete("invoices", [hidden!, mute!]);
    const own = (key: string | undefined) => `/reconciliation/${encodeURIComponent(key!)}/line-items`;
    // The list hides both, but the service still knows the one, and says nothing of the other.
    place.look = ({ path }) => {
      if (path === own(mute)) return refused(400, "BROKEN");
      return path === own(hidden) ? { status: 200, body: { data: {}, meta: {} } } : undefined;
    };
    const report = await sync({ names: ["invoices"] });
    expect(lineOf(report, "invoices")).toMatchObject({ status: "succeeded", deleted: gone.size - 2, missing: 2 });
    expect(await count("invoices", `${live} and doc_id in ('${hidden}', '${mute}')`)).toBe(2);
    const second = await sync({ names: ["invoices"] });
    expect(lineOf(second, "invoices")).toMatchObject({ deleted: 2, missing: 0 });
  });

  test("with neither, only the second complete scan that misses a row deletes it", async () => {
    const { simulator, sync, count } = await scenario(make, { items: 150 });
    await sync({ names: ["items"] });
    const [back] = simulator.delete("items", 3);
    const first = await sync({ names: ["items"] });
    expect(lineOf(first, "items")).toMatchObject({ status: "succeeded", deleted: 0, missing: 3 });
    expect(await count("items", live)).toBe(150);
    simulator.restore("items", [back!]);
    const second = await sync({ names: ["items"] });
    expect(lineOf(second, "items")).toMatchObject({ inserted: 0, updated: 0, deleted: 2, missing: 0 });
    simulator.delete("items", [back!]);
    const third = await sync({ names: ["items"] });
    expect(lineOf(third, "items")).toMatchObject({ deleted: 0, missing: 1 });
  });

  test("a list that shows fewer rows than it counts is not complete: only a 404 deletes, and nothing is remembered", async () => {
    const place = await scenario(make, { orders: 130 });
    const { simulator, sync, count } = place;
    const names = ["purchase_orders"];
    await sync({ names });
    const [gone, hidden, forbidden] = simulator
      .delete("purchase_orders", 3)
      .map(key => `/po/${encodeURIComponent(key)}`);
    simulator.patchDetail("/po", { stats: { total: 500 } });
    place.look = ({ path }) => {
      if (path === hidden) return { status: 200, body: { data: {}, meta: {} } };
      return path === forbidden ? refused(403, "FORBIDDEN") : undefined;
    };
    const first = await sync({ names });
    expect(lineOf(first, "purchase_orders")).toMatchObject({ deleted: 1, missing: 2, error: null });
    expect(first.warnings.join()).toContain("the list says it has 500 rows, its pages showed 127");
    expect(lineOf(await sync({ names }), "purchase_orders")).toMatchObject({ deleted: 0, missing: 2 });
    expect(await count("purchase_orders", live)).toBe(129);
    expect(await count("_tributary.rows_purchase_orders", "missing_since is not null")).toBe(0);
    expect(simulator.requests.entries.filter(entry => `${entry.path}` === gone)).toHaveLength(1);
  });

  test("--full takes the second look in the same run", async () => {
    const { simulator, sync, count } = await scenario(make, { items: 150 });
    await sync({ names: ["items"] });
    simulator.delete("items", 3);
    simulator.requests.clear();
    const report = await sync({ names: ["items"], full: true });
    expect(lineOf(report, "items")).toMatchObject({ status: "succeeded", deleted: 3, missing: 0, rows_read: 294 });
    expect(simulator.requests.count("/items")).toBe(4);
    expect(await count("items", live)).toBe(147);
    simulator.requests.clear();
    await sync({ names: ["items"], full: true });
    expect(simulator.requests.count("/items")).toBe(2);
  });

  test("rows that move while an offset list is read are not taken for deleted", async () => {
    const place = await scenario(make, { orders: 420, items: 420 }, { options: { paging: "offset" } });
    const { simulator, sync, count } = place;
    await sync({ names: ["purchase_orders", "items"] });
    const heads = {
      "/po": [...simulator.truth.rows("purchase_orders")].slice(0, 3).map(row => String(row["po_number"])),
      "/items": [...simulator.truth.rows("items")].slice(0, 3).map(row => String(row["item_id"])),
    };
    const seen = new Map<string, number>();
    place.look = ({ path }) => {
      if (path !== "/po" && path !== "/items") return;
      const pages = (seen.get(path) ?? 0) + 1;
      seen.set(path, pages);
      if (pages === 3) simulator.delete(path === "/po" ? "purchase_orders" : "items", heads[path]);
    };
    const report = await sync({ names: ["purchase_orders", "items"] });
    // The first page showed the three before they went; three live rows slipped past the reader.
    expect(lineOf(report, "purchase_orders")).toMatchObject({ status: "succeeded", deleted: 0 });
    expect(lineOf(report, "items")).toMatchObject({ status: "succeeded", deleted: 0, missing: 3 });
    expect(await count("purchase_orders", live)).toBe(420);
    place.look = () => undefined;
    expect(lineOf(await sync({ names: ["purchase_orders", "items"] }), "items")).toMatchObject({
      deleted: 0,
      missing: 3,
    });
    await sync({ names: ["purchase_orders", "items"] });
    expect(await count("items", live)).toBe(417);
    expect(await count("purchase_orders", live)).toBe(417);
  });

  test("a scan with a keyless row is not complete: it deletes nothing and remembers nothing as missing", async () => {
    const { simulator, sync, count } = await scenario(make, { items: 150, orders: 150 });
    await sync({ names: ["items", "purchase_orders"] });
    const [item, ...others] = [...simulator.truth.rows("items")].map(row => String(row["item_id"]));
    simulator.patch("items", item!, { item_id: null });
    simulator.delete("items", others.slice(0, 2));
    const first = await sync({ names: ["items"] });
    expect(first).toMatchObject({ status: "warning", exit_code: 0 });
    expect(lineOf(first, "items")).toMatchObject({ status: "warning", rejected: 1, deleted: 0, missing: 3 });
    await sync({ names: ["items"] });
    expect(await count("items", live)).toBe(150);
    expect(await count("_tributary.rows_items", "missing_since is not null")).toBe(0);
    expect(await count("_tributary.rejects", "stream = 'items' and reason like '%item_id%'")).toBe(2);
  });

  test("more deletions than the guard allows are held back with their numbers, the rest is published, and one run may accept them", async () => {
    const { simulator, sync, count } = await scenario(make, { orders: 200 });
    await sync({ names: ["purchase_orders"] });
    simulator.delete("purchase_orders", 60);
    simulator.insert("purchase_orders", 2);
    const held = await sync({ names: ["purchase_orders"] });
    expect(held).toMatchObject({ status: "failed", exit_code: 1 });
    expect(lineOf(held, "purchase_orders")).toMatchObject({ status: "failed", inserted: 2, deleted: 0, missing: 60 });
    expect(lineOf(held, "purchase_orders").error).toMatch(/60 of 20[02] live rows.*--confirm-deletes/s);
    expect(await count("purchase_orders", live)).toBe(202);
    const again = await sync({ names: ["purchase_orders"] });
    expect(again.exit_code).toBe(1);
    const accepted = await sync({ names: ["purchase_orders"], confirmDeletes: true });
    expect(lineOf(accepted, "purchase_orders")).toMatchObject({ status: "succeeded", deleted: 60, missing: 0 });
    expect(await count("purchase_orders", live)).toBe(142);
  });

  test("a list that comes back empty deletes nothing until that is confirmed", async () => {
    const { simulator, sync, count } = await scenario(make, { items: 30, orders: 30 });
    const names = ["items", "purchase_orders"];
    await sync({ names });
    simulator.delete("items", 30);
    simulator.delete("purchase_orders", 30);
    const held = await sync({ names });
    expect(held.exit_code).toBe(1);
    for (const name of names) {
      expect(lineOf(held, name)).toMatchObject({ status: "failed", deleted: 0, missing: 30 });
      expect(lineOf(held, name).error).toContain("came back empty, though 30 rows are live");
    }
    expect(await count("items", live)).toBe(30);
    await sync({ names, confirmDeletes: true });
    expect(await count("items", live)).toBe(0);
    expect(await count("purchase_orders", live)).toBe(0);
    expect(await sync({ names })).toMatchObject({ status: "succeeded" });
  });

  test.each([
    [true, false],
    [false, false],
    [true, true],
    [false, true],
  ])(
    "rows of a status that the config names no more are not taken for deleted (a list with total: %s) until that is accepted (%s)",
    async (counted, accepted) => {
      const rows = Array.from({ length: 9 }, (_, n) => ({ id: String(n), state: n < 8 ? "open" : "closed" }));
      const shown = ({ query }: Passing) => rows.filter(row => row.state === (query.get("status") ?? "open"));
      const place = await told(
        make,
        [counted ? { ...things, mode: scan({ rows: "things", total: "total" }) } : things],
        { "/things": passing => page({ total: shown(passing).length, things: shown(passing) }, null) },
        { streams: { settings: { things: { statuses: ["closed"] } } } },
      );
      await place.run();
      place.configure({});
      for (const _ of [1, 2, 3]) expect(lineOf(await place.run(), "things")).toMatchObject({ deleted: 0, missing: 1 });
      expect(await place.count("things", live)).toBe(9);
      if (accepted) {
        expect(lineOf(await place.run({ full: true, confirmDeletes: true }), "things")).toMatchObject({
          deleted: 1,
          missing: 0,
        });
        rows.shift();
        expect(lineOf(await place.run({ full: true }), "things")).toMatchObject({ deleted: 1, missing: 0 });
        expect(await place.count("things", live)).toBe(7);
        return;
      }
      // Asked for again, they are missing like all others.
      rows.pop();
      place.configure({ streams: { settings: { things: { statuses: ["closed"] } } } });
      expect(lineOf(await place.run({ full: true }), "things")).toMatchObject({ deleted: 1, missing: 0 });
    },
  );

  test("nor are they once the list has been reset, which leaves its rows", async () => {
    const rows = Array.from({ length: 9 }, (_, n) => ({ id: String(n), state: n < 8 ? "open" : "closed" }));
    const shown = ({ query }: Passing) => rows.filter(row => row.state === (query.get("status") ?? "open"));
    const place = await told(
      make,
      [{ ...things, mode: scan({ rows: "things", total: "total" }) }],
      { "/things": passing => page({ total: shown(passing).length, things: shown(passing) }, null) },
      { streams: { settings: { things: { statuses: ["closed"] } } } },
    );
    await place.run();
    place.configure({});
    await forget(place, [things], ["things"]);
    expect(lineOf(await place.run(), "things")).toMatchObject({ deleted: 0, missing: 1 });
    expect(await place.count("things", live)).toBe(9);
  });
});
