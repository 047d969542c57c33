import { describe, expect, test } from "vitest";
import { reasons } from "../../../src/sync/load/row_count_proof.ts";
import { streams } from "../../../streams/index.ts";
import { meddle } from "../../operations/verify/planting.ts";
import { refused } from "../../support/interposed.ts";
import { lineOf } from "../../support/run.ts";
import { compareWithTruth } from "../../support/truth.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { page, told } from "../answers.ts";
import { events } from "../events.ts";
import { balance, type Scenario, scenario } from "../scenario.ts";

const DAY = 86_400_000;
const narrow = {
  config: { streams: { settings: { ingested: { full_scan_pages: 1 }, findings: { full_scan_pages: 1 } } } },
};

/** What a parameter of a list was in each request of the last run that had no cursor. */
function asked(place: Scenario, path: string, parameter: string): (string | undefined)[] {
  return place.simulator.requests.entries
    .filter(entry => entry.path === path && entry.query["cursor"] === undefined && entry.query["limit"] !== "1")
    .map(entry => entry.query[parameter]);
}

async function run(place: Scenario, stream: string, order: object = {}) {
  place.simulator.requests.clear();
  const report = await place.sync({ names: [stream], ...order });
  return lineOf(report, stream);
}

const markOf = async (place: Scenario, stream: string) => {
  const [row] = await place.warehouse.query<{ state: { mark: string } }>(
    `select state from _tributary.stream_state where stream = '${stream}'`,
  );
  return row!.state.mark;
};

