import { describe, expect, test } from "vitest";
import { StoppedError } from "../../../src/errors.ts";
import { sentence } from "../../support/log.ts";
import { lineOf } from "../../support/run.ts";
import { eitherWarehouse, warehouses } from "../../support/warehouse.ts";
import { told } from "../answers.ts";
import { type Event, events, eventsOf, hourly } from "../events.ts";
import { remember, remembered } from "../remembered.ts";
import { balance, scenario } from "../scenario.ts";

const DAY = 86_400_000;
const START = "2026-02-22";
/** Of 1,500 rows an hour apart 504 lie from START on, and 480 in the 20 days before. */
const EARLIER = "2026-02-02";
const inGap = 480;

const starting = (start: string | undefined, more: object = {}) => ({
  streams: start === undefined ? {} : { start },
  ...more,
});

describe.each(eitherWarehouse)("$name", ({ make }) => {
  const place = async (odd: readonly Event[] = []) => {
    const rows = hourly(1_500, "2026-03-15");
    const its = await told(
      make,
      [events],
      {
        "/events": eventsOf(
          () => rows,
          () => odd,
        ),
      },
      starting(START),
    );
    const night = async (order: object = {}, signal?: AbortSignal) => {
      its.clock.advance(DAY);
      its.asked.length = 0;
      const report = await its.sync({ catalogue: [events], ...order }, signal);
      const line = lineOf(report, "events");
      if (report.exit_code === 0) expect(balance(line).went).toBe(balance(line).came);
      return { report, line };
    };
    expect((await its.run()).exit_code).toBe(0);
    expect(await its.count("events")).toBe(504);
    return { ...its, rows, night, its };
  };
  const narrowed = (asked: readonly string[]) => asked.filter(each => !each.includes("date_to"));
  const gapPages = (asked: readonly string[]) => asked.filter(each => each.includes("date_to=2026-02-23"));

  test("a start that is moved earlier has the days between read once, and nothing else", async () => {
    const { configure, night, asked, count } = await place();
    configure(starting(EARLIER));
    const { report, line } = await night();
    expect(report).toMatchObject({ status: "succeeded", warnings: [] });
    const gap = { from: "2026-02-02", to: "2026-02-22" };
    expect(report.notes).toMatchObject([{ code: "feed.gap_read", fields: { stream: "events", ...gap } }]);
    expect(line).toMatchObject({ inserted: inGap, updated: 0, deleted: 0 });
    // A page of each day at its end, which services may count in or not.
    expect(gapPages(asked)).toHaveLength(Math.ceil((inGap + 48) / 100));
    expect(narrowed(asked)).toHaveLength(1);
    expect(await count("events", "happened_at < '2026-02-02'")).toBe(0);
    for (let nth = 0; nth < 2; nth++) {
      const { report: next } = await night();
      expect(asked).toHaveLength(1);
      expect(next).toMatchObject({ status: "succeeded", notes: [] });
    }
    expect(await count("events", "_deleted_at is null")).toBe(504 + inGap);
  });

  test("a start that is removed has all that lies before it read once", async () => {
    const { configure, night, asked, count, its } = await place();
    configure(starting(undefined));
    expect((await night()).line).toMatchObject({ inserted: 1_500 - 504 });
    expect(gapPages(asked).every(each => !each.includes("date_from"))).toBe(true);
    expect(await count("events")).toBe(1_500);
    await night();
    expect(asked).toHaveLength(1);
    expect(await its.verify({ catalogue: [events] })).toMatchObject({ differences: [] });
  });

  test("stopped on the way, the next run goes on where it was, and asks for no page again", async () => {
    const { configure, its, night, asked, count } = await place();
    configure(starting(EARLIER));
    const stop = new AbortController();
    const before = its.look;
    its.look = passing => {
      if (passing.query.get("cursor") === "300" && passing.query.has("date_to"))
        stop.abort(new StoppedError(sentence("Ctrl-C"), 130));
      return before(passing);
    };
    expect((await night({}, stop.signal)).report).toMatchObject({ exit_code: 130 });
    const first = gapPages(asked);
    its.look = before;
    expect((await night()).line).toMatchObject({ status: "succeeded", inserted: inGap });
    const again = gapPages(asked).filter(each => first.slice(0, -1).includes(each));
    expect(again).toEqual([]);
    // Nor is its cost worked out once more.
    expect(asked.filter(each => each.includes("date_to=2026-02-22"))).toEqual([]);
    expect(await count("events")).toBe(504 + inGap);
  });

  test("above confirm_above each run says so and names the backfill, which closes it", async () => {
    const { configure, night, asked, count, its } = await place();
    configure(starting(EARLIER, { backfill: { confirm_above: 3 } }));
    for (let nth = 0; nth < 2; nth++) {
      const { report, line } = await night();
      const gap = { from: "2026-02-02", to: "2026-02-22", requests: 5, confirm_above: 3 };
      expect(report.warnings).toMatchObject([{ code: "feed.gap_refused", fields: { stream: "events", ...gap } }]);
      expect(line).toMatchObject({ status: "warning", inserted: 0 });
      // It is worked out once.
      expect(asked).toHaveLength(2 - nth);
    }
    // Nor does a full scan bring what nobody agreed to.
    expect((await night({ full: true })).line).toMatchObject({ inserted: 0, deleted: 0 });
    expect(await count("events")).toBe(504);
    const agreed = async () => undefined;
    const range = { from: EARLIER, to: START };
    const loaded = await its.backfill({ catalogue: [events], names: ["events"], range }, undefined, agreed);
    expect(lineOf(loaded, "events")).toMatchObject({ status: "succeeded", inserted: inGap });
    expect((await night()).report).toMatchObject({ status: "succeeded", warnings: [], notes: [] });
    expect(await count("events")).toBe(504 + inGap);
  });

  test("--dry-run names it, with what it costs", async () => {
    const { its } = await place();
    const lines = async (more: object) => {
      its.configure({ ...more });
      return (await its.dryRun({ catalogue: [events] })).streams.find(line => line.stream === "events")!;
    };
    expect(await lines(starting(EARLIER))).toMatchObject({
      requests: 6,
      why: expect.stringContaining(
        "about 5 for what lies from 2026-02-02 to 2026-02-22, which streams.start leaves in",
      ),
    });
    expect(await lines(starting(EARLIER, { backfill: { confirm_above: 3 } }))).toMatchObject({
      requests: 1,
      why: expect.stringContaining("`tributary backfill events --from 2026-02-02 --to 2026-02-22` loads it"),
    });
    expect(await lines(starting(START))).toMatchObject({ why: expect.not.stringContaining("start") });
  });

  test("a later start loses nothing, and is no gap when it goes back before a full scan", async () => {
    const { configure, night, asked, count } = await place();
    configure(starting("2026-03-01"));
    expect((await night()).line).toMatchObject({ deleted: 0, missing: 0 });
    configure(starting(START));
    await night();
    expect(asked).toHaveLength(1);
    configure(starting("2026-03-01"));
    expect((await night({ full: true })).line).toMatchObject({ deleted: 0, missing: 0 });
    expect(await count("events", "_deleted_at is null")).toBe(504);
    // What changed meanwhile was not seen.
    configure(starting(START));
    expect((await night()).line).toMatchObject({ inserted: 0 });
    expect(asked.filter(each => each.includes("date_from=2026-02-22") && each.includes("date_to"))).not.toEqual([]);
  });

  test("a warehouse that noted no start adopts the configuration as it stands, and requests nothing for it", async () => {
    const { configure, its, night, asked, count } = await place();
    await remember(its, "events", ({ coversFrom: _covers, ...older }) => older);
    configure(starting(EARLIER));
    expect((await night()).report).toMatchObject({ status: "succeeded", notes: [] });
    expect(asked).toHaveLength(1);
    expect(await count("events")).toBe(504);
    expect(await remembered(its, "events")).toMatchObject({ coversFrom: EARLIER });
    configure(starting("2026-01-31"));
    await night();
    // Two days, and with them the day at their end and the one after it.
    expect(await count("events")).toBe(504 + 96);
  });

  test("one odd row does not pass for a feed's long history when the start is removed", async () => {
    const { configure, night, asked } = await place([{ event_id: "odd", happened_at: "1971-01-01T00:00:00Z" }]);
    configure(starting(undefined, { backfill: { confirm_above: 100 } }));
    expect((await night()).line).toMatchObject({ status: "succeeded", inserted: 1_500 - 504 + 1 });
    expect(asked.length).toBeLessThan(20);
  });

  test("an odd row among those of the gap is remembered when the same night's newer rows bring another", async () => {
    const odd: Event[] = [];
    const { configure, its, night } = await place(odd);
    configure(starting(EARLIER));
    const answer = its.look;
    its.look = passing => {
      const event_id = passing.query.has("date_to") ? "of-the-gap" : "of-tonight";
      odd.splice(0, 1, { event_id, happened_at: "2025-06-01T00:00:00Z" });
      return answer(passing);
    };
    const { report } = await night();
    const strays = [{ key: "event_id=of-tonight" }, { key: "event_id=of-the-gap" }];
    expect(report.warnings).toMatchObject([{ code: "feed.filter_refuted", fields: { strays } }]);
  });

  test("a feed whose filter can't say a day is read whole once, and rows it brings have their details fetched", async () => {
    const config = { streams: { start: "2026-03-01", settings: { findings: { full_scan_pages: 1 } } } };
    const place = await scenario(make, { findings: 320 }, { config });
    const { simulator, count } = place;
    const all = async () => simulator.truth.count("findings");
    await place.sync({ names: ["findings"] });
    expect(await count("findings")).toBeLessThan(await all());
    place.configure({ streams: { settings: config.streams.settings } });
    place.clock.advance(DAY);
    simulator.requests.clear();
    await place.sync({ names: ["findings"] });
    expect(await count("findings")).toBe(await all());
    place.clock.advance(DAY);
    simulator.requests.clear();
    await place.sync({ names: ["findings"] });
    const asked = simulator.requests.entries.filter(
      ({ path, query }) => path === "/findings" && query["limit"] !== "1",
    );
    expect(asked.map(({ query }) => query["detected_within"])).toEqual(["7d"]);
  });
});

test("details of parents that an earlier start leaves in become due", async () => {
  const place = await scenario(warehouses[0]!.make, { orders: 60 }, { config: starting("2026-01-01") });
  const names = ["purchase_order_details"];
  await place.sync({ names });
  const before = await place.count("purchase_order_details");
  place.configure(starting(undefined));
  await place.sync({ names });
  expect(before).toBeLessThan(60);
  expect(await place.count("purchase_order_details")).toBe(60);
});
