import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import pg from "pg";
import { afterAll, afterEach, beforeAll, expect, inject, onTestFinished, test } from "vitest";
import { ConfigError, DestinationError, LockedError } from "../../../src/errors.ts";
import { runningRuns } from "../../../src/warehouse/connect/reading.ts";
import type { Destination } from "../../../src/warehouse/destination.ts";
import { openDuckdb } from "../../../src/warehouse/duckdb/open.ts";
import { openPublish } from "../../../src/warehouse/merge/apply.ts";
import { lockKey } from "../../../src/warehouse/postgres/locks.ts";
import { openPostgresForReading } from "../../../src/warehouse/postgres/open.ts";
import { dropStages } from "../../../src/warehouse/state/drop_stages.ts";
import { saveRejects } from "../../../src/warehouse/state/rejects.ts";
import { stillClock } from "../../support/clock.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { startPostgres } from "../../support/server.ts";
import { open as openPart, openReady, orders, plainBatch } from "./fixture.ts";

let database: TestDatabase;
const open: Destination[] = [];
beforeAll(async () => {
  database = await createDatabase(inject("postgresUrl"));
});
afterEach(async () => {
  for (const destination of open.splice(0)) await destination.close();
});
afterAll(() => database.drop());

async function session(runId: string, url = database.url): Promise<Destination> {
  const destination = await openReady(url, runId);
  open.push(destination);
  return destination;
}

const goingOn = async (runId: string, more: { readonly takesOver: boolean }): Promise<Destination> => {
  const destination = await openPart(database.url, runId, more);
  open.push(destination);
  return destination;
};

const part = async (name: string, runId = "run-p"): Promise<Destination> => {
  const destination = await session(runId);
  await destination.lock("acme", ["orders"], 0, name);
  return destination;
};

const write = ({ db }: Destination, key: string) => db.insertInto("warehouse").values({ key, value: "1" }).execute();

const families = async () =>
  (await database.admin.query("select family from _tributary.holders order by family")).rows.map(row => row.family);

const pidOf = async ({ db }: Destination) =>
  (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)).rows[0]!.pid;

async function running(): Promise<readonly string[]> {
  const place = { schema: "procurement", stateSchema: "_tributary" };
  await using reading = await openPostgresForReading({ url: database.url, ...place, clock: stillClock() });
  const where = { type: "postgres" as const, url: database.url, ...place };
  const runs = await runningRuns(where as never, { ...reading, publishedAt: undefined });
  return runs.map(({ runId }) => runId);
}

