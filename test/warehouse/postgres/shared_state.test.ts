import { afterAll, beforeAll, expect, inject, onTestFinished, test } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import { DestinationError } from "../../../src/errors.ts";
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
  expect(first).toMatchObject({ id: "a", pid: 1, doing: { jobs: 2 }, stopped_at: null });
  expect(first!.ageMs).toBeGreaterThanOrEqual(0);
  expect(second!.stopped_at).toEqual(second!.seen_at);
  await killAll();
  const beat = () => shared.beat({ ...worker, draining: true }).then(() => "seen", String);
  await expect.poll(beat, { timeout: 60_000 }).toBe("seen");
  const [again] = await shared.workers();
  expect(again).toMatchObject({ started_at: first!.started_at, draining: true });
  expect(again!.seen_at > first!.seen_at).toBe(true);
  // A process that takes over a name began later.
  await shared.beat({ ...worker, pid: 2 });
  expect((await shared.workers())[0]!.started_at > first!.started_at).toBe(true);
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
  expect(await shared.workers()).toEqual([]);
  await shared.close();
  const { rows } = await own.admin.query("select obj_description('_tributary.workers'::regclass) as comment");
  expect(rows[0].comment).toMatch("Worker processes");
  // The warehouse is made beside them.
  const destination = await openReady(own.url);
  await destination.close();
  await own.admin.query(`drop owned by ${role}; drop role ${role}`);
});
