import { describe, expect, inject, onTestFinished, test } from "vitest";
import { startSimulator } from "../../../simulator/simulator.ts";
import { StoppedError } from "../../../src/errors.ts";
import { textsOf } from "../../../src/message.ts";
import { backfillMessages } from "../../../src/operations/backfill/messages.ts";
import { streams } from "../../../streams/index.ts";
import { refused } from "../../support/interposed.ts";
import { sentence } from "../../support/log.ts";
import { lineOf } from "../../support/run.ts";
import { compareWithTruth } from "../../support/truth.ts";
import { eitherWarehouse, passing, postgresWarehouse, warehouses } from "../../support/warehouse.ts";
import { balance, type Scenario, scenario } from "../../sync/scenario.ts";

const feed = streams.filter(stream => stream.name === "ingested");
const FROM = "2025-08-01";
const range = { from: FROM, to: undefined };
const order = { names: ["ingested"], range };
/** Small batches' worth of service: 730 days of feed, 900 rows, so eight windows of some 40 rows. */
const sizes = { ingested: 900 };

const stateOf = async (place: Scenario, stream = "ingested") => {
  const [row] = await place.warehouse.query<{
    state: {
      mark: string | null;
      lastFullAt: string | null;
      filterDistrusted: boolean;
      backfill: { done: boolean; windows: { done: boolean }[] } | null;
    };
  }>(`select state from _tributary.stream_state where stream = '${stream}' and company = 'acme'`);
  return row!.state;
};

const pagesAsked = ({ simulator }: Scenario, path = "/ingested") =>
  simulator.requests.entries.filter(entry => entry.path === path && entry.query["limit"] === "100");

const identity = ({ query }: { readonly query: Record<string, string> }) => new URLSearchParams(query).toString();

