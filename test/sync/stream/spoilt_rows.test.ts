import { describe, expect, test } from "vitest";
import { id, record } from "../../../schemas/fields.ts";
import { defineStream, type Listing, list, scan } from "../../../src/catalog/stream.ts";
import { StoppedError } from "../../../src/errors.ts";
import { refused } from "../../support/interposed.ts";
import { sentence } from "../../support/log.ts";
import { lineOf } from "../../support/run.ts";
import { eitherWarehouse, type Warehouse } from "../../support/warehouse.ts";
import { instead, page, told } from "../answers.ts";

const row = record("A thing.", { id: id().describe("Its id.") });

/** A service with a list of things, of which `bad` is the one that it fails at or writes as no JSON. */
async function things(make: () => Promise<Warehouse>, more: Partial<Listing> = {}) {
  const mode = scan({ rows: "things", ...more });
  const stream = defineStream({ name: "things", path: "/things", mode, row, key: ["id"], preset: "core" });
  const service = {
    ids: Array.from({ length: 300 }, (_, index) => index),
    bad: undefined as number | undefined,
    sorts: true,
    groups: false,
    fails: true,
  };
  const place = await told(make, [stream], {
    "/things": ({ query }) => {
      const { ids, bad, sorts, groups, fails } = service;
      const listed = groups && !query.has("sort_by") ? ids.toSorted((a, b) => (a % 7) - (b % 7)) : ids;
      const all = sorts && query.get("sort_dir") === "desc" ? listed.toReversed() : listed;
      const [from, limit] = [Number(query.get("cursor") ?? 0), Number(query.get("limit"))];
      const shown = all.slice(from, from + limit);
      const next = from + limit < all.length ? String(from + limit) : null;
      if (bad === undefined || !shown.includes(bad)) return page({ things: shown.map(each => ({ id: each })) }, next);
      if (fails) return refused(500, "BAD_ROW");
      const rows = shown.map(each => (each === bad ? `{"id":${each},"size":NaN}` : `{"id":${each}}`));
      const pagination = JSON.stringify({ next_cursor: next, has_more: next !== null, limit });
      return instead(200, Buffer.from(`{"data":{"things":[${rows}],"total":300},"pagination":${pagination}}`));
    },
  });
  return Object.assign(place, { service, stream });
}

