import { afterAll, beforeAll, expect, inject, onTestFinished, test } from "vitest";
import { ByteBudget } from "../../../src/byte_budget.ts";
import { systemClock } from "../../../src/clock.ts";
import { DestinationError } from "../../../src/errors.ts";
import { type BudgetStore, createSharedLimiter } from "../../../src/source/budget/shared_limiter.ts";
import { openSharedState, type SharedState } from "../../../src/warehouse/postgres/shared_state.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { openReady } from "./fixture.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase(inject("postgresUrl"));
});
afterAll(() => database.drop());

async function open(url = database.url): Promise<SharedState> {
  const shared = await openSharedState({ url, schema: "procurement", stateSchema: "_tributary", clock: systemClock });
  onTestFinished(() => shared.close());
  return shared;
}

const killAll = () =>
  database.admin.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
  );

test("of writers side by side none loses what another one wrote", async () => {
  const stores = (await Promise.all([open(), open()])).flatMap(shared =>
    Array.from({ length: 4 }, () => shared.budgets("counted")),
  );
  const times = 25;
  await Promise.all(
    stores.map(async store => {
      for (let done = 0; done < times; ) {
        const { version, state } = await store.read();
        if (await store.swap(version, { n: ((state as { n: number } | null)?.n ?? 0) + 1 })) done += 1;
      }
    }),
  );
  const { version, state, now } = await stores[0]!.read();
  expect({ version, state }).toEqual({ version: 8 * times, state: { n: 8 * times } });
  const { rows } = await database.admin.query("select extract(epoch from clock_timestamp()) * 1000 as now");
  expect(Math.abs(Number(rows[0].now) - now)).toBeLessThan(60_000);
  const other = await stores[0]!.read();
  expect(await stores[0]!.swap(other.version! - 1, {})).toBe(false);
  expect(await stores[0]!.swap(undefined, {})).toBe(false);
});

test("eight limiters keep the limits together, and a lost connection stops none", async () => {
  const limits = { maxConcurrency: 5, requestsPerSecond: 80 };
  const shared = await Promise.all([open(), open()]);
  const limiters = Array.from({ length: 8 }, (_, nth) =>
    createSharedLimiter({
      ...limits,
      store: shared[nth % 2]!.budgets("limited") satisfies BudgetStore,
      worker: `worker ${nth}`,
      clock: systemClock,
      uptime: () => performance.now(),
      memory: new ByteBudget(Number.POSITIVE_INFINITY),
    }),
  );
  onTestFinished(() => Promise.all(limiters.map(limiter => limiter.close())).then(() => undefined));
  let inFlight = 0;
  let most = 0;
  const starts: number[] = [];
  const request = async () => {
    starts.push(performance.now());
    inFlight += 1;
    most = Math.max(most, inFlight);
    await systemClock.sleep(20);
    inFlight -= 1;
  };
  const runs = limiters.flatMap(limiter => Array.from({ length: 15 }, () => limiter.run(request)));
  await expect.poll(() => starts.length, { timeout: 60_000 }).toBeGreaterThan(30);
  await killAll();
  await Promise.all(runs);
  expect(starts.length).toBe(8 * 15);
  expect(most).toBeLessThanOrEqual(limits.maxConcurrency);
  for (const [nth, first] of starts.entries()) {
    const inSecond = starts.slice(nth).filter(start => start < first + 1_000).length;
    expect(inSecond).toBeLessThanOrEqual(limits.requestsPerSecond + 1);
  }
});

test("sixty keys over one connection, each with a request at a time, all get on", async () => {
  const shared = await open();
  const limiters = Array.from({ length: 60 }, (_, nth) =>
    createSharedLimiter({
      ...{ maxConcurrency: 8, requestsPerSecond: 60 },
      store: shared.budgets(`key ${nth}`),
      worker: "worker",
      clock: systemClock,
      uptime: () => performance.now(),
      memory: new ByteBudget(Number.POSITIVE_INFINITY),
    }),
  );
  onTestFinished(() => Promise.all(limiters.map(limiter => limiter.close())).then(() => undefined));
  const done = await Promise.all(
    limiters.map(async limiter => {
      for (let nth = 0; nth < 5; nth++) await limiter.run(async () => undefined);
      return 5;
    }),
  );
  expect(done).toHaveLength(60);
});

test("workers tell how they are, and a killed connection is made anew", async () => {
  const shared = await open();
  const worker = {
    id: "a",
    host: "h",
    pid: 1,
    version: "1.0.0",
    draining: false,
    doing: { jobs: 2 },
    isStopped: false,
  };
  await shared.beat(worker);
  await shared.beat({ ...worker, id: "b", isStopped: true });
  const [first, second] = await shared.workers();
  expect(first).toMatchObject({ id: "a", pid: 1, doing: { jobs: 2 }, stoppedAt: null });
  expect(first!.ageMs).toBeGreaterThanOrEqual(0);
  expect(second!.stoppedAt).toEqual(second!.seenAt);
  await killAll();
  const beat = () => shared.beat({ ...worker, draining: true }).then(() => "seen", String);
  await expect.poll(beat, { timeout: 60_000 }).toBe("seen");
  const [again] = await shared.workers();
  expect(again).toMatchObject({ startedAt: first!.startedAt, draining: true });
  expect(again!.seenAt > first!.seenAt).toBe(true);
  // A process that takes over a name began later.
  await shared.beat({ ...worker, pid: 2 });
  expect((await shared.workers())[0]!.startedAt > first!.startedAt).toBe(true);
  await shared.forget("a");
  expect((await shared.workers()).map(({ id }) => id)).toEqual(["b"]);
  await shared.close();
  await expect(shared.workers()).rejects.toThrow(DestinationError);
});

test("a table that somebody locks for long is a failure that passes", async () => {
  const shared = await open();
  await database.admin.query("begin; lock table _tributary.workers");
  const failure = await shared.workers().catch(error => error);
  await database.admin.query("rollback");
  expect(failure).toBeInstanceOf(DestinationError);
  expect(await shared.workers()).toEqual(expect.any(Array));
});

test("a role that may not create the tables is told what it needs; once they are there it needs no more", async () => {
  const own = await createDatabase(inject("postgresUrl"));
  onTestFinished(() => own.drop());
  const role = `sharing_${process.pid}`;
  await own.admin.query(`create role ${role} login password 'secret-word'`);
  const failure = await open(own.as(role, "secret-word")).catch(error => error);
  expect(failure).toBeInstanceOf(DestinationError);
  expect(failure.message).toMatch(`CREATE SCHEMA IF NOT EXISTS "_tributary" AUTHORIZATION "${role}"`);
  await open(own.url);
  await own.admin.query(
    `grant usage on schema _tributary to ${role}; grant select, insert, update, delete on all tables in schema _tributary to ${role}`,
  );
  const shared = await open(own.as(role, "secret-word"));
  expect(await shared.budgets("k").swap(undefined, {})).toBe(true);
  await shared.close();
  const { rows } = await own.admin.query("select obj_description('_tributary.budgets'::regclass) as comment");
  expect(rows[0].comment).toMatch("limits of an API key");
  // The warehouse is made beside them.
  const destination = await openReady(own.url);
  await destination.close();
  await own.admin.query(`drop owned by ${role}; drop role ${role}`);
});
