import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { merged } from "../../../src/sync/extract/merging.ts";
import { windowsOf } from "../../../src/sync/run/backfill_plans.ts";

const DAY = 86_400_000;
const isoDay = (at: number) => new Date(at).toISOString().slice(0, 10);
const day = fc
  .integer({ min: Date.parse("2000-01-01") / DAY, max: Date.parse("2030-12-31") / DAY })
  .map(n => isoDay(n * DAY));
const inOrder = (a: string, b: string) => (a < b ? ([a, b] as const) : ([b, a] as const));

describe("windows", () => {
  test("are calendar months, the newest first and without an end", () => {
    expect(windowsOf("2025-12-10", undefined, "2026-02-03").map(({ from, to }) => [from, to])).toEqual([
      ["2026-02-01", null],
      ["2026-01-01", "2026-02-01"],
      ["2025-12-10", "2026-01-01"],
    ]);
    expect(windowsOf("2025-12-10", "2026-01-01", "2026-02-03").map(({ from, to }) => [from, to])).toEqual([
      ["2025-12-10", "2026-01-01"],
    ]);
    expect(windowsOf("2026-02-03", undefined, "2026-02-03")).toMatchObject([{ from: "2026-02-03", to: null }]);
  });

  test("cover every day from first to last, share one day with their neighbour, and none is longer than a month", () => {
    fc.assert(
      fc.property(day, day, fc.boolean(), (one, other, open) => {
        const [from, end] = inOrder(one, other);
        fc.pre(open || from < end);
        const windows = [...windowsOf(from, open ? undefined : end, end)].reverse();
        expect(windows[0]!.from).toBe(from);
        expect(windows.at(-1)!.to).toBe(open ? null : end);
        for (const [index, window] of windows.entries()) {
          expect(window).toMatchObject({ cursor: null, pages: 0, done: false });
          const next = windows[index + 1];
          // The day on which one ends is the day on which the next begins: asked for in both.
          if (next !== undefined) expect(window.to).toBe(next.from);
          expect(window.from < (window.to ?? "9999")).toBe(true);
          expect(window.from.slice(0, 7)).toBe(
            isoDay(Date.parse(window.to ?? `${end}`) - (window.to === null ? 0 : DAY)).slice(0, 7),
          );
        }
      }),
    );
  });
});

describe("merged sources", () => {
  const source = (name: string, length: number, fails = false) =>
    async function* () {
      for (let n = 1; n <= length; n++) {
        await Promise.resolve();
        yield `${name}${n}`;
      }
      if (fails) throw new Error(`${name} failed`);
    };
  const all = async (merging: AsyncGenerator<string>) => {
    const seen: string[] = [];
    try {
      for await (const value of merging) seen.push(value);
      return { seen, error: undefined };
    } catch (error) {
      return { seen, error: (error as Error).message };
    }
  };

  test("yield everything, each in its own order, whatever the width", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 12 }),
        fc.integer({ min: 1, max: 5 }),
        async (lengths, width) => {
          const names = lengths.map((_, index) => `s${index}-`);
          const { seen, error } = await all(
            merged(
              lengths.map((length, index) => source(names[index]!, length)),
              width,
            ),
          );
          expect(error).toBeUndefined();
          for (const [index, length] of lengths.entries())
            expect(seen.filter(value => value.startsWith(names[index]!))).toEqual(
              Array.from({ length }, (_, n) => `${names[index]}${n + 1}`),
            );
        },
      ),
    );
  });

  test("are open no more than the width at first, and all at once when no more than that are left", async () => {
    let open = 0;
    const opened: number[] = [];
    const counted = (length: number) =>
      async function* () {
        opened.push(++open);
        for (let n = 0; n < length; n++) yield "x";
        open--;
      };
    await all(
      merged(
        Array.from({ length: 7 }, () => counted(3)),
        3,
      ),
    );
    expect(Math.max(...opened.slice(0, 3))).toBe(3);
    expect(Math.max(...opened)).toBeLessThanOrEqual(6);
    expect(opened).toHaveLength(7);
  });

  test("end with the first error, after what had come, and close the others", async () => {
    let closed = 0;
    const endless = async function* () {
      try {
        for (;;) yield "e";
      } finally {
        closed++;
      }
    };
    const { seen, error } = await all(merged([source("a", 2, true), endless, endless], 3));
    expect(error).toBe("a failed");
    expect(seen).toEqual(expect.arrayContaining(["a1", "a2", "e"]));
    expect(closed).toBe(2);
  });
});