test("parts of a group work at once, keep who wants all of it out, and are kept out by it", async () => {
  const [one, two] = [await part("1 of 2"), await part("2 of 2")];
  await Promise.all([write(one, "one"), write(two, "two")]);
  expect(await families()).toEqual(["orders/1 of 2", "orders/2 of 2"]);
  expect(await running()).toEqual(["run-p"]);
  const whole = await session("run-w");
  const refused = await whole.lock("acme", ["orders"], 0).catch(error => error);
  expect(refused).toBeInstanceOf(LockedError);
  expect(refused.message).toMatch(/^orders of acme is held by run run-p \(process/);
  await one.close();
  await expect(whole.lock("acme", ["orders"], 0)).rejects.toThrow(/^orders of acme is held by run run-p/);
  await two.close();
  await whole.lock("acme", ["orders"], 0);
  const late = await session("run-p");
  await expect(late.lock("acme", ["orders"], 0, "1 of 2")).rejects.toThrow(/^orders of acme is held by run run-w/);
  await late.lock("acme", ["items"], 0, "1 of 2");
  await late.lock("beta", ["orders"], 0, "1 of 2");
});

test("the same part waits for the one who has it, and asks nobody else to make room", async () => {
  const [one, two] = [await part("1 of 2", "run-a"), await part("2 of 2", "run-b")];
  const again = await session("run-c");
  await expect(again.lock("acme", ["orders"], 0, "1 of 2")).rejects.toThrow(
    /^orders\/1 of 2 of acme is held by run run-a/,
  );
  const waiting = again.lock("acme", ["orders"], 60_000, "1 of 2");
  await expect.poll(() => one.isWanted(), { timeout: 60_000 }).toBe(true);
  expect(await two.isWanted()).toBe(false);
  await one.close();
  await waiting;
  expect(await families()).toEqual(["orders/1 of 2", "orders/2 of 2"]);
});

test("who waits for all of a group is seen by each part", async () => {
  const one = await part("1 of 2");
  const waiting = (await session("run-w")).lock("acme", ["orders"], 60_000);
  await expect.poll(() => one.isWanted(), { timeout: 60_000 }).toBe(true);
  await one.close();
  await waiting;
});

test("what was held alone is shared without a moment in which somebody else could take it", async () => {
  const first = await session("run-a");
  await first.lock("acme", ["orders", "items"], 0);
  // Whoever waits in the server's queue gets the lock as soon as nobody holds it.
  const queued = new pg.Client({ connectionString: database.url });
  await queued.connect();
  onTestFinished(() => queued.end());
  const key = lockKey("procurement", "acme", "orders");
  const grabbing = queued.query("select pg_advisory_lock($1)", [key]).then(
    () => "taken",
    () => "never",
  );
  // Of this database alone: other tests' sessions wait on the same server.
  const waits = `select pid from pg_locks where locktype = 'advisory' and not granted
    and database = (select oid from pg_database where datname = current_database())`;
  await expect.poll(async () => (await database.admin.query(waits)).rowCount, { timeout: 60_000 }).toBe(1);
  await first.share("0 of 2");
  await write(first, "shared");
  expect(await families()).toEqual(["items/0 of 2", "orders/0 of 2"]);
  await database.admin.query(`select pg_cancel_backend(pid) from (${waits}) l`);
  expect(await grabbing).toBe("never");
  const two = await part("2 of 2");
  await write(two, "beside");
  await expect((await session("run-z")).lock("acme", ["orders"], 0)).rejects.toThrow(LockedError);
  await expect(first.share("again")).rejects.toThrow(TypeError);
  await expect(first.lock("acme", ["items"], 0)).rejects.toThrow(TypeError);
  for (const destination of [first, two]) await destination.close();
  expect(await families()).toEqual([]);
  await (await session("run-z")).lock("acme", ["orders", "items"], 0);
});

test("a part whose lock or session is gone writes nothing more, in or out of a transaction", async () => {
  const [one, two] = [await part("1 of 2"), await part("2 of 2")];
  const stage = await two.stage("acme", orders, "2 of 2");
  await sql`select pg_advisory_unlock_shared(objid) from (select ((classid::bigint << 32) | objid::bigint) as objid from pg_locks
    where pid = pg_backend_pid() and locktype = 'advisory' and mode = 'ShareLock') l`.execute(two.db);
  await expect(write(two, "lost")).rejects.toThrow(LockedError);
  await expect(stage.begin({ page: 0 })).rejects.toThrow(LockedError);
  await database.admin.query("select pg_terminate_backend($1)", [await pidOf(one)]);
  await expect(write(one, "lost")).rejects.toThrow(DestinationError);
  expect((await database.admin.query("select from _tributary.warehouse where key = 'lost'")).rowCount).toBe(0);
});

test("who takes over from a killed part or a killed whole cannot name itself while a transaction of it is open, and leaves no row of it", async () => {
  const two = await part("2 of 2", "run-a");
  await two.db.transaction().execute(async () => {
    await database.admin.query("begin; set local lock_timeout = '100ms'");
    await expect(database.admin.query("delete from _tributary.holders where family like 'orders/%'")).rejects.toThrow(
      /lock timeout/,
    );
    await database.admin.query("rollback");
  });
  const kill = async (destination: Destination) => {
    await database.admin.query("select pg_terminate_backend($1)", [await pidOf(destination)]);
  };
  await kill(two);
  const whole = await session("run-w");
  await whole.lock("acme", ["orders"], 0);
  expect(await families()).toEqual(["orders"]);
  await kill(whole);
  await part("1 of 2", "run-b");
  expect(await families()).toEqual(["orders/1 of 2"]);
  expect(await running()).toEqual(["run-b"]);
});

test("a row that a killed whole left says nothing while parts hold its lock", async () => {
  await part("1 of 2", "run-b");
  await database.admin.query(
    "insert into _tributary.holders select company, 'orders', 'run-dead', holder, since from _tributary.holders",
  );
  expect(await running()).toEqual(["run-b"]);
});

test("a DuckDB file refuses parts: it has one writer", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tributary-parts-"));
  const holder = { pid: process.pid, host: "here", command: "sync", startedAt: "2025-01-01T00:00:00Z" };
  const destination = await openDuckdb({
    ...{ path: join(folder, "w.duckdb"), schema: "procurement", stateSchema: "_tributary", readers: "direct" as const },
    ...{ keepVersions: 2, runId: "run-1", holder, clock: stillClock() },
  });
  onTestFinished(async () => {
    await destination.close();
    await rm(folder, { recursive: true, force: true });
  });
  await expect(destination.lock("acme", ["orders"], 0, "1 of 2")).rejects.toThrow(ConfigError);
  await expect(destination.share("1 of 2")).rejects.toThrow(/a DuckDB file has one writer/);
});