const datedRows = ({ simulator }: Pick<Scenario, "simulator">, from: string, to = "9999") =>
  [...simulator.truth.rows("ingested")].filter(({ ts }) => {
    if (typeof ts !== "string") return false;
    const day = new Date(ts).toISOString();
    return day >= from && day < to;
  }).length;

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("a feed is loaded in months, moves no high-water mark, and leaves a full scan due that brings the rest", async () => {
    const place = await scenario(make, sizes);
    const report = await place.backfill(order);
    expect(report).toMatchObject({ exit_code: 0 });
    const line = lineOf(report, "ingested");
    expect(balance(line).went).toBe(balance(line).came);
    expect(line.inserted).toBe(datedRows(place, FROM));
    const windows = pagesAsked(place).filter(entry => entry.query["cursor"] === undefined);
    expect(windows.map(({ query }) => query["date_from"]).toSorted()).toEqual(
      ["2025-08", "2025-09", "2025-10", "2025-11", "2025-12", "2026-01", "2026-02", "2026-03"].map(
        month => `${month}-01`,
      ),
    );
    expect(windows.filter(({ query }) => query["date_to"] === undefined)).toHaveLength(1);
    expect(await stateOf(place)).toMatchObject({ mark: null, lastFullAt: null, backfill: { done: true } });

    place.clock.advance(60_000);
    const night = lineOf(await place.sync({ names: ["ingested"] }), "ingested");
    expect(night).toMatchObject({ status: "succeeded", updated: 0, deleted: 0, inserted: 900 - line.inserted });
    const { mark, lastFullAt } = await stateOf(place);
    expect(mark).not.toBeNull();
    expect(lastFullAt).not.toBeNull();
    expect(await compareWithTruth(place.simulator, place.warehouse, feed, "")).toMatchObject({ differences: [] });

    // An older range again: the high-water mark stays, a full scan is due once more.
    place.clock.advance(60_000);
    const again = await place.backfill({ names: ["ingested"], range: { from: "2025-08-01", to: "2025-09-15" } });
    expect(lineOf(again, "ingested")).toMatchObject({ status: "succeeded", inserted: 0, updated: 0, deleted: 0 });
    expect(await stateOf(place)).toMatchObject({ mark, lastFullAt: null });
    expect(await place.count("ingested", "_deleted_at is not null")).toBe(0);
  });

  test("stopped at any page, the same command ends with the same rows and asks for none again but what was under way", async () => {
    for (const stop of [1, 5, 12]) {
      const place = await scenario(make, { ingested: 3_000 });
      const ending = new AbortController();
      let seen = 0;
      place.look = ({ path }) => {
        if (path === "/ingested" && ++seen === stop)
          ending.abort(new StoppedError(sentence("stopped by the test"), 143));
        return undefined;
      };
      const stopped = await place.backfill(order, ending.signal);
      expect(stopped).toMatchObject({ status: "stopped", exit_code: 143 });
      const before = new Set(
        pagesAsked(place)
          .filter(entry => entry.status === 200)
          .map(identity),
      );
      place.look = () => undefined;
      place.simulator.requests.clear();
      const ended = await place.backfill({ resume: true });
      expect(ended).toMatchObject({ exit_code: 0 });
      const line = lineOf(ended, "ingested");
      expect(balance(line).went).toBe(balance(line).came);
      expect(await place.count("ingested")).toBe(datedRows(place, FROM));
      // A page ahead of each of the eight windows, and what was being answered when the signal came.
      expect(pagesAsked(place).filter(entry => before.has(identity(entry))).length).toBeLessThanOrEqual(16);
      await expect(place.backfill({ resume: true })).rejects.toMatchObject({ code: "backfill.nothing_unfinished" });
    }
  });

  test("a limit publishes what was read; windows go on from their cursors, and one whose cursor expired begins again", async () => {
    const place = await scenario(make, { ingested: 9_000 });
    const partly = await place.backfill({ ...order, maxRequests: 20 });
    expect(partly).toMatchObject({ exit_code: 5 });
    const loaded = await place.count("ingested");
    expect(loaded).toBeGreaterThan(500);
    expect(await stateOf(place)).toMatchObject({ backfill: { done: false } });
    let expired = 0;
    place.look = ({ query }) => (query.has("cursor") && expired++ === 0 ? refused(410, "cursor_gone") : undefined);
    const rest = await place.backfill(order);
    expect(rest).toMatchObject({ exit_code: 0 });
    expect(await place.count("ingested")).toBe(datedRows(place, FROM));
    expect(expired).toBeGreaterThan(1);
  });

  test("what a sync publishes in between makes the rest of the stage void, and newer rows stay", async () => {
    const place = await scenario(make, { ingested: 3_000 });
    const ending = new AbortController();
    let seen = 0;
    place.look = ({ path }) => {
      if (path === "/ingested" && ++seen === 12) ending.abort(new StoppedError(sentence("stopped by the test"), 143));
      return undefined;
    };
    await place.backfill(order, ending.signal);
    place.look = () => undefined;
    place.simulator.update("ingested", 200);
    place.clock.advance(60_000);
    expect(await place.sync({ names: ["ingested"] })).toMatchObject({ exit_code: 0 });
    place.clock.advance(60_000);
    const rest = lineOf(await place.backfill({ resume: true }), "ingested");
    expect(rest).toMatchObject({ status: "succeeded", inserted: 0, updated: 0 });
    expect(await compareWithTruth(place.simulator, place.warehouse, feed, "")).toMatchObject({ differences: [] });
  });

  test("lists are read whole, details only of rows dated in the range; undated ones only without an end", async () => {
    const place = await scenario(make, { orders: 60 });
    const rows = [...place.simulator.truth.rows("purchase_orders")];
    place.simulator.patch("purchase_orders", String(rows[5]!["po_number"]), { po_date: null });
    const dated = (from: string, to: string) =>
      [...place.simulator.truth.rows("purchase_orders")].filter(
        ({ po_date: date }) => typeof date === "string" && date.slice(0, 10) >= from && date.slice(0, 10) < to,
      ).length;
    const closed = { from: "2025-03-01", to: "2025-09-01" };
    const first = await place.backfill({ names: ["purchase_order_details"], range: closed });
    expect(first).toMatchObject({ exit_code: 0 });
    expect(await place.count("purchase_orders")).toBe(60);
    const inRange = dated("2025-03-01", "2025-09-01");
    expect(inRange).toBeGreaterThan(5);
    expect(await place.count("purchase_order_details")).toBe(inRange);
    // Complete are they only once the others are there, too.
    const complete = "stream = 'purchase_order_details' and complete_to is not null";
    expect(await place.count("_tributary.streams", complete)).toBe(0);
    await place.backfill({ names: ["purchase_order_details"], range: { from: "2025-03-01", to: undefined } });
    const undated = [...place.simulator.truth.rows("purchase_orders")].filter(
      ({ po_date: date }) => typeof date !== "string",
    ).length;
    expect(undated).toBeGreaterThan(0);
    expect(await place.count("purchase_order_details")).toBe(dated("2025-03-01", "9999") + undated);
    expect(await place.count("_tributary.streams", complete)).toBe(0);
    await place.backfill({ names: ["purchase_order_details"] });
    expect(await place.count("purchase_order_details")).toBe(60);
    expect(await place.count("_tributary.streams", complete)).toBe(1);
  });
});

