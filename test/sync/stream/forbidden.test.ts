import { describe, expect, test } from "vitest";
import type { Stream } from "../../../src/catalog/stream.ts";
import { lineOf } from "../../support/run.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { told } from "../answers.ts";
import {
  bills,
  DAY_MS,
  detailsAsked,
  forbidden,
  live,
  noAudit,
  ordered,
  orders,
  profiles,
  rating,
  ratings,
} from "../vendors.ts";

describe.each(eitherWarehouse)("$name: what a key may not read", ({ make }) => {
  const catalogue: readonly Stream[] = [orders, bills, profiles, ratings];

  test("is a warning, its details are skipped, and the rest goes on; asked for by name it is a failure", async () => {
    const place = await told(make, catalogue, {
      "/orders": () => forbidden,
      "/bills": () => ({ bills: [{ no: "1" }] }),
    });
    const report = await place.run();
    expect(report).toMatchObject({ status: "warning", exit_code: 0, errors: [] });
    expect(report.warnings).toMatchObject([{ code: "stream.not_available", fields: { streams: ["orders"] } }]);
    expect(lineOf(report, "orders")).toMatchObject({ status: "warning", error: expect.stringContaining("403") });
    for (const name of ["profiles", "ratings"])
      expect(lineOf(report, name)).toMatchObject({
        status: "skipped",
        error: "its list orders is not available to this key",
      });
    expect(lineOf(report, "bills")).toMatchObject({ status: "succeeded", inserted: 1 });
    const named = await place.run({ names: ["orders"] });
    expect(named).toMatchObject({ status: "failed", exit_code: 1 });
    expect(lineOf(named, "orders").status).toBe("failed");
    const detailed = await place.run({ names: ["ratings"] });
    expect(detailed).toMatchObject({ status: "failed", exit_code: 1 });
    expect(lineOf(detailed, "ratings")).toMatchObject({
      status: "failed",
      error: "ratings: its list orders is not available to this key",
    });
  });

  test("fails the run where an earlier run read the list, until the list is excluded or readable again", async () => {
    const readable = () => ordered({ id: "1" });
    const place = await told(make, [orders, bills], { "/orders": readable, "/bills": () => ({ bills: [] }) });
    expect(await place.run()).toMatchObject({ exit_code: 0 });
    place.says["/orders"] = () => forbidden;
    for (const _night of [1, 2]) {
      const report = await place.run();
      expect(report).toMatchObject({ exit_code: 1, errors: [{ code: "stream.no_longer_available" }] });
      expect(lineOf(report, "orders")).toMatchObject({ status: "failed", error: expect.stringContaining("403") });
      expect(lineOf(report, "bills").status).toBe("succeeded");
      expect(await place.count("orders", live)).toBe(1);
    }
    place.configure({ streams: { exclude: ["orders"] } });
    expect(await place.run()).toMatchObject({ exit_code: 0 });
    place.configure({});
    place.says["/orders"] = readable;
    expect(await place.run()).toMatchObject({ exit_code: 0 });
  });

  test("fails the run where it is every list of the run", async () => {
    const place = await told(make, catalogue, { "/orders": () => forbidden, "/bills": () => forbidden });
    const report = await place.run();
    expect(report).toMatchObject({ exit_code: 1, errors: [{ code: "run.nothing_available", fields: { lists: 2 } }] });
    expect(report.warnings).toMatchObject([{ code: "stream.not_available" }]);
    place.says["/bills"] = () => ({ bills: [] });
    expect(await place.run()).toMatchObject({ status: "warning", exit_code: 0 });
  });

  test("ends a detail's requests at the first, and tables keep what they have; one among others that is refused is a failed one", async () => {
    const vendors = Array.from({ length: 30 }, (_, i) => `V${i}`);
    const place = await told(
      make,
      [orders, ratings],
      {
        "/orders": () => ordered(...vendors.map((vendor_id, i) => ({ id: `${i}`, vendor_id }))),
        ...Object.fromEntries(vendors.map(each => [`/vendors/${each}/rating`, () => forbidden] as const)),
      },
      { ...noAudit(), api: { max_concurrency: 2 } },
    );
    const report = await place.run();
    expect(report).toMatchObject({ status: "warning", exit_code: 0 });
    expect(lineOf(report, "ratings")).toMatchObject({ status: "warning", inserted: 0 });
    expect(detailsAsked(place).length).toBeLessThanOrEqual(5);
    expect(await place.count("_tributary.details")).toBe(0);
    expect(await place.run({ names: ["ratings"] })).toMatchObject({ status: "failed", exit_code: 1 });

    for (const each of vendors.slice(1)) place.says[`/vendors/${each}/rating`] = rating;
    expect(lineOf(await place.run(), "ratings")).toMatchObject({ status: "warning", inserted: 29 });
    expect(await place.count("_tributary.details", "outcome = 'failed' and parent_key = 'V0'")).toBe(1);
    // Alone again it is that one's failure still, which waits longer each time.
    place.clock.advance(DAY_MS / 24);
    expect(lineOf(await place.run(), "ratings")).toMatchObject({ status: "failed", requests: 1 });
    expect(await place.count("_tributary.details", "attempts = 2 and parent_key = 'V0'")).toBe(1);
  });

  test("fails the run where an earlier run read a detail, once each that it requests is refused", async () => {
    const vendors = Array.from({ length: 30 }, (_, i) => `V${i}`);
    const place = await told(
      make,
      [orders, ratings],
      {
        "/orders": () => ordered(...vendors.map((vendor_id, i) => ({ id: `${i}`, vendor_id }))),
        ...Object.fromEntries(vendors.map(each => [`/vendors/${each}/rating`, rating] as const)),
      },
      noAudit(),
    );
    await place.run();
    // A single one that is refused tells nothing of the others: it fails, and waits for its next try.
    place.says["/orders"] = () => ordered(...[...vendors, "V30"].map((vendor_id, i) => ({ id: `${i}`, vendor_id })));
    place.says["/vendors/V30/rating"] = () => forbidden;
    expect(await place.run()).toMatchObject({ exit_code: 1, errors: [{ code: "details.failed" }] });
    expect(await place.run()).toMatchObject({ exit_code: 0 });
    for (const each of vendors) place.says[`/vendors/${each}/rating`] = () => forbidden;
    const report = await place.run({ allDetails: true });
    expect(report).toMatchObject({ exit_code: 1, errors: [{ code: "stream.no_longer_available" }] });
    expect(lineOf(report, "ratings")).toMatchObject({ status: "failed", error: expect.stringContaining("403") });
    expect(await place.count("ratings", live)).toBe(30);
  });
});
