import { describe, expect, test } from "vitest";
import { warehouses } from "../../support/warehouse.ts";
import { page, told } from "../answers.ts";
import { events } from "../events.ts";

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
