import fc from "fast-check";
import { expect, test } from "vitest";
import { inParallel } from "../../../src/sync/extract/parallel.ts";

async function* numbers(count: number) {
  for (let i = 0; i < count; i++) yield i;
}

const turn = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms));

test("every item is worked on once, never more than the width at a time", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat(40),
      fc.integer({ min: 1, max: 8 }),
      fc.array(fc.nat(3), { minLength: 1 }),
      async (count, width, delays) => {
        let running = 0;
        let most = 0;
        const seen: number[] = [];
        for await (const result of inParallel(numbers(count), width, async item => {
          most = Math.max(most, ++running);
          await turn(delays[item % delays.length]!);
          running--;
          return item;
        })) {
          seen.push(result);
          if (result % 3 === 0) await turn(1);
        }
        expect(seen.sort((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, i) => i));
        expect(most).toBeLessThanOrEqual(width);
      },
    ),
    { numRuns: 60 },
  );
});

test("a failure ends it after the results that came before, and starts nothing more", async () => {
  const started: number[] = [];
  const seen: number[] = [];
  const work = async () => {
    for await (const result of inParallel(numbers(100), 4, async item => {
      started.push(item);
      await turn(item === 6 ? 5 : 1);
      if (item === 6) throw new Error("six");
      return item;
    }))
      seen.push(result);
  };
  await expect(work()).rejects.toThrow("six");
  expect(seen).toContain(0);
  expect(started.length).toBeLessThan(40);
  expect(seen.length).toBe(started.length - 1);
});

test("a source that fails and a consumer that leaves both wait for the tasks under way", async () => {
  let running = 0;
  const task = async (item: number) => {
    running++;
    await turn(3);
    running--;
    return item;
  };
  async function* broken() {
    yield 1;
    throw new Error("source");
  }
  await expect(
    (async () => {
      for await (const result of inParallel(broken(), 2, task)) expect(result).toBe(1);
    })(),
  ).rejects.toThrow("source");
  for await (const result of inParallel(numbers(10), 3, task)) {
    expect(result).toBeGreaterThanOrEqual(0);
    break;
  }
  expect(running).toBe(0);
});

test("tasks that a signal ends all at once end it, whatever else is under way", async () => {
  const stop = new AbortController();
  const task = () =>
    new Promise<never>((_, reject) => stop.signal.addEventListener("abort", () => reject(stop.signal.reason)));
  const work = (async () => {
    for await (const _ of inParallel(numbers(100), 4, task));
  })();
  await turn(1);
  stop.abort(new Error("stopped"));
  await expect(work).rejects.toThrow("stopped");
});
