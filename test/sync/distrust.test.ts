import { describe, expect, test } from "vitest";
import { id, moment, record } from "../../schemas/fields.ts";
import { defineStream, feed } from "../../src/stream.ts";
import { warehouses } from "../support/warehouse.ts";
import { page, told } from "./answers.ts";

const events = defineStream({
  name: "events",
  path: "/events",
  mode: feed({
    rows: "events",
    mark: "happened_at",
    narrow: { by: "dates", from: "date_from", to: "date_to" },
    fullScanPages: 1,
    fullScanEveryDays: 30,
    lookbackDays: 1,
  }),
  row: record("Events.", {
    event_id: id().describe("Which."),
    happened_at: moment().nullable().describe("When it happened."),
  }),
  key: ["event_id"],
  preset: "core",
});

const PAGES = 8;

describe.each(warehouses)("$name", ({ make }) => {
  test("a feed whose filter cannot be relied on is read to its end also by runs that may ask for less than all of it", async () => {
    const place = await told(make, [events], {
      "/events": ({ query }) => {
        const nth = Number(query.get("cursor") ?? 0);
        const last = query.has("date_from") ? 1 : PAGES - 1;
        const row = { event_id: `${nth}`, happened_at: `2026-0${1 + (nth % 3)}-05T00:00:00Z` };
        return page({ events: [row] }, nth < last ? `${nth + 1}` : null);
      },
    });
    expect((await place.run()).exit_code).toBe(0);
    let exit: number | undefined;
    for (let nth = 0; nth < 4 && exit !== 0; nth++) {
      place.clock.advance(3_600_000);
      exit = (await place.run({ maxRequests: 6 })).exit_code;
    }
    expect(exit).toBe(0);
    expect(await place.count("events")).toBe(PAGES);
    await place.run();
    expect(place.asked[0]).toBe("/events?limit=100");
  });
});
