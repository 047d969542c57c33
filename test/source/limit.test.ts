import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createCeiling } from "../../src/source/adaptive_concurrency.ts";
import { createLimiter } from "../../src/source/limit.ts";
import { manualClock } from "./clocks.ts";

const quick = { ok: true, limited: false, latencyMs: 80 };
const tooMany = { ok: false, limited: true, latencyMs: 5 };

/** A task under the test's control. */
function task() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const state = {
    started: false,
    finish: resolve,
    run: () => {
      state.started = true;
      return promise;
    },
  };
  return state;
}

describe("ceiling", () => {
  test("goes from 2 to 8 within 40 quick answers, and no higher", () => {
    const ceiling = createCeiling(8);
    expect(ceiling.now).toBe(2);
    let answers = 0;
    while (ceiling.now < 8) {
      ceiling.observe(quick);
      answers += 1;
    }
    expect(answers).toBeLessThanOrEqual(40);
    for (let index = 0; index < 100; index += 1) ceiling.observe(quick);
    expect(ceiling.now).toBe(8);
  });

  test("doubles a round trip up to 8, then rises by one a round trip", () => {
    const ceiling = createCeiling(64);
    for (let index = 0; index < 6; index += 1) ceiling.observe(quick);
    expect(ceiling.now).toBe(8);
    for (let index = 0; index < 7; index += 1) ceiling.observe(quick);
    expect(ceiling.now).toBe(8);
    ceiling.observe(quick);
    expect(ceiling.now).toBe(9);
  });

  test.each([
    ["a 429", tooMany, 1 + 2],
    ["a failure", { ...quick, ok: false }, 2],
  ])("%s ends the quick start", (_, first, answersTo3) => {
    const ceiling = createCeiling(8);
    ceiling.observe(first);
    ceiling.resume();
    for (let index = 1; index < answersTo3; index += 1) ceiling.observe(quick);
    expect(ceiling.now).toBe(2);
    ceiling.observe(quick);
    expect(ceiling.now).toBe(3);
  });

  test("starts below 2 where the maximum does", () => {
    expect(createCeiling(1).now).toBe(1);
  });

  test("halves once a pause, however many requests were told", () => {
    const ceiling = createCeiling(8);
    for (let index = 0; index < 40; index += 1) ceiling.observe(quick);
    for (let index = 0; index < 8; index += 1) ceiling.observe(tooMany);
    expect(ceiling.now).toBe(4);
    ceiling.resume();
    ceiling.observe(tooMany);
    expect(ceiling.now).toBe(2);
    expect(ceiling.cause).toBe("429");
    for (let index = 0; index < 5; index += 1) {
      ceiling.resume();
      ceiling.observe(tooMany);
    }
    expect(ceiling.now).toBe(1);
    for (let index = 0; index < 60; index += 1) ceiling.observe(quick);
    expect(ceiling.now).toBe(8);
    expect(ceiling.cause).toBe("start");
  });

  test("backs off while answers take more than twice their best, and recovers", () => {
    const ceiling = createCeiling(8);
    for (let index = 0; index < 40; index += 1) ceiling.observe(quick);
    for (let index = 0; index < 30; index += 1) ceiling.observe({ ...quick, latencyMs: 400 });
    expect(ceiling.now).toBeLessThanOrEqual(3);
    expect(ceiling.cause).toBe("slow");
    for (let index = 0; index < 60; index += 1) ceiling.observe(quick);
    expect(ceiling.now).toBe(8);
  });

  test("a service that has become slower for good is the new measure", () => {
    const ceiling = createCeiling(8);
    for (let index = 0; index < 40; index += 1) ceiling.observe(quick);
    for (let index = 0; index < 400; index += 1) ceiling.observe({ ...quick, latencyMs: 300 });
    expect(ceiling.now).toBe(8);
  });

  test("lists that take longer than details are not slowness, nor are milliseconds", () => {
    const ceiling = createCeiling(8);
    for (let index = 0; index < 60; index += 1) {
      ceiling.observe({ ...quick, kind: "detail", latencyMs: 40 });
      ceiling.observe({ ...quick, kind: "list", latencyMs: 900 });
    }
    expect(ceiling.now).toBe(8);
    for (let index = 0; index < 60; index += 1)
      ceiling.observe({ ...quick, kind: "near", latencyMs: index % 2 ? 1 : 20 });
    expect(ceiling.now).toBe(8);
  });

  test("failures earn nothing, and time-outs count as slow", () => {
    const ceiling = createCeiling(8);
    for (let index = 0; index < 60; index += 1) ceiling.observe({ ok: false, limited: false, latencyMs: 1 });
    expect(ceiling.now).toBe(2);
    for (let index = 0; index < 40; index += 1) ceiling.observe(quick);
    for (let index = 0; index < 6; index += 1) ceiling.observe({ ok: false, limited: false, latencyMs: 30_000 });
    expect(ceiling.now).toBeLessThan(8);
  });
});

