import { describe, expect, test } from "vitest";
import { record, text } from "../../../schemas/fields.ts";
import { defineStream, detail } from "../../../src/catalog/stream.ts";
import { forget } from "../../support/forgetting.ts";
import { lineOf } from "../../support/run.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { page, told } from "../answers.ts";
import {
  bills,
  census,
  DAY_MS,
  detailsAsked,
  forbidden,
  live,
  noAudit,
  ordered,
  orderRow,
  orders,
  parked,
  profile,
  profiles,
  rating,
  ratings,
  vendorsIn,
} from "../vendors.ts";

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("values of two tables are asked for once each, and again when they have become old", async () => {
    const place = await told(
      make,
      [orders, bills, profiles],
      {
        "/orders": () =>
          ordered(
            { id: "1", vendor_id: "V1" },
            { id: "2", vendor_id: "V1" },
            { id: "3", vendor_id: null },
            { id: "4", vendor_id: "" },
          ),
        "/bills": () => ({
          bills: [
            { no: "b1", vendor: "V 2" },
            { no: "b2", vendor: "V1" },
          ],
        }),
        "/vendors/V1/profile": profile("V1"),
        "/vendors/V%202/profile": profile("V 2"),
        "/vendors/V3/profile": profile("V3"),
      },
      noAudit(),
    );
    expect(lineOf(await place.run(), "profiles")).toMatchObject({ status: "succeeded", requests: 2, inserted: 2 });
    expect(await vendorsIn(place, "profiles")).toEqual(["V 2", "V1"]);

    // A change of a row that carries it is none of the value's own.
    place.says["/orders"] = () => ordered({ id: "1", vendor_id: "V1", note: "changed" }, { id: "2", vendor_id: "V3" });
    place.clock.advance(6 * DAY_MS);
    expect(lineOf(await place.run(), "profiles")).toMatchObject({ requests: 1, inserted: 1, updated: 0 });
    place.clock.advance(DAY_MS + 1_000);
    expect(lineOf(await place.run(), "profiles")).toMatchObject({ requests: 2, inserted: 0, updated: 0, unchanged: 2 });
    expect(lineOf(await place.run(), "profiles")).toMatchObject({ requests: 0 });

    place.configure(noAudit({ profiles: { details: { refresh: "1d" } } }));
    place.clock.advance(DAY_MS + 1_000);
    expect(lineOf(await place.run(), "profiles")).toMatchObject({ requests: 3 });
  });

  test("what belongs to a value goes when no row carries it any more, and comes back with it", async () => {
    const both = ordered({ id: "1", vendor_id: "V1" }, { id: "2", vendor_id: "V2" });
    const place = await told(
      make,
      [orders, bills, profiles],
      {
        "/orders": () => both,
        "/bills": () => ({ bills: [{ no: "b1", vendor: "V3" }] }),
        "/vendors/V1/profile": profile("V1"),
        "/vendors/V2/profile": profile("V2"),
        "/vendors/V3/profile": profile("V3"),
      },
      noAudit(),
    );
    await place.run();
    place.says["/orders"] = () => ordered({ id: "1", vendor_id: "V1" }, { id: "2", vendor_id: "V1" });
    place.clock.advance(60_000);
    expect(lineOf(await place.run(), "profiles")).toMatchObject({ requests: 0, deleted: 1 });
    expect(await vendorsIn(place, "profiles")).toEqual(["V1", "V3"]);
    expect(await place.count("_tributary.details", "parent_key = 'V2'")).toBe(0);
    expect(
      await place.count("_tributary.streams", "stream = 'profiles' and details_pending = 0 and live_rows = 2"),
    ).toBe(1);
    place.says["/orders"] = () => both;
    expect(lineOf(await place.run(), "profiles")).toMatchObject({ requests: 1, inserted: 0, updated: 1, deleted: 0 });
    expect(await vendorsIn(place, "profiles")).toEqual(["V1", "V2", "V3"]);
    // A carrying row that is deleted takes its value with it only where no other has it.
    place.says["/orders"] = () => ordered({ id: "2", vendor_id: "V3" });
    place.says["/bills"] = () => ({ bills: [{ no: "b9", vendor: "V2" }] });
    for (let i = 0; i < 2; i++) await place.run();
    expect(await vendorsIn(place, "profiles")).toEqual(["V2", "V3"]);
  });

  test("without an age a value is due when a row that carries it comes, changes or goes; open and newest come first", async () => {
    const place = await told(
      make,
      [orders, ratings],
      {
        "/orders": () =>
          ordered(
            { id: "1", vendor_id: "V1", po_date: "2026-03-01" },
            { id: "2", vendor_id: "V2", po_date: "2026-01-01" },
            { id: "3", vendor_id: "V3", po_date: "2026-01-01" },
            { id: "4", vendor_id: "V2", po_date: "2025-01-01", is_open: true },
            { id: "5", vendor_id: "V3", po_date: "2026-02-01" },
          ),
        "/vendors/V1/rating": rating,
        "/vendors/V2/rating": rating,
        "/vendors/V3/rating": rating,
      },
      { ...noAudit(), api: { max_concurrency: 1 } },
    );
    await place.run();
    expect(detailsAsked(place)).toEqual(["/vendors/V2/rating", "/vendors/V1/rating", "/vendors/V3/rating"]);
    await place.run();
    expect(detailsAsked(place)).toEqual([]);
    const rows = (note: string) => [
      { id: "1", vendor_id: "V1", po_date: "2026-03-01" },
      { id: "2", vendor_id: "V2", po_date: "2026-01-01", note },
      { id: "3", vendor_id: "V3", po_date: "2026-01-01" },
      { id: "4", vendor_id: "V2", po_date: "2025-01-01", is_open: true },
      { id: "5", vendor_id: "V1", po_date: "2026-02-01" },
    ];
    place.says["/orders"] = () => ordered(...rows("new"));
    await place.run();
    expect(detailsAsked(place).sort()).toEqual(["/vendors/V1/rating", "/vendors/V2/rating", "/vendors/V3/rating"]);
    await place.run();
    expect(detailsAsked(place)).toEqual([]);
  });

  test("a new version that stamps the carrying rows anew asks for none of their values again", async () => {
    const says = {
      "/orders": () =>
        ordered(...Array.from({ length: 40 }, (_, i) => ({ id: `${i}`, vendor_id: `V${i % 3}`, note: "x" }))),
      "/vendors/V0/rating": rating,
      "/vendors/V1/rating": rating,
      "/vendors/V2/rating": rating,
    };
    const place = await told(make, [orders, ratings], says, noAudit());
    await place.run();
    const { note: _note, ...less } = orderRow;
    const wider = [
      defineStream({
        ...orders,
        row: record("An order.", { ...less, remark: text().nullable().describe("Another."), note: orderRow.note }),
      }),
      ratings,
    ];
    const report = await place.run({ catalogue: wider });
    expect(lineOf(report, "orders")).toMatchObject({ updated: 0, unchanged: 40 });
    expect(lineOf(report, "ratings")).toMatchObject({ requests: 0, deleted: 0 });
    expect(lineOf(await place.run({ catalogue: wider }), "ratings")).toMatchObject({ requests: 0 });
    place.says["/orders"] = () =>
      ordered(
        ...Array.from({ length: 40 }, (_, i) => ({ id: `${i}`, vendor_id: `V${i % 3}`, note: i === 1 ? "y" : "x" })),
      );
    expect(lineOf(await place.run({ catalogue: wider }), "ratings")).toMatchObject({ requests: 1 });
  });

  test("the field names of an object are values, those of a snapshot's last day", async () => {
    const rows = (...texts: string[]) => ({
      status: 200,
      body: { data: { rows: texts.map(each => ({ text: each })) }, pagination: { has_more: false, next_cursor: null } },
    });
    const place = await told(
      make,
      [census, parked],
      {
        "/census": () => ({ by_sink: { mail: 2, "a.b": 1 } }),
        "/parked/mail": () => rows("m1", "m2"),
        "/parked/a.b": () => rows("a1"),
        "/parked/fax": () => rows("f1"),
      },
      noAudit(),
    );
    expect(lineOf(await place.run(), "parked")).toMatchObject({ requests: 2, inserted: 3 });
    expect(lineOf(await place.run(), "parked")).toMatchObject({ requests: 0, inserted: 0, updated: 0, deleted: 0 });
    place.clock.advance(DAY_MS + 60_000);
    place.says["/census"] = () => ({ by_sink: { mail: 1, fax: 1 } });
    place.says["/parked/mail"] = () => rows("m2");
    const next = lineOf(await place.run(), "parked");
    expect(next.requests).toBeGreaterThanOrEqual(2);
    expect(await place.count("parked", `${live} and sink = 'fax'`)).toBe(1);
    expect(await place.count("parked", `${live} and sink = 'mail'`)).toBe(1);
    expect(await place.count("parked", `${live} and sink = 'a.b'`)).toBe(0);
  });

  test("a snapshot that names no values says nothing about them, and too many that are gone have to be confirmed", async () => {
    const names = Array.from({ length: 60 }, (_, i) => `s${i}`);
    const one = page({ rows: [{ text: "x" }] }, null);
    const bySink = (...sinks: string[]) => ({ by_sink: Object.fromEntries(sinks.map(each => [each, 1])) });
    const place = await told(
      make,
      [census, parked],
      {
        "/census": () => bySink(...names),
        ...Object.fromEntries(names.map(each => [`/parked/${each}`, () => one] as const)),
      },
      noAudit(),
    );
    expect(lineOf(await place.run(), "parked")).toMatchObject({ inserted: 60 });
    for (const nothing of [null, "none", ["s1"]]) {
      place.says["/census"] = () => ({ by_sink: nothing });
      expect(lineOf(await place.run(), "parked")).toMatchObject({ status: "succeeded", deleted: 0 });
    }
    place.says["/census"] = () => bySink();
    const held = lineOf(await place.run(), "parked");
    expect(held).toMatchObject({ status: "failed", deleted: 0 });
    expect(held.error).toMatch(/60 of 60 live rows .*sync parked --confirm-deletes/);
    expect(await place.count("parked", live)).toBe(60);
    const confirmed = await place.run({ names: ["parked"], confirmDeletes: true });
    expect(lineOf(confirmed, "parked")).toMatchObject({ status: "succeeded", deleted: 60 });
    expect(await place.count("_tributary.details", "stream = 'parked'")).toBe(0);
  });

  test("a further source that was never on keeps no value from going", async () => {
    const both = ordered({ id: "1", vendor_id: "V1" }, { id: "2", vendor_id: "V2" });
    const off = { defaults: { details: { audit: 0 } }, exclude: ["bills"] };
    const says = {
      "/orders": () => both,
      "/vendors/V1/profile": profile("V1"),
      "/vendors/V2/profile": profile("V2"),
    };
    const place = await told(make, [orders, bills, profiles], says, { streams: off });
    await place.run();
    place.says["/orders"] = () => ordered({ id: "1", vendor_id: "V1" }, { id: "2", vendor_id: "V1" });
    expect(lineOf(await place.run(), "profiles")).toMatchObject({ deleted: 1 });
  });

  test("a further source that is on and was never read whole keeps values, though it has no table", async () => {
    const says = {
      "/orders": () => ordered({ id: "1", vendor_id: "V1" }),
      "/bills": () => ({ bills: [{ no: "1", vendor: "V2" }] }),
      "/vendors/V1/profile": profile("V1"),
      "/vendors/V2/profile": profile("V2"),
    };
    const place = await told(make, [orders, bills, profiles], says, noAudit());
    await place.run();
    await forget(place, [orders, bills, profiles], ["bills"], { drop: true });
    const readable = place.says["/bills"]!;
    place.says["/bills"] = () => forbidden;
    expect(lineOf(await place.run(), "profiles")).toMatchObject({ deleted: 0 });
    expect(await place.count("profiles", live)).toBe(2);
    Object.assign(place.says, { "/bills": readable, "/orders": () => ordered({ id: "1", vendor_id: "V2" }) });
    expect(lineOf(await place.run(), "profiles")).toMatchObject({ deleted: 1 });
  });

  test("only parents with a value, whether rows or values are asked for", async () => {
    const only = { column: "note", value: "agent" };
    const own = defineStream({
      ...ratings,
      name: "own",
      path: "/vendors/{id}/own",
      mode: detail({ of: "orders", only }),
      key: ["id"],
    });
    const byValue = defineStream({
      ...ratings,
      name: "by_value",
      mode: detail({ of: "orders", by: "vendor_id", only }),
    });
    const place = await told(
      make,
      [orders, own, byValue],
      {
        "/orders": () =>
          ordered(
            { id: "1", vendor_id: "V1", note: "agent" },
            { id: "2", vendor_id: "V2", note: "user" },
            { id: "3", vendor_id: "V1" },
          ),
        "/vendors/1/own": rating,
        "/vendors/V1/rating": rating,
      },
      noAudit(),
    );
    const report = await place.run();
    expect(report.exit_code).toBe(0);
    expect(detailsAsked(place).sort()).toEqual(["/vendors/1/own", "/vendors/V1/rating"]);
    expect(await place.count("_tributary.streams", "stream in ('own', 'by_value') and details_pending = 0")).toBe(2);
  });
});
