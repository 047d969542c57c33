import { describe, expect, test } from "vitest";
import { id, table, text } from "../../../schemas/fields.ts";
import { list, snapshot } from "../../../src/catalog/stream.ts";
import { streamOf } from "../../catalog/streams.ts";
import type { Look } from "../../support/interposed.ts";
import { lineOf } from "../../support/run.ts";
import { warehouses } from "../../support/warehouse.ts";
import { told } from "../answers.ts";
import { scenario } from "../scenario.ts";

const live = "_deleted_at is null";
const noAudit = { streams: { defaults: { details: { audit: 0 } } } };
const without = ({ line_items: _left, ...rest }: Record<string, unknown>) => rest;

const words = (table_: string) => ({ id: id(), note: text(), words: table(table_, "Its words.", { word: text() }) });
const boxes = streamOf("boxes", words("box_words"), { mode: list({ rows: "boxes" }), key: ["id"] });
const census = streamOf("census", words("census_words"), { mode: snapshot(), key: ["observed_on"] });
/** Rows with so many words each. */
const worded = (note: string, ...counts: readonly number[]) =>
  counts.map((count, at) => ({
    id: String(at),
    note,
    words: Array.from({ length: count }, (_, i) => ({ word: `w${i}` })),
  }));

describe.each(warehouses)("$name", ({ make }) => {
  test.each([
    ["left out", without],
    ["no array", (data: Record<string, unknown>) => ({ ...data, line_items: "see page 2" })],
  ])("lines stay while their array is %s, and the detail is requested again the next night", async (_how, edit) => {
    const place = await scenario(make, { orders: 80 }, { config: noAudit });
    const { simulator, sync, count, clock } = place;
    await sync();
    const lines = await count("purchase_order_line_items", live);
    expect(lines).toBeGreaterThan(160);
    place.look = ({ path }): Look => (path.startsWith("/po/") ? { edit } : undefined);
    const changed = simulator.update("purchase_orders", 70);
    const report = await sync();
    const line = lineOf(report, "purchase_order_details");
    expect(report.exit_code).toBe(0);
    expect(line).toMatchObject({ status: "warning", updated: 70, child_deleted: 0, deleted: 0 });
    expect(await count("purchase_order_line_items", live)).toBe(lines);
    const noted = await count("purchase_order_details", "cast(_problems as varchar) like '%line_items%'");
    expect(noted).toBe(70);
    expect(await count("_tributary.problems", "column_name = 'line_items' and rows = 70")).toBe(1);
    expect(await count("_tributary.details", "outcome = 'ok' and reason like '%line_items%'")).toBe(70);

    // The same answer once more changes nothing, and the lines are still missing from it.
    clock.advance(20 * 3_600_000);
    const again = lineOf(await sync(), "purchase_order_details");
    expect(again).toMatchObject({ requests: 70, unchanged: 70, updated: 0, child_deleted: 0 });
    expect(await count("purchase_order_line_items", live)).toBe(lines);

    place.look = () => undefined;
    clock.advance(20 * 3_600_000);
    expect(lineOf(await sync(), "purchase_order_details")).toMatchObject({ requests: changed.length, updated: 70 });
    expect(await count("purchase_order_details", "cast(_problems as varchar) like '%line_items%'")).toBe(0);
    expect(await count("purchase_order_line_items", live)).toBe(lines);
    expect(await count("_tributary.details", "reason is not null or next_try is not null")).toBe(0);
  });

  test("an empty array is believed of one order, of most of them only when it is confirmed", async () => {
    const place = await scenario(make, { orders: 80 }, { config: noAudit });
    const { simulator, sync, count } = place;
    await sync();
    const lines = await count("purchase_order_line_items", live);
    const [one] = simulator.update("purchase_orders", 1);
    const own = await count("purchase_order_line_items", `${live} and po_number = '${one}'`);
    expect(own).toBeGreaterThan(0);
    place.look = ({ path }): Look =>
      path.startsWith("/po/") ? { edit: data => ({ ...data, line_items: null }) } : undefined;
    expect(lineOf(await sync(), "purchase_order_details")).toMatchObject({ status: "succeeded", child_deleted: own });
    expect(await count("purchase_order_line_items", live)).toBe(lines - own);

    place.look = ({ path }): Look =>
      path.startsWith("/po/") ? { edit: data => ({ ...data, line_items: [], buyer_name: "New" }) } : undefined;
    simulator.update("purchase_orders", 70);
    const before = await count("purchase_order_line_items", live);
    const blocked = await sync();
    expect(blocked.exit_code).toBe(1);
    expect(blocked.errors).toMatchObject([
      { code: "deletes.lines_blocked", fields: { table: "purchase_order_line_items", live: before } },
    ]);
    expect(lineOf(blocked, "purchase_order_details")).toMatchObject({ status: "failed", child_deleted: 0 });
    expect(await count("purchase_order_line_items", live)).toBe(before);
    // Held back whole: a reader never sees the row of one answer with the lines of another.
    expect(await count("purchase_order_details", "buyer_name = 'New'")).toBeLessThan(10);

    const confirmed = await sync({ confirmDeletes: true });
    expect(confirmed.exit_code).toBe(0);
    expect(lineOf(confirmed, "purchase_order_details").child_deleted).toBeGreaterThan(100);
  });

  test.each([
    ["left out", ({ words: _left, ...row }: Record<string, unknown>) => row, "nothing"],
    ["no array", (row: Record<string, unknown>) => ({ ...row, words: "see page 2" }), "see page 2"],
  ])(
    "lines of list rows and of a snapshot stay while their array is %s, and a problem says so",
    async (_how, edit, example) => {
      let spoilt = false;
      const said = (row: Record<string, unknown>) => (spoilt ? { ...edit(row), note: "new" } : row);
      const place = await told(make, [boxes, census], {
        "/boxes": () => ({ boxes: worded("old", 3, 2).map(said) }),
        "/census": () => said(worded("old", 4)[0]!),
      });
      const lines = async () => [await place.count("box_words", live), await place.count("census_words", live)];
      await place.run();
      expect(await lines()).toEqual([5, 4]);
      spoilt = true;
      const report = await place.run();
      expect(report.exit_code).toBe(0);
      for (const [name, rows] of [
        ["boxes", 2],
        ["census", 1],
      ] as const) {
        const line = { status: "warning", updated: rows, child_deleted: 0, problems: rows };
        expect(lineOf(report, name)).toMatchObject(line);
        expect(await place.count(name, `note = 'new' and cast(_problems as varchar) like '%"words"%'`)).toBe(rows);
        const known = `stream = '${name}' and column_name = 'words' and rows = ${rows}`;
        expect(await place.count("_tributary.problems", `${known} and example like '%${example}%'`)).toBe(1);
      }
      expect(await lines()).toEqual([5, 4]);
      spoilt = false;
      expect(await place.run()).toMatchObject({ exit_code: 0, status: "succeeded" });
      expect(await lines()).toEqual([5, 4]);
      expect(await place.count("boxes", "_problems is not null")).toBe(0);
    },
  );

  test.each([
    ["shorter", 1],
    ["empty", 0],
  ])(
    "arrays of list rows and of a snapshot that come %s: more lines than the guard allows leave only when it is confirmed",
    async (_how, left) => {
      let [counts, count]: [readonly number[], number] = [[7, 7, 30], 14];
      const place = await told(
        make,
        [boxes, census],
        { "/boxes": () => ({ boxes: worded("old", ...counts) }), "/census": () => worded("old", count)[0] },
        { deletes: { max_share: 0.2, min_rows: 5 } },
      );
      const lines = async () => [await place.count("box_words", live), await place.count("census_words", live)];
      await place.run();
      // A few may leave.
      [counts, count] = [[7, 6, 28], 13];
      expect(lineOf(await place.run(), "boxes")).toMatchObject({ status: "succeeded", child_deleted: 3 });
      expect(await lines()).toEqual([41, 13]);
      [counts, count] = [[left, left, 28], left];
      const blocked = await place.run();
      expect(blocked.exit_code).toBe(1);
      const inOrder = blocked.errors.toSorted((a, b) => (a.message < b.message ? -1 : 1));
      expect(inOrder).toMatchObject([
        { code: "deletes.lines_blocked", fields: { table: "box_words", leaving: 13 - 2 * left, live: 41 } },
        { code: "deletes.lines_blocked", fields: { table: "census_words", leaving: 13 - left, live: 13 } },
      ]);
      for (const name of ["boxes", "census"])
        expect(lineOf(blocked, name)).toMatchObject({ status: "failed", updated: 0, child_deleted: 0 });
      expect(await lines()).toEqual([41, 13]);
      const confirmed = await place.run({ confirmDeletes: true });
      expect(confirmed.exit_code).toBe(0);
      expect(await lines()).toEqual([28 + 2 * left, left]);
    },
  );

  test("empty arrays of a snapshot taken again on one day are held back, and taken the next run when they are filled", async () => {
    const place = await scenario(
      make,
      {},
      { config: { streams: { include: ["analytics_spend"], exclude: ["preset:core"] }, deletes: { min_rows: 0 } } },
    );
    const { sync, count } = place;
    await sync();
    const lines = await count("analytics_spend_over_time", live);
    expect(lines).toBeGreaterThan(0);
    place.look = ({ path }): Look =>
      path === "/analytics/spend" ? { edit: data => ({ ...data, spend_over_time: [] }) } : undefined;
    const blocked = await sync();
    expect(blocked).toMatchObject({ exit_code: 1, errors: [{ code: "deletes.lines_blocked" }] });
    expect(await count("analytics_spend_over_time", live)).toBe(lines);
    place.look = () => undefined;
    expect(await sync()).toMatchObject({ exit_code: 0 });
    expect(await count("analytics_spend_over_time", live)).toBe(lines);
  });
});