const isoDay = (at: number) => new Date(at).toISOString().slice(0, 10);

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("a feed of which somebody dropped a column is read whole by the next run", async () => {
    const place = await scenario(make, { ingested: 650 }, narrow);
    await run(place, "ingested");
    const filled = await place.count("ingested", "source is not null");
    await meddle(place.warehouse, ["alter table procurement.ingested drop column source"]);
    place.clock.advance(DAY);
    expect(await run(place, "ingested")).toMatchObject({ status: "succeeded", inserted: 0, updated: 650 });
    expect([filled, await place.count("ingested", "source is not null")]).toEqual([650, 650]);
  });

  test("a feed goes on a day before its high-water mark and lookback, as a calendar date, and is read whole when that is due", async () => {
    const place = await scenario(make, { ingested: 650 }, narrow);
    const { simulator, clock, count } = place;
    expect(await run(place, "ingested")).toMatchObject({ status: "succeeded", inserted: 650 });
    expect(asked(place, "/ingested", "date_from")).toEqual([undefined]);
    const times = [...simulator.truth.rows("ingested")].map(row => Date.parse(String(row["ts"]))).filter(at => at > 0);
    const mark = await markOf(place, "ingested");
    expect(Date.parse(mark)).toBe(Math.max(...times));

    clock.advance(DAY);
    simulator.insert("ingested", 3);
    const gone = simulator.delete("ingested", [String([...simulator.truth.rows("ingested")][4]!["id"])]);
    const second = await run(place, "ingested");
    const from = isoDay(Date.parse(mark) - 8 * DAY);
    expect(asked(place, "/ingested", "date_from")).toEqual([from]);
    expect(asked(place, "/ingested", "date_to")).toEqual([undefined]);
    expect(second).toMatchObject({ status: "succeeded", updated: 0, deleted: 0, missing: 0 });
    expect(second.rows_read).toBeLessThan(200);
    expect(balance(second).went).toBe(balance(second).came);
    expect(Date.parse(await markOf(place, "ingested"))).toBeGreaterThanOrEqual(Date.parse(mark));
    expect(await count("ingested", "_deleted_at is null")).toBe(650 + second.inserted);

    clock.advance(30 * DAY);
    const third = await run(place, "ingested");
    expect(asked(place, "/ingested", "date_from")).toEqual([undefined]);
    expect(third).toMatchObject({ status: "succeeded", deleted: 0, missing: 1 });
    clock.advance(3_600_000);
    const fourth = await run(place, "ingested", { full: true });
    expect(fourth).toMatchObject({ status: "succeeded", deleted: 1, missing: 0 });
    expect(await count("ingested", `_deleted_at is not null and id = '${gone[0]}'`)).toBe(1);
    const ingested = streams.filter(stream => stream.name === "ingested");
    expect(await compareWithTruth(simulator, place.warehouse, ingested, "")).toMatchObject({ differences: [] });
  });

  test("the high-water mark is never later than the service's own clock, and what claims to be is loaded all the same", async () => {
    const place = await scenario(make, { ingested: 250 }, narrow);
    const [first] = [...place.simulator.truth.rows("ingested")];
    place.simulator.patch("ingested", String(first!["id"]), { ts: "2031-01-01T00:00:00Z" });
    await run(place, "ingested");
    expect(await place.count("ingested", "ts > '2030-01-01'")).toBe(1);
    expect(await markOf(place, "ingested")).toBe("2026-03-15T12:00:00.000Z");
    await run(place, "ingested");
    expect(asked(place, "/ingested", "date_from")).toEqual(["2026-03-07"]);
  });

  test("where answers have no Date, the high-water mark is not later than the begin of the scan, however long that took", async () => {
    const place = await told(make, [events], {
      "/events": ({ query }) => {
        const broken = query.has("cursor") && place.clock.date().toISOString() < "2026-03-20";
        if (broken) return refused(400, "BAD_REQUEST");
        const rest = [{ event_id: "late", happened_at: "2026-03-21T00:00:00Z" }];
        return query.has("cursor") ? page({ events: rest }, null) : page({ events: [] }, "rest");
      },
    });
    await place.run();
    place.clock.advance(7 * DAY);
    expect((await place.run()).exit_code).toBe(0);
    expect(await place.count("events")).toBe(1);
    expect(await markOf(place, "events")).toBe("2026-03-15T12:00:00.000Z");
    const [row] = await place.warehouse.query("select complete_to from _tributary.streams where stream = 'events'");
    expect(row).toEqual({ complete_to: new Date("2026-03-15T12:00:00Z") });
  });

  test("a start that the service's filter takes for another field's is noticed when the feed is read whole, too", async () => {
    const rows = [
      { event_id: "late", happened_at: "2026-03-10T08:00:00Z", entered: "2026-02-01" },
      { event_id: "early", happened_at: "2026-01-05T08:00:00Z", entered: "2026-03-12" },
      { event_id: "earlier", happened_at: "2026-01-04T08:00:00Z", entered: "2026-03-12" },
    ];
    const place = await told(make, [events], {
      "/events": ({ query }) =>
        page({ events: rows.filter(({ entered }) => entered >= (query.get("date_from") ?? "")) }, null),
    });
    await place.run();
    place.configure({ streams: { start: "2026-03-01" } });
    const report = await place.run();
    const strays = [
      { key: "event_id=earlier", at: "2026-01-04 08:00:00+00" },
      { key: "event_id=early", at: "2026-01-05 08:00:00+00" },
    ];
    const fields = { asked: "from 2026-03-01 on", strays };
    expect(report.warnings).toMatchObject([{ code: "feed.filter_refuted", fields }]);
    for (let nth = 0; nth < 2; nth++) await place.run();
    expect(place.asked).toEqual(["/events?limit=100"]);
    expect(await place.count("events", "_deleted_at is null")).toBe(3);
  });

  test("what the service may count to the day before start is not missing, what comes a day later is", async () => {
    const place = await scenario(make, { ingested: 60 });
    const { simulator } = place;
    await run(place, "ingested");
    const rows = [...simulator.truth.rows("ingested")].filter(row => typeof row["ts"] === "string");
    const early = rows[30]!;
    const start = String(early["ts"]).slice(0, 10);
    const later = rows.find(row => Date.parse(String(row["ts"])) >= Date.parse(start) + DAY)!;
    // As by a service west of Greenwich, to which the first hours of the day are the day before.
    simulator.delete("ingested", [String(early["id"]), String(later["id"])]);
    place.configure({ streams: { start } });
    expect(await run(place, "ingested", { full: true })).toMatchObject({ deleted: 0, missing: 1 });
    place.clock.advance(3_600_000);
    expect(await run(place, "ingested")).toMatchObject({ deleted: 1, missing: 0 });
    expect(await place.count("ingested", `_deleted_at is not null and id = '${later["id"]}'`)).toBe(1);
  });

  test("a start that a feed's filter can't say leaves out what lies before it all the same", async () => {
    const start = "2026-03-01";
    const place = await scenario(make, { findings: 60 });
    const rows = [...place.simulator.truth.rows("findings")];
    const older = rows.filter(row => String(row["created_at"]) < start).map(row => String(row["item_id"]));
    place.configure({ streams: { start } });
    expect(await run(place, "findings")).toMatchObject({ inserted: 60 - older.length, before_start: older.length });
    expect(await place.count("findings", `created_at < '${start}'`)).toBe(0);
    // Rows that are there already are not missed.
    place.configure({});
    await run(place, "findings");
    expect(await place.count("findings")).toBe(60);
    place.configure({ streams: { start } });
    place.simulator.delete("findings", older.slice(0, 1));
    const line = await run(place, "findings", { full: true });
    expect(line).toMatchObject({ status: "succeeded", deleted: 0, missing: 0, before_start: older.length - 1 });
    expect(line.difference_reason).toBe(reasons.older);
  });
});
