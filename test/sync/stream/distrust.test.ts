import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { statusReport } from "../../../src/cli/terminal/status_report.ts";
import { readStatus } from "../../../src/operations/status.ts";
import { load } from "../../config/sample.ts";
import { lineOf, plain } from "../../support/run.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { page, told } from "../answers.ts";
import { type Event, events, eventsOf, hourly } from "../events.ts";
import { remember } from "../remembered.ts";
import { balance } from "../scenario.ts";

const PAGES = 8;
const DAY = 86_400_000;
const odd = (name: string, happened_at = "2019-01-01T00:00:00Z"): Event => ({ event_id: name, happened_at });

const straying = (...names: string[]) => ({ strays: names.map(name => ({ key: `event_id=${name}` })) });
const refuted = (...names: string[]) => ({ code: "feed.filter_refuted", fields: straying(...names) });

/** Of the days that every night asks for. */
const recent = "2026-03-14T23:30:00Z";

describe.each(eitherWarehouse)("$name", ({ make }) => {
  /** 7 pages at the service, of which a night asks for three at most. */
  const long = async (config: Readonly<Record<string, unknown>> = {}) => {
    const rows = hourly(690, "2026-03-15");
    const extra: Event[] = [];
    const place = await told(
      make,
      [events],
      {
        "/events": eventsOf(
          () => rows,
          () => extra,
        ),
      },
      config,
    );
    const night = async (order: object = {}) => {
      place.clock.advance(DAY);
      const report = await place.run(order);
      const line = lineOf(report, "events");
      expect(balance(line).went).toBe(balance(line).came);
      return { report, line };
    };
    expect((await place.run()).exit_code).toBe(0);
    return { place, rows, extra, night };
  };

  test("one odd row that comes every night leaves the filter trusted: nights ask for as few pages as before", async () => {
    const { place, extra, night } = await long();
    extra.push(odd("odd"));
    for (let nth = 0; nth < 3; nth++) {
      const { report } = await night();
      expect(place.asked).toHaveLength(1);
      expect(report).toMatchObject({ status: "succeeded", warnings: [] });
      const strays = [{ key: "event_id=odd", at: "2019-01-01 00:00:00+00" }];
      expect(report.notes).toMatchObject([{ code: "feed.odd_row", fields: { strays } }]);
    }
    expect(await place.count("events", "event_id = 'odd'")).toBe(1);
  });

  test("another odd row of the next night is a reason to distrust the filter, one of a later night is none", async () => {
    const { place, extra, night } = await long();
    for (const name of ["a", undefined, "b"]) {
      extra.splice(0, 1, ...(name === undefined ? [] : [odd(name)]));
      expect((await night()).report.status).toBe("succeeded");
      expect(place.asked).toHaveLength(1);
    }
    extra.splice(0, 1, odd("c"));
    const { report } = await night();
    expect(report.warnings).toMatchObject([refuted("c", "b")]);
    expect(place.asked).toHaveLength(8);
  });

  test("several odd rows are a reason: every run and the status say so with the rows, and a full scan has the filter tried again", async () => {
    const { place, extra, night } = await long();
    extra.push(odd("a"), odd("b"));
    const first = await night();
    expect(first.report.warnings).toMatchObject([refuted("a", "b")]);
    expect(place.asked).toHaveLength(8);
    for (let nth = 0; nth < 2; nth++) {
      const { report } = await night();
      expect(place.asked).toHaveLength(7);
      expect(report.notes).toMatchObject([{ code: "feed.filter_distrusted", fields: straying("a", "b") }]);
    }
    const { config } = await load(stringify({ company: "acme", destination: place.warehouse.destination }));
    const status = await readStatus(config, [events], undefined);
    const since = "2026-03-16T12:00:00.000Z";
    const rows = ["a", "b"].map(name => ({ key: `event_id=${name}`, time: "2019-01-01 00:00:00+00" }));
    expect(status.streams).toMatchObject([{ stream: "events", distrusted_filter: { since, rows } }]);
    expect(statusReport(status, place.clock.now(), plain)).toMatch(
      /time filter of events is distrusted since 2026-03-16.*event_id=a/,
    );
    extra.splice(0, 2, odd("a", recent), odd("b", recent));
    place.clock.advance(30 * DAY);
    const { report } = await night();
    expect(place.asked).toHaveLength(7);
    expect(report.notes).toMatchObject([{ code: "feed.filter_distrusted", fields: { last_time: true } }]);
    const { report: last } = await night();
    expect(place.asked).toHaveLength(1);
    expect(last).toMatchObject({ status: "succeeded", notes: [] });
  });

  test("a full scan that is asked for has it tried again, too", async () => {
    const { place, extra, night } = await long();
    extra.push(odd("a"), odd("b"));
    await night();
    extra.length = 0;
    await night({ full: true });
    // The rows that are gone have no address: a second whole reading settles them.
    await night();
    await night();
    expect(place.asked).toHaveLength(1);
  });

  test("a filter that an older version distrusted for good is tried again after one more full scan", async () => {
    const { place, night } = await long();
    await remember(place, "events", ({ distrustedAt: _at, strays: _strays, ...older }) => ({
      ...older,
      filterDistrusted: true,
    }));
    await night();
    expect(place.asked).toHaveLength(7);
    await night();
    expect(place.asked).toHaveLength(1);
  });

  test("rows from before start are never stored, whatever way the feed is read, and counted once a run", async () => {
    const { place, extra, night, rows } = await long({ streams: { start: "2026-02-20" } });
    const early = "happened_at < '2026-02-20'";
    const all = rows.filter(({ happened_at }) => happened_at >= "2026-02-20").length;
    expect(await place.count("events")).toBe(all);
    extra.push(odd("a"));
    const narrow = await night();
    expect(narrow.line).toMatchObject({ before_start: 1, inserted: 0 });
    expect(narrow.report.notes.filter(({ code }) => code === "rows.before_start")).toMatchObject([
      { fields: { rows: 1 } },
    ]);
    const whole = await night({ full: true });
    expect(whole.line).toMatchObject({ before_start: 1, inserted: 0, deleted: 0, missing: 0 });
    extra.push(odd("b"));
    const distrusting = await night();
    expect(distrusting.line.before_start).toBe(690 - all + 2);
    expect(place.asked.at(-1)).not.toContain("date_from");
    await place.backfill({ catalogue: [events], names: ["events"], range: { from: "2026-01-01", to: undefined } });
    expect(await place.count("events", early)).toBe(0);
    expect(await place.count("events")).toBe(all);
    expect(await place.verify({ catalogue: [events] })).toMatchObject({ differences: [] });
  });

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