const tablesOfStages = async () =>
  (
    await database.admin.query(
      "select relname from pg_class c join pg_namespace n on n.oid = relnamespace where nspname = '_tributary' and relname like 'stage\\_%'",
    )
  ).rows.length;

test("each part has a stage of its own, beside that of the whole, and goes with it", async () => {
  const destination = await session("run-a");
  await destination.lock("acme", ["orders"], 0);
  const stages = await Promise.all(
    [undefined, "1 of 2", "2 of 2"].map(name => destination.stage("acme", orders, name)),
  );
  const none = await tablesOfStages();
  for (const [at, stage] of stages.entries()) {
    await stage.begin({ at });
    await stage.append(plainBatch([at]), { at });
  }
  // The whole's begins anew beside them, in all of its ways.
  await stages[0]!.begin({ at: 0 });
  await stages[0]!.append(plainBatch([0]), { at: 0 });
  const reopened = await Promise.all(
    [undefined, "1 of 2", "2 of 2"].map(name => destination.stage("acme", orders, name)),
  );
  for (const [at, stage] of reopened.entries()) {
    expect([stage.record, stage.staged]).toEqual([{ at }, 1]);
    const { rows } = await sql<{ key: string }>`select order_no as key from ${stage.keys()} k`.execute(destination.db);
    expect(rows).toEqual([{ key: `o${at}` }]);
  }
  await reopened[1]!.drop();
  await reopened[1]!.drop();
  expect((await destination.stage("acme", orders, "1 of 2")).record).toBeUndefined();
  expect((await destination.stage("acme", orders, "2 of 2")).record).toEqual({ at: 2 });
  await dropStages(destination, "acme", orders);
  expect(await tablesOfStages()).toBe(none);
  expect((await destination.stage("acme", orders, "2 of 2")).record).toBeUndefined();
});

test("a part's stage can be filled, emptied and dropped where all tables are published, and while it is read", async () => {
  await database.admin.query("create publication everything for all tables");
  onTestFinished(() => database.admin.query("drop publication everything").then(() => undefined));
  const destination = await session("run-a");
  await destination.lock("acme", ["orders"], 0);
  const stage = await destination.stage("acme", orders, "1 of 2");
  const fill = async () => {
    await stage.begin({ at: 1 });
    await stage.append(plainBatch([1]), { at: 1 });
  };
  await fill();
  await database.admin.query("begin");
  const { rows } = await database.admin.query(
    "select string_agg(format('select from _tributary.%I', relname), ';') as reading from pg_class where relname like 'stage\\_part%'",
  );
  await database.admin.query(rows[0].reading);
  await fill();
  expect((await destination.stage("acme", orders, "1 of 2")).staged).toBe(1);
  await stage.drop();
  expect((await destination.stage("acme", orders, "1 of 2")).record).toBeUndefined();
  await database.admin.query("rollback");
  // Files of what was only emptied still hold it, and go on doing so while any session, autovacuum's too, looks at what was before.
  await expect
    .poll(
      async () => {
        await destination.cleanse([]);
        const files = await database.admin.query(
          "select sum(pg_relation_size(oid))::int as bytes from pg_class where relname like 'stage\\_part%'",
        );
        return files.rows;
      },
      { timeout: 60_000 },
    )
    .toEqual([{ bytes: 0 }]);
  await fill();
  await (await destination.stage("acme", orders)).drop();
  expect((await destination.stage("acme", orders, "1 of 2")).record).toBeUndefined();
});

