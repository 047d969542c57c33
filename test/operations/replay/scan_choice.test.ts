import { expect, test } from "vitest";
import { id, record } from "../../../schemas/fields.ts";
import { defineStream, type Scan, scan } from "../../../src/catalog/stream.ts";
import {
  type ArchivedRequest,
  type ArchivedScan,
  requestKey,
} from "../../../src/operations/replay/archive_contents.ts";
import { chooseScans, type Knowledge, type LoggedRun } from "../../../src/operations/replay/scan_choice.ts";
import { noState } from "../../../src/warehouse/state/stream_state.ts";

const listOf = (absence?: Scan["absence"]) =>
  defineStream({
    name: "things",
    path: "/things",
    mode: scan({ rows: "things", ...(absence === undefined ? {} : { absence }) }),
    row: record("Things.", { thing: id().describe("Which one.") }),
    key: ["thing"],
    preset: "core",
  });
const list = listOf();
const always = { from: undefined, to: undefined };
const day = (nth: number) => `2026-03-${String(nth).padStart(2, "0")}T02:00:00.000Z`;

const behind = (fields: object) => ({ code: "replay.archive_behind", fields });

/** A scan of two pages that ended on the day; `more.lacks` its second page. */
function held(nth: number, more: Partial<ArchivedScan> & { lacks?: true; tookMs?: number } = {}): ArchivedScan {
  const { lacks, tookMs = 60_000, ...rest } = more;
  const first: ArchivedRequest = {
    ordinal: nth * 10,
    part: 0,
    path: "/things",
    query: { limit: 100 },
    context: {},
    next: "c1",
  };
  const second = { ...first, ordinal: nth * 10 + 1, query: { limit: 100, cursor: "c1" }, next: null };
  const pages = lacks ? [first] : [first, second];
  return {
    ids: new Set([`scan ${nth}`]),
    windows: false,
    full: true,
    accepted: false,
    parts: 1,
    run: `run ${nth}`,
    begunAt: day(nth),
    endedAt: new Date(Date.parse(day(nth)) + tookMs).toISOString(),
    date: day(nth),
    requests: new Map(pages.map(page => [requestKey(page.path, page.query), page])),
    confirms: new Map(),
    confirmedBy: new Set(),
    ...rest,
  };
}

/** The log's row of a run that published; `at`: the day that it names. */
const ran = (nth: number, at = nth): LoggedRun => ({ run: `run ${nth}`, startedAt: day(at), hasPublished: true });

/** What the tables know when the scan of that day was published last. */
const known = (nth: number, more: Partial<Knowledge> = {}): Knowledge => ({
  state: { ...noState, publishedScan: `scan ${nth}`, lastFullAt: day(nth) },
  completeTo: day(nth),
  loaded: true,
  runs: [1, 2, 3, 4, 5, 6].filter(n => n <= nth).map(n => ran(n)),
  ...more,
});
const unknown: Knowledge = { state: noState, completeTo: null, loaded: false, runs: [] };
const daysOf = (scans: readonly ArchivedScan[] = []) => scans.map(({ endedAt }) => Number(endedAt.slice(8, 10)));

test("after a reset that left the rows they are loaded all at once, from the last scan on that holds all", () => {
  const reset = (nth: number) => ({ ...known(nth), state: noState });
  const scans = [held(1), held(2), held(3, { full: false })];
  const choice = chooseScans(list, scans, reset(3), always);
  expect(daysOf(choice.known?.scans)).toEqual([2, 3]);
  expect(choice).toMatchObject({ later: [], refused: undefined, known: { full: false, seen: true, stale: false } });
  expect(chooseScans(list, scans.slice(0, 2), reset(2), always).known).toMatchObject({
    scans: [{ run: "run 2" }],
    full: true,
    seen: true,
  });
});

test("after a reset that left the rows an archive that ends before them, or has a gap, takes nothing back either", () => {
  const reset = { ...known(3), state: noState };
  const old = chooseScans(list, [held(1), held(2)], reset, always);
  const newest = { newest: day(2), unarchived_run_at: undefined };
  expect(old).toMatchObject({ known: undefined, later: [], refused: behind({ complete_to: day(3), ...newest }) });
  const gap = chooseScans(list, [held(1), held(3, { full: false })], reset, always);
  expect(gap.refused).toMatchObject(behind({ unarchived_run_at: day(2) }));
  const partial = chooseScans(list, [held(1), held(3, { full: false })], { ...reset, completeTo: null }, always);
  expect(partial.refused).toMatchObject(behind({ unarchived_run_at: day(2) }));
  const insisted = chooseScans(list, [held(1)], reset, { from: Date.parse(day(1)), to: undefined });
  expect(insisted).toMatchObject({ refused: undefined, known: { full: false, stale: true } });
});