test("other dates are refused while one is unfinished; --restart begins again, from the first page of each window", async () => {
  const place = await scenario(warehouses[0]!.make, { ingested: 3_000 });
  await place.backfill({ ...order, maxRequests: 12 });
  const later = { names: ["ingested"], range: { from: "2025-12-01", to: undefined } };
  await expect(place.backfill(later)).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringContaining("--restart"),
  });
  place.simulator.requests.clear();
  expect(await place.backfill({ ...later, restart: true })).toMatchObject({ exit_code: 0 });
  const begun = pagesAsked(place).filter(entry => entry.query["cursor"] === undefined);
  expect(begun.map(entry => entry.query["date_from"]).toSorted()).toEqual([
    "2025-12-01",
    "2026-01-01",
    "2026-02-01",
    "2026-03-01",
  ]);
});

test("streams.start bounds it, and without any date a feed is read whole by a full scan", async () => {
  const place = await scenario(warehouses[0]!.make, sizes, { config: { streams: { start: "2026-01-15" } } });
  expect(await place.backfill(order)).toMatchObject({ exit_code: 0 });
  expect(place.said).toContain(backfillMessages.from_before_start({ from: FROM, start: "2026-01-15" }).message);
  expect(await place.count("ingested")).toBe(datedRows(place, "2026-01-15"));
  expect(new Set(pagesAsked(place).map(entry => entry.query["date_from"]))).toEqual(
    new Set(["2026-01-15", "2026-02-01", "2026-03-01"]),
  );
  const early = place.backfill({ names: ["ingested"], range: { from: undefined, to: "2025-01-01" } });
  await expect(early).rejects.toMatchObject({
    code: "backfill.to_too_early",
    fields: { from: "2026-01-15", from_start: true, to: "2025-01-01" },
  });
  place.configure({});
  place.simulator.requests.clear();
  expect(await place.backfill({ names: ["ingested"] })).toMatchObject({ exit_code: 0 });
  expect(pagesAsked(place).every(entry => entry.query["date_from"] === undefined)).toBe(true);
  expect(await place.count("ingested")).toBe(900);
  expect((await stateOf(place)).lastFullAt).not.toBeNull();
});

test("a window whose pages hold no row and never end is given up", async () => {
  const place = await scenario(warehouses[0]!.make, sizes);
  let asked = 0;
  place.look = ({ query }) => {
    if (query.get("date_from") !== "2026-02-01") return undefined;
    const has_more = ++asked < 30;
    return { status: 200, body: { data: { items: [] }, pagination: { has_more, next_cursor: `c${asked}` } } };
  };
  const report = await place.backfill({ names: ["ingested"], range: { from: "2026-02-01", to: "2026-03-01" } });
  expect(report).toMatchObject({ exit_code: 1 });
  const windows = [{ from: "2026-02-01", to: "2026-03-01" }];
  expect(report.errors).toMatchObject([{ code: "extract.windows_unread", fields: { windows } }]);
  expect(asked).toBe(20);
});

test("a window that the service fails at, and one without an end, stay open; the others are read and loaded", async () => {
  const place = await scenario(warehouses[0]!.make, sizes);
  const failing = ["2025-09-01", "2025-11-01"];
  place.look = ({ query }) => {
    const at = failing.indexOf(query.get("date_from") ?? "");
    if (at < 0) return undefined;
    const pagination = { has_more: true, next_cursor: `${Number(query.get("cursor") ?? 0) + 1}`, limit: 100 };
    return at === 0 ? refused(500, "BAD_WINDOW") : { status: 200, body: { data: { items: [] }, pagination } };
  };
  const report = await place.backfill(order);
  expect(report.exit_code).toBe(1);
  const windows = failing.map((from, at) => ({ from, to: ["2025-10-01", "2025-12-01"][at] }));
  const error = { code: "extract.windows_unread", fields: { path: "/ingested", windows: expect.anything() } };
  expect(report.errors).toMatchObject([error]);
  expect(report.errors[0]!.fields["windows"]).toEqual(expect.arrayContaining(windows));
  // The window before each reaches to the end of its first day.
  const unread = windows.reduce((sum, { from, to }) => sum + datedRows(place, from.replace(/1$/, "2"), to), 0);
  const line = { status: "incomplete", inserted: datedRows(place, FROM) - unread, deleted: 0 };
  expect(lineOf(report, "ingested")).toMatchObject(line);
  const open = (await stateOf(place)).backfill!.windows.filter(({ done }) => !done);
  expect(open).toHaveLength(2);
  place.look = () => undefined;
  place.simulator.requests.clear();
  expect(await place.backfill({ resume: true })).toMatchObject({ exit_code: 0 });
  expect(await place.count("ingested")).toBe(datedRows(place, FROM));
  expect(new Set(pagesAsked(place).map(({ query }) => query["date_from"]))).toEqual(new Set(failing));
});