test("a part's publish waits for its turn, also where it touches no row", async () => {
  const destination = await session("run-a");
  await destination.lock("acme", ["orders"], 0);
  const stage = await destination.stage("acme", orders, "1 of 2");
  const nothing = { staged: 0, distinct: 0, inserted: 0, updated: 0, refreshed: 0, touched: 0, missing: 0 };
  const diff = { ...nothing, missedBefore: 0, known: 0, live: 0 };
  const target = {
    ...{ company: "acme", stream: "orders", tables: orders, stage, schemaFingerprint: 1 },
    ...{ parent: undefined, details: [], scope: undefined },
  };
  const locksWhile = (isPart: boolean) =>
    destination.db.transaction().execute(async trx => {
      await openPublish(trx, destination, target, diff, isPart);
      const { rows } = await sql<{ n: number }>`select count(*)::int as n from pg_locks
        where locktype = 'advisory' and pid = pg_backend_pid()`.execute(trx);
      return rows[0]!.n;
    });
  expect((await locksWhile(true)) - (await locksWhile(false))).toBe(1);
});

test("a crash of the server leaves a part what it staged, and empties the whole's", async () => {
  const server = await startPostgres();
  onTestFinished(() => server.close());
  const before = await openReady(server.url, "run-a");
  await before.lock("acme", ["orders"], 0);
  for (const name of [undefined, "1 of 2"]) {
    const stage = await before.stage("acme", orders, name);
    await stage.begin({ at: 1 });
    await stage.append(plainBatch([1, 2]), { at: 2 });
  }
  await server.kill9();
  await server.restart();
  await before.close();
  const after = await session("run-b", server.url);
  await after.lock("acme", ["orders"], 0);
  const kept = await after.stage("acme", orders, "1 of 2");
  expect([kept.record, kept.staged]).toEqual([{ at: 2 }, 2]);
  expect((await sql`select from ${kept.rows(orders.main)} r`.execute(after.db)).rows).toHaveLength(2);
  expect((await after.stage("acme", orders)).record).toBeUndefined();
});

test("parts that meet the same rows keep them as one reject each, seen once in the run", async () => {
  const sessions = [await part("1 of 2"), await part("2 of 2")];
  const of = { company: "acme", stream: "orders" };
  const row = {
    ...of,
    run_id: "run-p",
    raw: "1",
    reason: "no",
    key: null,
    field: null,
    context: null,
    parent_key: null,
  };
  const rejects = Array.from({ length: 40 }, (_, i) => ({
    ...row,
    digest: `${i}`,
    rows: 1,
    seen_at: "2026-03-15T12:00:00Z",
  }));
  for (let round = 0; round < 10; round++)
    await Promise.all(
      sessions.map((session, at) =>
        saveRejects(
          session,
          of,
          (at === 0 ? rejects : rejects.toReversed()).map(each => ({ ...each, scan: `${at}` })),
        ),
      ),
    );
  const { rows } = await database.admin.query("select distinct times, rows from _tributary.rejects");
  expect(rows).toEqual([{ times: "1", rows: expect.any(String) }]);
});

test("who goes on with a part ends the session of the same run that still holds it, and no other run's", async () => {
  const former = await part("1 of 2", "run-t");
  const beside = await part("2 of 2", "run-t");
  const next = await goingOn("run-t", { takesOver: true });
  await next.lock("acme", ["orders"], 0, "1 of 2");
  await write(next, "goes on");
  await expect(write(former, "went on")).rejects.toThrow(DestinationError);
  await write(beside, "goes on beside");
  const stranger = await goingOn("run-s", { takesOver: true });
  await expect(stranger.lock("acme", ["orders"], 0, "2 of 2")).rejects.toThrow(/is held by run run-t/);
  await write(beside, "goes on still");
});
