import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { DestinationError } from "../../../src/errors.ts";
import { LEASE_MS } from "../../../src/source/budget/budget.ts";
import { type Worker, World } from "./workers.ts";

const quiet = { seed: 1, tripMs: 2, latencyMs: [50, 50], delayMs: 0 } as const;

function worldOf(limits: { readonly maxConcurrency: number; readonly requestsPerSecond?: number }, workers = 1) {
  const world = new World({ ...quiet, ...limits });
  return { world, clock: world.clock, workers: Array.from({ length: workers }, () => world.join()) };
}

/** Runs tasks that end when they are told to, in the order in which they were started. */
function tasksOf({ limiter }: Worker) {
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (name: string, priority?: number, signal?: AbortSignal) =>
    limiter.run(
      () => {
        started.push(name);
        return new Promise<void>(resolve => ends.set(name, resolve));
      },
      priority,
      signal,
    );
  return { started, run, end: (name: string) => ends.get(name)!() };
}

test("the highest priority goes first, an aborted wait rejects with the reason and takes no place", async () => {
  const { clock, workers } = worldOf({ maxConcurrency: 1 });
  const { started, run, end } = tasksOf(workers[0]!);
  const first = run("first");
  await clock.advance(20);
  const stop = new AbortController();
  const aborted = run("aborted", 9, stop.signal);
  const runs = [run("low", 1), run("high", 2)];
  await clock.advance(20);
  expect(started).toEqual(["first"]);
  expect(workers[0]!.limiter.state).toMatchObject({ inFlight: 1, waiting: 3, limitedBy: "in flight", maximum: 1 });
  stop.abort(new Error("stop"));
  await expect(aborted).rejects.toThrow("stop");
  end("first");
  await first;
  await setImmediate();
  expect(started).toEqual(["first", "high"]);
  end("high");
  await clock.advance(10);
  end("low");
  await Promise.all(runs);
  expect(started).toEqual(["first", "high", "low"]);
});

test("permits are shared: a second worker gets its part once requests of the first have ended", async () => {
  const { clock, workers, world } = worldOf({ maxConcurrency: 2 }, 2);
  const [a, b] = [tasksOf(workers[0]!), tasksOf(workers[1]!)];
  for (const name of ["1", "2", "3"]) void a.run(name);
  await clock.advance(100);
  expect(a.started).toEqual(["1", "2"]);
  void b.run("4");
  await clock.advance(1_000);
  expect(b.started).toEqual([]);
  a.end("1");
  await clock.advance(1_000);
  expect(b.started).toEqual(["4"]);
  expect(a.started).toEqual(["1", "2"]);
  a.end("2");
  b.end("4");
  await clock.advance(1_000);
  expect(a.started).toEqual(["1", "2", "3"]);
  a.end("3");
  await clock.advance(1_000);
  // Without demand nothing is held, nobody asks, and no timer is left.
  expect(world.state!.leases).toEqual({});
  const { exchanges } = world;
  await clock.advance(60_000);
  expect(world.exchanges).toBe(exchanges);
  expect(clock.sleepers).toBe(0);
});

test.each([30, 60, 150])(
  "a database whose statements take up to %i ms delays starts, and stops none: also where one request waits at a time",
  async tripMs => {
    const world = new World({ ...quiet, tripMs, maxConcurrency: 8, requestsPerSecond: 20 });
    const [one, other] = [world.join(), world.join()];
    world.keepBusy(one, 1);
    await world.clock.advance(10_000);
    // A request takes 50 ms, and each of them an exchange of two statements and the start time that it is granted.
    const alone = one.starts;
    expect(alone).toBeGreaterThan(10_000 / (50 + 6 * tripMs));
    world.keepBusy(other, 8);
    await world.clock.advance(10_000);
    expect(one.starts).toBeGreaterThan(alone);
    expect(world.starts.length).toBeGreaterThan(60);
    expect(world.wrongs).toEqual([]);
  },
);

