import { expect, test } from "vitest";
import { decide, type Wish } from "../../../src/operations/backfill/plan.ts";
import type { Unfinished } from "../../../src/sync/run/backfill_plans.ts";
import { mergeReports } from "../../../src/sync/run/report.ts";
import { sentence } from "../../support/log.ts";

const plan = { from: "2023-01-01", to: null, windows: [], done: false };
const unfinished: readonly Unfinished[] = [{ company: "acme", stream: "feed", plan }];
const wish: Wish = {
  companies: ["acme"],
  streams: ["feed", "list"],
  range: { from: "2023-01-01", to: undefined },
  resume: false,
  restart: false,
};

test("nothing unfinished, or --restart: a new plan of all streams", () => {
  const fresh = { continued: false, streams: ["feed", "list"], range: wish.range, ranges: [] };
  expect(decide(wish, [])).toEqual({ ...fresh, restart: false });
  expect(decide({ ...wish, restart: true }, unfinished)).toEqual({ ...fresh, restart: true });
  expect(decide({ ...wish, companies: ["beta"] }, unfinished)).toMatchObject({ continued: false });
  expect(decide({ ...wish, streams: ["list"] }, unfinished)).toMatchObject({ continued: false });
});

test("the same dates go on; other ones are refused with both and the ways out", () => {
  expect(decide(wish, unfinished)).toMatchObject({ continued: true, streams: ["feed", "list"] });
  const other = { ...wish, range: { from: "2024-01-01", to: "2024-02-01" } };
  expect(() => decide(other, unfinished)).toThrow(
    /feed \(acme\) from 2023-01-01 up to now is unfinished, and this one is from 2024-01-01 to 2024-02-01\..*--resume.*--restart/,
  );
  expect(() => decide({ ...wish, range: { from: undefined, to: undefined } }, unfinished)).toThrow(
    /from the oldest row/,
  );
});

test("--resume takes what is unfinished, and says so when there is nothing", () => {
  const resume = { ...wish, resume: true };
  expect(decide({ ...resume, streams: undefined }, unfinished)).toEqual({
    continued: true,
    streams: ["feed"],
    range: undefined,
    ranges: [{ company: "acme", stream: "feed", range: { from: "2023-01-01", to: undefined } }],
    restart: false,
  });
  expect(() => decide({ ...resume, streams: ["list"] }, unfinished)).toThrow(
    expect.objectContaining({ code: "backfill.nothing_unfinished" }),
  );
});

test("several runs are reported as one", () => {
  const line = { run_id: "r", company: "acme", stream: "feed", status: "stopped", started_at: "a", finished_at: "b" };
  const counts = { requests: 2, retries: 0, pages: 2, rows_read: 200, inserted: 150, updated: 0, unchanged: 0 };
  const more = {
    repeated: 50,
    carried: 0,
    missing: 0,
    deleted: 0,
    rejected: 0,
    problems: 0,
    rounded: 0,
    bytes: 9,
    error: null,
  };
  const report = (rest: object, own: object) =>
    ({
      run_id: "r",
      status: "stopped",
      exit_code: 5,
      started_at: "a",
      finished_at: "b",
      warnings: [sentence("w")],
      notes: [],
      errors: [],
      streams: [{ ...line, ...counts, ...more, ...own }],
      ...rest,
    }) as unknown as Parameters<typeof mergeReports>[0][number];
  const merged = mergeReports([
    report({ errors: [sentence("left")] }, {}),
    report(
      { run_id: "s", status: "succeeded", warnings: [], exit_code: 0, started_at: "c", finished_at: "d" },
      { status: "succeeded", rows_read: 7 },
    ),
  ]);
  expect(merged).toMatchObject({
    run_id: "s",
    status: "warning",
    exit_code: 0,
    started_at: "a",
    finished_at: "d",
    warnings: [sentence("w")],
    errors: [],
  });
  expect(merged.streams).toMatchObject([
    { status: "succeeded", rows_read: 207, requests: 4, inserted: 300, bytes: 18 },
  ]);
});
