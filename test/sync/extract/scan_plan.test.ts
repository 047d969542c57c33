import { expect, test } from "vitest";
import { asksNothing } from "../../../src/catalog/lookup.ts";
import { defineStream, feed, scan } from "../../../src/catalog/stream.ts";
import type { StreamPolicy } from "../../../src/sync/context.ts";
import { fingerprint, planScan, strayRows } from "../../../src/sync/extract/scan_plan.ts";
import { noState, type StreamState } from "../../../src/warehouse/state/stream_state.ts";
import { findings } from "../../../streams/findings.ts";
import { ingested } from "../../../streams/ingested.ts";
import { items } from "../../../streams/items.ts";

const now = Date.parse("2026-03-15T12:00:00Z");
const DAY = 86_400_000;
const policy: StreamPolicy = {
  details: { audit: 0.02, fresh: { withinMs: 172_800_000, share: 0.9 }, refreshMs: undefined },
  maxRejectShare: 0.05,
  unknownFields: "keep",
  fullScanPages: undefined,
  fullScanEveryMs: undefined,
  lookbackMs: undefined,
  maxDetails: undefined,
  statuses: [],
  ...asksNothing,
};
const run = { full: false, confirmDeletes: false, start: undefined, now };
const long: StreamState = {
  ...noState,
  highWaterMark: "2026-03-14T10:00:00.000Z",
  lastFullAt: "2026-03-13T10:00:00.000Z",
  lastFullPages: 101,
};

test("lists are read whole", () => {
  expect(planScan(items, long, policy, run)).toMatchObject({ query: {}, full: true });
});

test.each([
  ["it never was", { ...long, highWaterMark: null }, policy, run],
  ["its last full scan is not known", { ...long, lastFullAt: null }, policy, run],
  ["that is asked for", long, policy, { ...run, full: true }],
  ["it has deletions to accept", long, policy, { ...run, confirmDeletes: true }],
  ["it is short", { ...long, lastFullPages: 100 }, policy, run],
  ["the config calls it short", long, { ...policy, fullScanPages: 500 }, run],
  ["its filter cannot be relied on", { ...long, filterDistrusted: true }, policy, run],
  ["its regular full scan is due", long, policy, { ...run, now: now + 28.2 * DAY }],
  ["the config wants it more often", long, { ...policy, fullScanEveryMs: DAY }, run],
])("a feed is read whole when %s", (_why, state, how, order) => {
  expect(planScan(ingested, state, how, order)).toMatchObject({
    query: { include_filed: "true" },
    full: true,
    range: undefined,
  });
});

test("a feed by dates begins a calendar day before high-water mark and lookback, and never before the config's start", () => {
  const plan = planScan(ingested, long, policy, run);
  expect(plan).toMatchObject({ query: { include_filed: "true", date_from: "2026-03-06" }, full: false });
  expect(planScan(ingested, long, { ...policy, lookbackMs: 0 }, run).query).toMatchObject({ date_from: "2026-03-13" });
  const bounded = planScan(ingested, long, policy, { ...run, start: "2026-03-10" });
  expect(bounded).toMatchObject({ query: { date_from: "2026-03-10" }, full: false });
  expect(planScan(ingested, noState, policy, { ...run, start: "2025-01-01" })).toMatchObject({
    query: { date_from: "2025-01-01" },
    full: true,
  });
});

test.each([
  [0, "7d"],
  [5.9, "7d"],
  [6.1, "30d"],
  [28.9, "30d"],
  [29.1, "90d"],
  [88.9, "90d"],
  [89.1, undefined],
])("with a lookback of a day, findings whose high-water mark is %d days old ask for %s", (days, window) => {
  const at = {
    ...long,
    highWaterMark: new Date(now - days * DAY).toISOString(),
    lastFullAt: new Date(now).toISOString(),
  };
  const plan = planScan(findings, at, policy, run);
  expect(plan.query["detected_within"]).toBe(window);
  expect(plan.full).toBe(window === undefined);
});

test("the shortest window that holds high-water mark and lookback is taken, with an hour for the service's clock", () => {
  const at = { ...long, highWaterMark: new Date(now - DAY / 2).toISOString() };
  const query = (lookbackMs: number) => planScan(findings, at, { ...policy, lookbackMs }, run).query["detected_within"];
  expect([0, DAY / 3, DAY / 2, 6 * DAY, 6.5 * DAY].map(query)).toEqual(["1d", "1d", "7d", "7d", "30d"]);
});

test("a filter that is distrusted is tried again after a full scan that is asked for, or due by the day since when it is", () => {
  const at = { ...long, filterDistrusted: true, distrustedAt: "2026-03-13T10:00:00.000Z" };
  expect(planScan(ingested, at, policy, run).restoresTrust).toBeUndefined();
  expect(planScan(ingested, at, policy, { ...run, now: now + 29 * DAY }).restoresTrust).toBe(true);
  expect(planScan(ingested, at, { ...policy, fullScanEveryMs: DAY }, run).restoresTrust).toBe(true);
  expect(planScan(ingested, at, policy, { ...run, full: true }).restoresTrust).toBe(true);
  expect(planScan(ingested, at, policy, { ...run, confirmDeletes: true }).restoresTrust).toBe(true);
  // Of a warehouse that noted no day.
  expect(planScan(ingested, { ...at, distrustedAt: null }, policy, run).restoresTrust).toBe(true);
});

test("a row is a stray only when it is a day older than what was asked for", () => {
  const row = (text: string) => ({ key: "a", at: Date.parse(text) * 1000 });
  const { range } = planScan(ingested, long, policy, run);
  const late = row("2026-03-05T00:00:00Z");
  const stray = row("2026-03-04T23:59:59Z");
  expect(strayRows(range, [stray, late], now)).toEqual([stray]);
  expect(strayRows(range, [], now)).toEqual([]);
  const window = planScan(findings, long, policy, run).range;
  const [within, before] = [row("2026-03-07T12:00:00Z"), row("2026-03-07T11:59:59Z")];
  expect(strayRows(window, [before, within], now)).toEqual([before]);
  expect(strayRows(undefined, [stray], now)).toEqual([]);
});

test("a fingerprint tells requests apart, and nothing else", () => {
  expect(fingerprint(["/po", { a: 1 }])).toBe(fingerprint(["/po", { a: 1 }]));
  const all = [["/po"], ["/items"], ["/po", {}], ["/po", { a: 1 }], ["/po", { a: "1" }], ["/po", true]].map(
    fingerprint,
  );
  expect(new Set(all).size).toBe(all.length);
});

test("a stream's facts decide, not its name", () => {
  const short = defineStream({
    ...ingested,
    name: "own",
    mode: feed({ ...(ingested.mode as Parameters<typeof feed>[0]), fullScanPages: 1_000 }),
  });
  expect(planScan(short, long, policy, run).full).toBe(true);
  const list = defineStream({ ...ingested, name: "own", mode: scan({ rows: "items" }) });
  expect(planScan(list, long, policy, run)).toMatchObject({ full: true, why: "lists are read whole" });
});