test("without tables every complete scan is loaded by itself, in order; one that never ended is left out", () => {
  const choice = chooseScans(
    list,
    [held(1), held(2, { full: false }), held(3, { lacks: true }), held(4)],
    unknown,
    always,
  );
  expect(choice.known).toBeUndefined();
  expect(choice.later.map(({ scans, full, seen, stale }) => [...daysOf(scans), full, seen, stale])).toEqual([
    [1, true, false, false],
    [2, false, false, false],
    [4, true, false, false],
  ]);
});

test("a scan that took longer than six hours says nothing of what is missing", () => {
  const [only] = chooseScans(list, [held(1, { tookMs: 6 * 3_600_000 + 1 })], unknown, always).later;
  expect(only).toMatchObject({ full: false });
});

test("what the tables know is loaded in one publish: the last whole scan and what came after it", () => {
  const whole = chooseScans(list, [held(1), held(2), held(3)], known(3), always);
  expect(whole).toMatchObject({ later: [], refused: undefined, known: { full: true, seen: true, stale: false } });
  expect(daysOf(whole.known?.scans)).toEqual([3]);
  const feed = chooseScans(list, [held(1), held(2), held(3, { full: false })], known(3), always);
  expect(daysOf(feed.known?.scans)).toEqual([2, 3]);
  expect(feed.known).toMatchObject({ full: false, stale: false });
});

test("what the tables don't know yet comes after it, scan by scan", () => {
  const choice = chooseScans(list, [held(1), held(2), held(3), held(4)], known(2), always);
  expect(daysOf(choice.known?.scans)).toEqual([2]);
  expect(choice.later.map(({ scans, full }) => [...daysOf(scans), full])).toEqual([
    [3, true],
    [4, true],
  ]);
});

test("an archive that ends before the tables takes nothing back, unless it is told from when to when", () => {
  const old = [held(1), held(2)];
  const refused = chooseScans(list, old, known(4), always);
  const told = behind({ stream: "things", complete_to: day(4), option: "--full" });
  expect(refused).toMatchObject({ known: undefined, later: [], refused: told });
  const insisted = chooseScans(list, old, known(4), { from: Date.parse(day(1)), to: undefined });
  expect(insisted).toMatchObject({ refused: undefined, known: { full: false, stale: true } });
  const cut = chooseScans(list, [held(1), held(2), held(3)], known(3), { from: undefined, to: Date.parse(day(3)) });
  expect(daysOf(cut.known?.scans)).toEqual([2]);
  expect(cut.known).toMatchObject({ full: false, stale: true });
});

test("a run that is not in the archive is a gap: what it brought isn't taken back", () => {
  const scans = [held(1), held(3, { full: false })];
  expect(chooseScans(list, scans, known(3), always).refused).toMatchObject(behind({ unarchived_run_at: day(2) }));
  expect(chooseScans(list, [held(3)], known(3), always).refused).toBeUndefined();
});

test("lists whose rows are kept when they leave are loaded from as far back as is asked for, others from the last whole one", () => {
  const span = { from: Date.parse(day(1)), to: undefined };
  const scans = [held(1), held(2), held(3)];
  expect(daysOf(chooseScans(listOf("kept"), scans, known(3), span).known?.scans)).toEqual([1, 2, 3]);
  expect(daysOf(chooseScans(listOf("kept"), scans, known(3), always).known?.scans)).toEqual([3]);
  expect(daysOf(chooseScans(list, scans, known(3), span).known?.scans)).toEqual([3]);
});

test("an end belongs to the range only where it is left open", () => {
  const scans = [held(1), held(2), held(3)];
  const days = (from: string | undefined, to: string | undefined) =>
    chooseScans(list, scans, unknown, {
      from: from === undefined ? undefined : Date.parse(from),
      to: to === undefined ? undefined : Date.parse(to),
    }).later.flatMap(({ scans: some }) => daysOf(some));
  expect(days("2026-03-02", undefined)).toEqual([2, 3]);
  expect(days(undefined, "2026-03-02")).toEqual([1]);
  expect(days(scans[1]!.endedAt, scans[2]!.endedAt)).toEqual([2]);
});
