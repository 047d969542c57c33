import { describe, expect, test } from "vitest";
import { count, id, record } from "../../../schemas/fields.ts";
import { defineStream, scan } from "../../../src/catalog/stream.ts";
import { refused } from "../../support/interposed.ts";
import { lineOf } from "../../support/run.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { page, told } from "../answers.ts";
import { balance, scenario } from "../scenario.ts";

const names = ["items"];

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test.each([
    { what: "a service that ignores the cursor", faults: { endless: "first" }, pages: 21, rows: 100 },
    { what: "a last page that is repeated for ever", faults: { endless: "last" }, pages: 24, rows: 320 },
    { what: "empty pages without an end", faults: { emptyPage: 1 }, pages: 20, rows: 0 },
  ] as const)("$what: the reading ends after 20 pages without a new row, and what came is loaded", async each => {
    const { simulator, sync, count } = await scenario(make, { items: 320 });
    Object.assign(simulator.faults, { only: "/items", ...each.faults });
    const report = await sync({ names });
    const line = lineOf(report, "items");
    expect(report).toMatchObject({ status: "failed", exit_code: 1 });
    expect(line).toMatchObject({ status: "incomplete", pages: each.pages, inserted: each.rows, deleted: 0 });
    expect(line.error).toContain(`at page ${each.pages} the 20th page in a row brought no new row`);
    expect(await count("items")).toBe(each.rows);
    expect(balance(line).went).toBe(balance(line).came);
  });

  test("the last page promises more without a cursor: its rows are loaded, nothing is deleted, and the next run reads the list whole", async () => {
    const { simulator, sync, count, clock } = await scenario(make, { items: 320 });
    await sync({ names });
    simulator.delete("items", 2);
    simulator.insert("items", 5);
    Object.assign(simulator.faults, { only: "/items", hasMoreWithoutCursor: 1 });
    const broken = await sync({ names });
    expect(broken.exit_code).toBe(1);
    expect(lineOf(broken, "items")).toMatchObject({ status: "incomplete", rows_read: 100, inserted: 5, deleted: 0 });
    expect(broken.errors).toMatchObject([{ code: "source.endless_pages", fields: { path: "/items", page: 1 } }]);
    expect(broken.warnings).toContainEqual(
      expect.objectContaining({
        code: "stream.read_in_part",
        fields: expect.objectContaining({ pages: 1, rows: 100 }),
      }),
    );
    expect(await count("items", "_deleted_at is null")).toBe(325);
    simulator.faults.hasMoreWithoutCursor = 0;
    expect(lineOf(await sync({ names }), "items")).toMatchObject({ status: "succeeded", carried: 0, missing: 2 });
    clock.advance(3_600_000);
    expect(lineOf(await sync({ names }), "items")).toMatchObject({ status: "succeeded", deleted: 2 });
  });

  test("rows whose key repeats are no pages that were there before, and 19 empty pages are no end", async () => {
    const row = record("A thing.", { id: id().describe("Its id."), nth: count().describe("Its number.") });
    const mode = scan({ rows: "things" });
    const things = defineStream({ name: "things", path: "/things", mode, row, key: ["id", "_index"], preset: "core" });
    const place = await told(make, [things], {
      "/things": ({ query }) => {
        const nth = Number(query.get("cursor") ?? 0);
        const rows = nth > 5 && nth < 25 ? [] : [{ id: "one", nth }];
        return page({ things: rows }, nth === 30 ? null : String(nth + 1));
      },
    });
    expect(lineOf(await place.run(), "things")).toMatchObject({ status: "succeeded", pages: 31, inserted: 12 });
  });

  test("a row that the service fails at: what stands before it is loaded at once, and the stream names its place", async () => {
    const row = record("A thing.", { id: id().describe("Its id.") });
    const mode = scan({ rows: "things" });
    const things = defineStream({ name: "things", path: "/things", mode, row, key: ["id"], preset: "core" });
    const place = await told(make, [things], {
      "/things": ({ query }) => {
        const from = Number(query.get("cursor") ?? 0);
        const until = from + Number(query.get("limit"));
        if (from <= 160 && until > 160) return refused(500, "BAD_ROW");
        const rows = Array.from({ length: until - from }, (_, index) => ({ id: from + index }));
        return page({ things: rows }, until < 300 ? String(until) : null);
      },
    });
    const report = await place.run();
    const line = { status: "incomplete", inserted: 160, deleted: 0, requests: place.asked.length };
    expect(lineOf(report, "things")).toMatchObject(line);
    const fields = { page: 2, cursor: "160", offset: 60, rows: 100 };
    expect(report.errors).toMatchObject([{ code: "source.spoilt_row", fields }]);
  });

  test.each([400, 404, 410, 422, 403])("a kept cursor that answers %i: the same run begins afresh", async status => {
    const place = await scenario(make, { items: 320 });
    await place.sync({ names, maxRequests: 3 });
    Object.assign(place.simulator.faults, { only: "/items" });
    place.simulator.faults.expireCursorAfterPages = { pages: 1, times: 1, status };
    const line = lineOf(await place.sync({ names }), "items");
    expect(line).toMatchObject({ status: "succeeded", carried: 0, rows_read: 320, inserted: 320, repeated: 0 });
  });

  test("a kept cursor that ends in a 500 though the first page answers: the same run begins afresh; where neither answers, what was read stays", async () => {
    const place = await scenario(make, { items: 320 });
    await place.sync({ names, maxRequests: 3 });
    place.look = () => refused(500, "DOWN");
    expect(lineOf(await place.sync({ names }), "items")).toMatchObject({ status: "failed", carried: 200, inserted: 0 });
    place.look = ({ query }) => (query.has("cursor") ? undefined : refused(500, "DOWN"));
    const line = { status: "succeeded", inserted: 320 };
    expect(lineOf(await place.sync({ names }), "items")).toMatchObject({ ...line, carried: 200, rows_read: 120 });
    place.look = () => undefined;
    await place.sync({ names, full: true, maxRequests: 3 });
    let dead: string | null = null;
    place.look = ({ query }) => {
      dead ??= query.get("cursor");
      return dead !== null && query.get("cursor") === dead && ++refusals < 25 ? refused(500, "BAD_CURSOR") : undefined;
    };
    let refusals = 0;
    const again = lineOf(await place.sync({ names }), "items");
    expect(again).toMatchObject({ status: "succeeded", carried: 0, rows_read: 320, unchanged: 320 });
  });

  test("a cursor that is refused under way at another page each night: once more in the same run, and the third run loads what came", async () => {
    const place = await scenario(make, { items: 620 });
    for (const [run, pages] of [3, 2, 4].entries()) {
      place.simulator.requests.clear();
      Object.assign(place.simulator.faults, {
        only: "/items",
        expireCursorAfterPages: { pages, times: 9, status: 410 },
      });
      const report = await place.sync({ names });
      expect(report.exit_code).toBe(1);
      const inserted = run === 2 ? 400 : 0;
      expect(lineOf(report, "items")).toMatchObject({
        status: run === 2 ? "incomplete" : "failed",
        inserted,
        deleted: 0,
      });
      const warning = { code: "stream.read_in_part", fields: { stream: "items", pages: 4, rows: 400 } };
      expect(report.warnings).toMatchObject(run === 2 ? [warning] : []);
      expect(
        place.simulator.requests.entries.filter(
          ({ path, query }) => path === "/items" && query["cursor"] === undefined,
        ),
      ).toHaveLength(run === 0 ? 2 : 1);
      expect(await place.count("items")).toBe(inserted);
    }
  });
});
