import fc from "fast-check";
import { expect, test } from "vitest";
import { LEASE_MS } from "../../../src/source/budget/budget.ts";
import { BEGUN, World } from "./workers.ts";

/** What may befall the workers: `who` is one of them, `ms` how long or by how much. */
const event = fc.record({
  at: fc.integer({ min: 0, max: 20_000 }),
  kind: fc.constantFrom("death", "cut", "pause", "rest", "join"),
  who: fc.nat(9),
  ms: fc.integer({ min: 1, max: 6_000 }),
});

const scenario = fc.record({
  seed: fc.nat(),
  workers: fc.integer({ min: 1, max: 5 }),
  width: fc.integer({ min: 1, max: 12 }),
  maxConcurrency: fc.integer({ min: 1, max: 10 }),
  requestsPerSecond: fc.oneof(fc.constant(undefined), fc.integer({ min: 1, max: 60 })),
  tripMs: fc.constantFrom(0, 4, 20),
  lostShare: fc.constantFrom(0, 0.05),
  latencyMs: fc.constantFrom([5, 10], [20, 200], [10, 3_000]) as fc.Arbitrary<[number, number]>,
  events: fc.array(event, { maxLength: 12 }),
});

test("whatever befalls workers and database: no limit is broken, and what the dead had is free within a lease", async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ events, workers, width, ...settings }) => {
      const world = new World({ ...settings, delayMs: 40 });
      for (let nth = 0; nth < workers; nth++) world.keepBusy(world.join(), width);
      let now = 0;
      for (const { at, kind, who, ms } of events.toSorted((a, b) => a.at - b.at)) {
        await world.clock.advance(at - now);
        now = at;
        const worker = world.workers[who % world.workers.length]!;
        if (kind === "death") worker.isDead = true;
        if (kind === "join") world.keepBusy(world.join(), width);
        if (kind === "pause") {
          worker.limiter.observe({ ok: false, limited: true, latencyMs: 5 });
          worker.limiter.pause(ms, "status 429");
        }
        if (kind === "cut") {
          worker.isCut = true;
          void world.clock.sleep(2 * ms).then(() => (worker.isCut = false));
        }
        if (kind === "rest") world.keepBusy(worker, 2, at + ms);
      }
      expect(world.wrongs).toEqual([]);
      const { requestsPerSecond = Number.POSITIVE_INFINITY } = settings;
      expect(world.mostInASecond()).toBeLessThanOrEqual(requestsPerSecond + 1);
      // Whoever is left dies as well, but for one that comes now.
      for (const worker of world.workers) worker.isDead = true;
      const last = world.join();
      world.keepBusy(last, width);
      await world.clock.advance(LEASE_MS + 6_000);
      expect(world.wrongs).toEqual([]);
      expect(Object.keys(world.state?.leases ?? {})).toEqual([last.id]);
      expect(last.starts).toBeGreaterThan(0);
    }),
    { numRuns: 60 },
  );
});

test("with steady demand the rate is used, and every worker has its turn", async () => {
  const steady = fc.record({
    seed: fc.nat(),
    workers: fc.integer({ min: 1, max: 5 }),
    maxConcurrency: fc.integer({ min: 1, max: 10 }),
    requestsPerSecond: fc.integer({ min: 2, max: 60 }),
    tripMs: fc.constantFrom(0, 4, 10),
  });
  await fc.assert(
    fc.asyncProperty(steady, async ({ workers, ...settings }) => {
      const world = new World({ ...settings, latencyMs: [20, 60], delayMs: 40 });
      for (let nth = 0; nth < workers; nth++) world.keepBusy(world.join(), 12);
      await world.clock.advance(4_000);
      const before = world.starts.length;
      const had = world.workers.map(({ starts }) => starts);
      await world.clock.advance(10_000);
      const { maxConcurrency, requestsPerSecond } = settings;
      const turns = world.workers.map(({ starts }, nth) => starts - had[nth]!);
      expect(Math.min(...turns)).toBeGreaterThan(0);
      // Permits that go from hand to hand, and answers that take 40 ms on average, are another limit.
      if (workers <= maxConcurrency && maxConcurrency >= requestsPerSecond / 12)
        expect(world.starts.length - before).toBeGreaterThanOrEqual(Math.floor((0.9 * 10 * requestsPerSecond) / 1.06));
      // Where permits cannot be halved one has twice as many as another.
      const fair = (world.starts.length - before) / workers;
      if (workers <= maxConcurrency) expect(Math.min(...turns)).toBeGreaterThanOrEqual(Math.floor(fair / 3));
      expect(world.wrongs).toEqual([]);
    }),
    { numRuns: 40 },
  );
});

test("who has one permit where others have two gets start times at a few requests a second too", async () => {
  const world = new World({
    seed: 7,
    maxConcurrency: 5,
    requestsPerSecond: 2,
    latencyMs: [20, 60],
    tripMs: 4,
    delayMs: 40,
  });
  for (let nth = 0; nth < 3; nth++) world.keepBusy(world.join(), 12);
  await world.clock.advance(60_000);
  // It has a fifth of the permits, and had 8 of 114 starts when the others asked for ever later ones.
  const least = Math.min(...world.workers.map(({ starts }) => starts));
  expect(least / world.starts.length).toBeGreaterThan(0.15);
});

test("a day's requests are counted by the database's clock, those of the dead as well", async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.integer({ min: 1, max: 300 }), async (seed, requestsPerDay) => {
      const world = new World({ seed, maxConcurrency: 6, requestsPerDay, latencyMs: [20, 60], tripMs: 6, delayMs: 0 });
      const midnight = Math.ceil(BEGUN / 86_400_000) * 86_400_000 - BEGUN;
      await world.clock.advance(midnight - 20_000);
      for (let nth = 0; nth < 3; nth++) world.keepBusy(world.join(), 12);
      await world.clock.advance(1_000);
      world.workers[0]!.isDead = true;
      await world.clock.advance(18_000);
      const first = world.starts.length;
      expect(first).toBeLessThanOrEqual(requestsPerDay);
      // What the dead had got but not used is lost.
      expect(first).toBeGreaterThanOrEqual(Math.min(requestsPerDay - 12, requestsPerDay / 2));
      expect(world.workers.slice(1).flatMap(({ failures }) => [...failures])).toContainEqual(
        expect.objectContaining({ name: "BudgetSpentError" }),
      );
      await world.clock.advance(1_100);
      world.keepBusy(world.workers[1]!, 12);
      await world.clock.advance(60_000);
      expect(world.starts.length - first).toBe(requestsPerDay);
    }),
    { numRuns: 15 },
  );
});
