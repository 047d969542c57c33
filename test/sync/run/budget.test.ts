import { describe, expect, test } from "vitest";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { told } from "../answers.ts";
import { detailsAsked, noAudit, ordered, orders, rating, ratings } from "../vendors.ts";

describe.each(eitherWarehouse)("$name: a run's budget", ({ make }) => {
  const vendors = Array.from({ length: 10 }, (_, i) => `V${i}`);
  const dated = (change = "") =>
    ordered(...vendors.map((vendor_id, i) => ({ id: `${i}`, vendor_id, po_date: `2026-01-1${i}`, note: change })));

  const fourAtMost = () =>
    told(
      make,
      [orders, ratings],
      {
        "/orders": () => dated(),
        ...Object.fromEntries(vendors.map(each => [`/vendors/${each}/rating`, rating] as const)),
      },
      { ...noAudit({ ratings: { max_details: 4 } }), api: { max_concurrency: 1 } },
    );

  test("goes to what was never fetched, then to what was fetched longest ago, and the report tells the rest", async () => {
    const place = await fourAtMost();
    const names = () => detailsAsked(place).map(path => path.split("/")[2]);
    const first = await place.run();
    expect(first).toMatchObject({ status: "succeeded", exit_code: 0 });
    expect(first.notes).toMatchObject([{ code: "details.left", fields: { stream: "ratings", left: 6, allowed: 4 } }]);
    expect(names()).toEqual(["V9", "V8", "V7", "V6"]);
    expect(await place.count("_tributary.streams", "stream = 'ratings' and details_pending = 6")).toBe(1);
    place.says["/orders"] = () => dated("changed");
    for (const expected of [
      ["V5", "V4", "V3", "V2"],
      ["V1", "V0", "V9", "V8"],
      ["V7", "V6"],
    ]) {
      place.clock.advance(60_000);
      const report = await place.run();
      expect(names()).toEqual(expected);
      expect(report.notes).toHaveLength(expected.length === 4 ? 1 : 0);
    }
  });

  test("leaves a table as complete as it was while some of it was never fetched; what is fetched again later does not count", async () => {
    const place = await fourAtMost();
    const completeTo = async (stream: string) => {
      const rows = await place.warehouse.query<{ complete_to: Date | null }>(
        `select complete_to from _tributary.streams where stream = '${stream}'`,
      );
      return rows[0]!.complete_to?.getTime() ?? null;
    };
    for (const fetched of [4, 8]) {
      await place.run();
      expect([await place.count("ratings"), await completeTo("ratings")]).toEqual([fetched, null]);
    }
    place.says["/orders"] = () => dated("changed");
    await place.run();
    expect(await place.count("_tributary.streams", "stream = 'ratings' and details_pending = 6")).toBe(1);
    const first = place.clock.now();
    expect(await completeTo("ratings")).toBe(first);
    // Cut short by another limit it lacks what was due.
    place.clock.advance(3_600_000);
    expect(await place.run({ maxRequests: 3 })).toMatchObject({ exit_code: 5 });
    expect(await completeTo("ratings")).toBe(first);
    // The service's clock says how far the orders are complete, and their ratings are no further.
    place.clock.advance(100 * 365 * 86_400_000);
    for (let rest = 0; rest < 2; rest++) await place.run();
    expect(await completeTo("ratings")).toBe(await completeTo("orders"));
  });

  test("can be set before a first run of many details: it says how many there are", async () => {
    const many = Array.from({ length: 1_001 }, (_, i) => ({ id: `${i}`, vendor_id: `V${i}` }));
    const place = await told(make, [orders, ratings], { "/orders": () => ordered(...many) }, noAudit());
    await place.run({ maxRequests: 6 });
    expect(place.said.filter(text => text.includes("max_details"))).toEqual([
      expect.stringMatching(/^ratings: 1,001 details were never fetched/),
    ]);
  });
});