test("a service that filters by something else is noticed at the first page, and read whole", async () => {
  const place = await scenario(warehouses[0]!.make, sizes);
  place.look = async ({ query }) => {
    if (!query.has("date_from")) return undefined;
    const answer = await fetch(`${place.simulator.url}/api/v1/ingested?limit=100&include_filed=true`, {
      headers: { authorization: `Bearer ${place.simulator.key}` },
    });
    return { status: 200, body: await answer.json() };
  };
  const report = await place.backfill(order);
  expect(report).toMatchObject({ exit_code: 0, status: "warning" });
  expect(textsOf(report.warnings).join()).toContain("the service filters by another field");
  expect(await place.count("ingested")).toBe(900);
  expect(await stateOf(place)).toMatchObject({ filterDistrusted: true, backfill: { done: true } });
  const line = lineOf(report, "ingested");
  expect(balance(line).went).toBe(balance(line).came);
});

test("each company has its own plan; what is measured once a day has no history", async () => {
  const place = await scenario(warehouses[0]!.make, sizes);
  const { url } = place.simulator;
  const other = await startSimulator({ seed: 2, key: place.simulator.key, now: place.clock.date, sizes });
  onTestFinished(() => other.close());
  const companies = [
    { name: "acme", base_url: url },
    { name: "beta", base_url: other.url },
  ];
  place.configure({ company: undefined, companies });
  await place.backfill({ ...order, company: "acme" });
  expect(await place.backfill(order)).toMatchObject({ exit_code: 0 });
  expect(
    await place.warehouse.query(
      "select _company as name, count(*) as n from procurement.ingested group by 1 order by 1",
    ),
  ).toEqual(
    [place.simulator, other].map((simulator, index) => ({
      name: companies[index]!.name,
      n: datedRows({ simulator }, FROM),
    })),
  );
  await expect(place.backfill({ names: ["findings_summary"] })).rejects.toMatchObject({
    code: "backfill.no_history",
    fields: { names: ["findings_summary"] },
  });
});

test("an estimate looks into a few windows and comes near; consent is asked above the limit, and only for what is new", async () => {
  const place = await scenario(warehouses[0]!.make, { ingested: 9_000, orders: 250 });
  const guess = await place.estimate({ names: ["ingested", "purchase_order_details"], range });
  const line = guess.streams.find(each => each.stream === "ingested")!;
  const pages = Math.ceil(datedRows(place, FROM) / 100);
  expect(line.requests).toBeGreaterThan(pages * 0.8);
  expect(line.requests).toBeLessThan(pages * 1.3 + 8);
  expect(guess.asked).toBeLessThan(15);
  place.configure({ backfill: { confirm_above: 10 } });
  const no = () => Promise.reject(new StoppedError(sentence("no"), 130));
  await expect(place.backfill(order, undefined, no)).rejects.toThrow("no");
  place.configure({ backfill: { confirm_above: 10_000 } });
  expect(await place.backfill({ ...order, maxRequests: 12 }, undefined, no)).toMatchObject({ exit_code: 5 });
  place.configure({ backfill: { confirm_above: 0 } });
  expect(await place.backfill(order, undefined, no)).toMatchObject({ exit_code: 0 });
});

test("a plan goes on from its beginning when somebody has removed the tables, also with --resume", async () => {
  const place = await scenario(() => passing(postgresWarehouse(inject("postgresUrl"))), { ingested: 3_000 });
  await place.backfill({ ...order, maxRequests: 12 });
  await place.warehouse.query("drop table procurement.ingested cascade");
  // The two runs cannot have made the same table at the same moment, which the pauses between requests alone don't ensure.
  place.clock.advance(60_000);
  expect(await place.backfill({ resume: true })).toMatchObject({ exit_code: 0 });
  expect(await place.count("ingested")).toBe(datedRows(place, FROM));
});