test("a pause that one was told holds the others, and the ceiling is halved once", async () => {
  const { clock, workers, world } = worldOf({ maxConcurrency: 8, requestsPerSecond: 40 }, 2);
  for (const worker of workers) world.keepBusy(worker, 4);
  await clock.advance(3_000);
  expect(world.state!.ceiling.allowed).toBe(8);
  for (const { limiter } of workers) {
    limiter.observe({ ok: false, limited: true, latencyMs: 5 });
    limiter.pause(2_000, "status 429");
  }
  await clock.advance(100);
  const paused = world.starts.length;
  const other = world.join();
  world.keepBusy(other, 4);
  await clock.advance(1_850);
  expect(world.starts.length).toBe(paused);
  expect(other.limiter.state).toMatchObject({ limitedBy: "429", pauseReason: "status 429" });
  expect(world.state!.ceiling.allowed).toBe(4);
  await clock.advance(1_000);
  expect(world.starts.length).toBeGreaterThan(paused + 20);
  expect(other.starts).toBeGreaterThan(0);
  expect(world.wrongs).toEqual([]);
});

test("while the database is not reached nothing is lost until the lease ends; then nothing starts, and `lost` says so", async () => {
  const { clock, workers, world } = worldOf({ maxConcurrency: 2 }, 2);
  const [a, b] = workers as [Worker, Worker];
  const { started, run } = tasksOf(a);
  const running = run("running");
  await clock.advance(20);
  a.isCut = true;
  await clock.advance(5_000);
  a.isCut = false;
  await clock.advance(LEASE_MS);
  expect(a.limiter.lost.aborted).toBe(false);
  a.isCut = true;
  const waiting = [run("second"), run("third")].map(each => each.catch(error => error));
  await clock.advance(LEASE_MS - 100);
  expect(a.limiter.lost.reason).toBeInstanceOf(DestinationError);
  expect(await waiting[1]).toBe(a.limiter.lost.reason);
  const before = started.length;
  await expect(run("late")).rejects.toBe(a.limiter.lost.reason);
  expect(started.length).toBe(before);
  world.keepBusy(b, 4, clock.now() + 1_000);
  await clock.advance(4_000);
  expect(b.starts).toBeGreaterThan(0);
  void running;
});

test("who never reached the database fails as well", async () => {
  const { clock, workers } = worldOf({ maxConcurrency: 2 });
  workers[0]!.isCut = true;
  const failed = workers[0]!.limiter.run(async () => 1).catch(error => error);
  await clock.advance(LEASE_MS);
  expect(await failed).toMatchObject({ name: "DestinationError", exitCode: 6, cause: { message: "cut off" } });
});

test("what is closed gives back what is not in flight, and refuses what waits", async () => {
  const { clock, workers, world } = worldOf({ maxConcurrency: 2 }, 2);
  const [busy, idle] = workers.map(tasksOf);
  const first = busy!.run("first");
  const done = idle!.run("done");
  await clock.advance(20);
  const waiting = busy!.run("waiting").catch(error => error);
  idle!.end("done");
  await done;
  const closing = Promise.all(workers.map(({ limiter }) => limiter.close()));
  await clock.advance(20);
  await closing;
  expect(await waiting).toMatchObject({ message: "the limiter was closed" });
  expect(world.state!.leases).toMatchObject({ w0: { holds: 1 } });
  expect(Object.keys(world.state!.leases)).toEqual(["w0"]);
  busy!.end("first");
  await first;
  expect(workers.some(({ limiter }) => limiter.lost.aborted)).toBe(false);
  expect(clock.sleepers).toBe(0);
});

test("a request of a worker that was at rest starts after one exchange, and an error frees its place", async () => {
  const { clock, workers, world } = worldOf({ maxConcurrency: 2, requestsPerSecond: 10 });
  const { limiter } = workers[0]!;
  const failing = limiter.run(() => Promise.reject(new Error("no"))).catch(error => error);
  await clock.advance(10);
  expect(await failing).toMatchObject({ message: "no" });
  expect(world.exchanges).toBe(1);
  const next = limiter.run(async () => clock.now());
  await clock.advance(200);
  expect(await next).toBeGreaterThanOrEqual(106);
  expect(limiter.state).toMatchObject({ inFlight: 0, waiting: 0, limitedBy: "latency" });
});