describe("limiter", () => {
  test("holds the ceiling in flight and lets the rest wait by priority", async () => {
    const limit = createLimiter({ maxConcurrency: 8, clock: manualClock() });
    const tasks = Array.from({ length: 5 }, task);
    const runs = tasks.map((each, index) => limit.run(each.run, index));
    expect(tasks.map(each => each.started)).toEqual([true, true, false, false, false]);
    expect(limit.state).toMatchObject({ inFlight: 2, waiting: 3, ceiling: 2, maximum: 8, limitedBy: "in flight" });
    tasks[0]!.finish();
    await runs[0];
    await setImmediate();
    expect(tasks.map(each => each.started)).toEqual([true, true, false, false, true]);
    for (let index = 0; index < 10; index += 1) limit.observe(quick);
    expect(tasks.every(each => each.started)).toBe(true);
    for (const each of tasks) each.finish();
    await Promise.all(runs);
    await setImmediate();
    expect(limit.state).toMatchObject({ inFlight: 0, waiting: 0, limitedBy: "latency" });
  });

  test("a pause holds every request; the longest of several counts", async () => {
    const clock = manualClock();
    const limit = createLimiter({ maxConcurrency: 4, clock });
    limit.observe(tooMany);
    limit.pause(1000, "status 429");
    const one = task();
    const run = limit.run(one.run);
    limit.pause(3000, "status 429");
    limit.pause(500, "status 429");
    expect(limit.state).toMatchObject({
      limitedBy: "429",
      pausedUntil: clock.now() + 3000,
      pauseReason: "status 429",
      limited: 1,
      ceiling: 1,
    });
    await clock.advance(2999);
    expect(one.started).toBe(false);
    await clock.advance(1);
    expect(one.started).toBe(true);
    expect(limit.state.pausedUntil).toBeUndefined();
    const next = task();
    const second = limit.run(next.run);
    expect(limit.state.limitedBy).toBe("429");
    one.finish();
    next.finish();
    await Promise.all([run, second]);
  });

  test("a pause that passed while nobody waited holds nobody", async () => {
    const clock = manualClock();
    const limit = createLimiter({ maxConcurrency: 4, clock });
    limit.pause(1000, "status 429");
    await clock.advance(1000);
    expect(await limit.run(async () => 7)).toBe(7);
  });

  test("an aborted wait rejects with the reason, frees its place, and leaves no timer behind", async () => {
    const clock = manualClock();
    const limit = createLimiter({ maxConcurrency: 4, clock });
    limit.pause(60_000, "status 429");
    const controller = new AbortController();
    const one = task();
    const run = limit.run(one.run, 0, controller.signal);
    expect(clock.sleepers).toBe(1);
    const reason = new Error("stop");
    controller.abort(reason);
    await expect(run).rejects.toBe(reason);
    expect(one.started).toBe(false);
    await setImmediate();
    expect(clock.sleepers).toBe(0);
    const later = limit.run(async () => 1);
    await clock.advance(59_999);
    expect(limit.state.waiting).toBe(1);
    await clock.advance(1);
    expect(await later).toBe(1);
  });

  test("requests per second are starts at even distances, whatever is free", async () => {
    const clock = manualClock();
    const limit = createLimiter({ maxConcurrency: 8, requestsPerSecond: 20, clock });
    const starts: number[] = [];
    const begun = clock.now();
    const runs = Array.from({ length: 9 }, () => limit.run(async () => void starts.push(clock.now() - begun)));
    expect(limit.state.limitedBy).toBe("ceiling");
    await clock.advance(1000);
    await Promise.all(runs);
    expect(starts).toEqual([0, 50, 100, 150, 200, 250, 300, 350, 400]);
    await limit.run(async () => void starts.push(clock.now() - begun));
    expect(starts.at(-1)).toBe(1000);
  });

  test("a fine ceiling is kept on average although timers count whole milliseconds", async () => {
    const clock = manualClock();
    const limit = createLimiter({ maxConcurrency: 8, requestsPerSecond: 1500, clock });
    let count = 0;
    const task = async () => {
      count += 1;
    };
    const runs = Array.from({ length: 400 }, () => limit.run(task));
    await clock.advance(200);
    expect(count).toBeGreaterThan(290);
    expect(count).toBeLessThanOrEqual(302);
    await clock.advance(200);
    await Promise.all(runs);
  });

  test("a clock that is set back prolongs a pause by itself at most", async () => {
    const clock = manualClock();
    let back = 0;
    const limit = createLimiter({ maxConcurrency: 2, clock: { now: () => clock.now() - back, sleep: clock.sleep } });
    limit.pause(1000, "status 429");
    const run = limit.run(async () => 1);
    back = 3_600_000;
    await clock.advance(2000);
    back = 0;
    await clock.advance(1000);
    expect(await run).toBe(1);
  });

  test("a task that fails frees its place", async () => {
    const limit = createLimiter({ maxConcurrency: 1, clock: manualClock() });
    await expect(limit.run(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await limit.run(async () => 2)).toBe(2);
  });
});