const orders = [{ sort_dir: "asc" }, { sort_dir: "desc" }];

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("a row that is no JSON is a reject with its text and place; the list is read to its end, and nothing is deleted until it comes", async () => {
    const place = await things(make);
    const { service, warehouse, run, clock } = place;
    await place.run();
    service.ids.splice(5, 1);
    Object.assign(service, { bad: 160, fails: false });
    const rejects = () =>
      warehouse.query(
        "select raw, context, cast(times as integer) as times, resolved_at is null as open from _tributary.rejects",
      );
    for (const times of [1, 2]) {
      const report = await run();
      expect(report).toMatchObject({ exit_code: 0, status: "warning" });
      expect(lineOf(report, "things")).toMatchObject({ rows_read: 299, rejected: 1, unchanged: 298, deleted: 0 });
      expect(report.warnings).toMatchObject([{ code: "rejects.not_stored", fields: { stream: "things", rows: 1 } }]);
      const context = { page: { cursor: "159", offset: 59, rows: 100 } };
      expect(await rejects()).toMatchObject([{ raw: ['[{"id":160,"size":NaN}]'], context, times, open: true }]);
      clock.advance(86_400_000);
    }
    service.bad = undefined;
    expect(lineOf(await run(), "things")).toMatchObject({ status: "succeeded", unchanged: 299, missing: 1 });
    expect(await rejects()).toMatchObject([{ open: false }]);
    clock.advance(86_400_000);
    expect(lineOf(await run(), "things")).toMatchObject({ status: "succeeded", deleted: 1 });
  });

  test("a row that the service fails at: the list is read in its opposite order, too, up to that row, and the run names it", async () => {
    const place = await things(make, { orders });
    place.service.bad = 160;
    const report = await place.run();
    expect(report.exit_code).toBe(1);
    const line = { status: "incomplete", inserted: 299, deleted: 0, requests: place.asked.length };
    expect(lineOf(report, "things")).toMatchObject(line);
    expect(report.errors).toMatchObject([{ code: "source.spoilt_row", fields: { cursor: "160", offset: 60 } }]);
    const first = place.asked.filter(each => !each.includes("cursor"));
    expect(first).toEqual(["", "sort_dir=asc&", "sort_dir=desc&"].map(sort => `/things?${sort}limit=100`));
    expect(place.asked.filter(each => each.includes("asc"))).toHaveLength(1);
    place.service.bad = undefined;
    expect(lineOf(await place.run(), "things")).toMatchObject({ status: "succeeded", carried: 0, inserted: 1 });
  });

  test("a list whose own order has no opposite is read by another order, from both ends", async () => {
    const place = await things(make, { orders, sortedBy: { sort_by: "size" } });
    Object.assign(place.service, { bad: 160, groups: true });
    expect(lineOf(await place.run(), "things")).toMatchObject({ status: "incomplete", inserted: 299, deleted: 0 });
    // Where the first order reaches every row, the second one ends with its first page.
    const say = place.says["/things"]!;
    place.says["/things"] = passing => {
      place.service.bad = passing.query.has("sort_by") ? undefined : 160;
      return say(passing);
    };
    expect(lineOf(await place.run(), "things")).toMatchObject({ status: "incomplete", inserted: 1, deleted: 0 });
    expect(place.asked.filter(each => each.includes("desc"))).toHaveLength(1);
  });

  test("a list in one answer with a row that is no JSON: the stream fails, its rows stay, and it is loaded once it can be read", async () => {
    const mode = list({ rows: "things" });
    const stream = defineStream({ name: "things", path: "/things", mode, row, key: ["id"], preset: "core" });
    let size = "1";
    const place = await told(make, [stream], {
      "/things": () => instead(200, Buffer.from(`{"data":{"things":[{"id":1},{"id":2,"size":${size}}]}}`)),
    });
    await place.run();
    size = "NaN";
    const report = await place.run();
    expect(report).toMatchObject({ exit_code: 1, errors: [{ code: "source.unavailable" }] });
    expect(lineOf(report, "things")).toMatchObject({ status: "failed", rows_read: 0, deleted: 0 });
    expect(await place.count("things", "_deleted_at is null")).toBe(2);
    size = "2";
    expect(await place.run()).toMatchObject({ exit_code: 0 });
  });

  test("a service that ignores the order costs one request for each", async () => {
    const place = await things(make, { orders });
    Object.assign(place.service, { bad: 160, sorts: false });
    expect(lineOf(await place.run(), "things")).toMatchObject({ status: "incomplete", inserted: 160 });
    expect(place.asked.filter(each => each.includes("sort_dir"))).toHaveLength(2);
  });

  test("stopped while the opposite order is read, a run has loaded what stands before the row, and the next one reads the list whole", async () => {
    const place = await things(make, { orders });
    place.service.bad = 160;
    const ending = new AbortController();
    const { "/things": say } = place.says;
    place.says["/things"] = passing => {
      if (passing.query.get("sort_dir") === "desc") ending.abort(new StoppedError(sentence("stopped"), 143));
      return say!(passing);
    };
    const stopped = await place.sync({ catalogue: [place.stream] }, ending.signal);
    expect(stopped).toMatchObject({ exit_code: 143 });
    expect(lineOf(stopped, "things")).toMatchObject({ inserted: 160, deleted: 0 });
    expect(place.asked.filter(each => each.includes("desc"))).toHaveLength(1);
    Object.assign(place.says, { "/things": say });
    place.service.bad = undefined;
    const line = { status: "succeeded", carried: 0, inserted: 140, unchanged: 160, deleted: 0 };
    expect(lineOf(await place.run(), "things")).toMatchObject(line);
  });
});
