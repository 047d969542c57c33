import { expect, test } from "vitest";
import { ServiceClock } from "../../src/source/service_clock.ts";

const SENT = Date.parse("2026-03-15T12:00:00Z");
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

interface Given {
  /** By how many ms the `Date` is ahead of our clock; undefined: there is none. */
  readonly off: number | undefined;
  readonly age?: string;
  readonly tookMs?: number;
}

/** Of each answer: what dates it, and whether the clocks contradict each other by then. */
function seen(answers: readonly Given[], use: "check" | "ignore" = "check") {
  const clock = new ServiceClock(use);
  return answers.map(({ off, age, tookMs = 0 }) => {
    const date = off === undefined ? {} : { date: new Date(SENT + off).toUTCString() };
    const { at, contradiction } = clock.read({ ...date, ...(age === undefined ? {} : { age }) }, SENT, SENT + tookMs);
    return `${at.getTime() === SENT ? "ours" : "theirs"}${contradiction === undefined ? "" : ", wrong"}`;
  });
}

const far: Given = { off: 48 * HOUR };

test.each<[what: string, answers: readonly Given[], expected: readonly string[]]>([
  ["4 minutes dates and is no contradiction", [{ off: 4 * MINUTE }, { off: 4 * MINUTE }], ["theirs", "theirs"]],
  ["6 minutes in two answers is one", [{ off: 6 * MINUTE }, { off: 6 * MINUTE }], ["theirs", "theirs, wrong"]],
  ["so is a clock that is behind", [{ off: -2 * HOUR }, { off: -2 * HOUR - 30_000 }], ["ours", "ours, wrong"]],
  ["one answer proves nothing and, far off, dates nothing", [far, { off: MINUTE }, far], ["ours", "theirs", "ours"]],
  ["two that differ are no proof", [far, { off: 40 * HOUR }], ["ours", "ours"]],
  ["a cache's answer says nothing", [far, { ...far, age: "10" }, { ...far, age: "0" }], ["ours", "ours", "ours"]],
  ["it does not excuse the one before either", [far, { off: MINUTE, age: "10" }, far], ["ours", "ours", "ours, wrong"]],
  ["without a Date ours is all there is", [{ off: undefined }, far], ["ours", "ours"]],
  [
    "an answer that a computer slept through is given at any time between",
    [
      { off: MINUTE, tookMs: 9 * HOUR },
      { off: 2 * MINUTE, tookMs: 9 * HOUR },
    ],
    ["theirs", "theirs"],
  ],
])("%s", (_what, answers, expected) => {
  expect(seen(answers)).toEqual(expected);
});

test("with `ignore` our clock dates all, and nothing is compared", () => {
  expect(seen([{ off: MINUTE }, far, far], "ignore")).toEqual(["ours", "ours", "ours"]);
});

test("the contradiction names both times", () => {
  const clock = new ServiceClock("check");
  const headers = { date: "Fri, 13 Mar 2026 12:00:00 GMT" };
  clock.read(headers, SENT, SENT);
  expect(clock.read(headers, SENT, SENT + 1_000).contradiction).toMatch(
    /2026-03-13T12:00:00\.000Z .* 2026-03-15T12:00:01\.000Z/,
  );
});
