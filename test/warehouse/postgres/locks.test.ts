import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, expect, inject, test } from "vitest";
import { DestinationError, LockedError } from "../../../src/errors.ts";
import type { Destination } from "../../../src/warehouse/destination.ts";
import { lockKey } from "../../../src/warehouse/postgres/locks.ts";
import { checkIdentity } from "../../../src/warehouse/state/identity.ts";
import { DATA_VERSION } from "../../../src/warehouse/state/state_ddl.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { openReady, orders, plainBatch } from "./fixture.ts";

let database: TestDatabase;
const open: Destination[] = [];
beforeAll(async () => {
  database = await createDatabase(inject("postgresUrl"));
});
afterEach(async () => {
  for (const destination of open.splice(0)) await destination.close();
});
afterAll(() => database.drop());

async function session(runId: string, more: { readonly takesOver?: string } = {}): Promise<Destination> {
  const destination = await openReady(database.url, runId, more);
  open.push(destination);
  return destination;
}

test("the second run is refused within five seconds, with the holder's name and since when", async () => {
  const [first, second] = [await session("run-a"), await session("run-b")];
  await first.lock("acme", ["orders", "items"], 0);
  const started = performance.now();
  const refusal = await second.lock("acme", ["findings", "items"], 0).catch(error => error);
  expect(performance.now() - started).toBeLessThan(5_000);
  expect(refusal).toBeInstanceOf(LockedError);
  expect(refusal.exitCode).toBe(4);
  expect(refusal.message).toMatch(
    new RegExp(`^items of acme is held by run run-a \\(process ${process.pid} on here, sync\\) since 20\\d\\d-`),
  );
  // All or none: what was free is free again.
  const third = await session("run-c");
  await third.lock("acme", ["findings"], 0);
});

test("two first runs side by side record who they are once", async () => {
  const [first, second] = [await session("run-a"), await session("run-b")];
  const companies = [{ name: "new", baseUrl: "https://one.example.com", companyId: "c-1" }];
  const identity = { schema: first.schema, version: DATA_VERSION, companies };
  await Promise.all([first, second].map(({ db, dialect }) => checkIdentity(db, dialect, identity)));
  const { rows } = await database.admin.query("select value from _tributary.warehouse where key = 'company:new'");
  expect(rows).toEqual([{ value: { base_url: "https://one.example.com", company_id: "c-1" } }]);
});

test("other companies and other lockGroups don't wait for each other", async () => {
  const [first, second] = [await session("run-a"), await session("run-b")];
  await first.lock("acme", ["orders"], 0);
  await second.lock("acme", ["items"], 0);
  await second.lock("beta", ["orders"], 0);
  await second.lock("beta", ["orders"], 0);
});

test("a run of which no stream is on holds nothing, and writes as others do", async () => {
  const destination = await session("run-a");
  await destination.lock("acme", [], 0);
  const value = JSON.stringify("kept");
  await destination.db.transaction().execute(async trx => {
    await trx.insertInto("warehouse").values({ key: "no stream", value }).execute();
  });
  const { rows } = await database.admin.query("select value from _tributary.warehouse where key = 'no stream'");
  expect(rows).toEqual([{ value: "kept" }]);
});

test("who waits gets the lock as soon as the holder closes", async () => {
  const [first, second] = [await session("run-a"), await session("run-b")];
  await first.lock("acme", ["orders"], 0);
  const waiting = second.lock("acme", ["orders"], 60_000);
  await first.close();
  await waiting;
  const { rows } = await database.admin.query("select run_id, family from _tributary.holders");
  expect(rows).toEqual([{ run_id: "run-b", family: "orders" }]);
});

test("a holder killed with kill -9 in the middle of a statement gives its lock back in about a second", async () => {
  const next = await session("run-next");
  const script = fileURLToPath(new URL("holder_process.ts", import.meta.url));
  /** Whether one that waits for nothing has the lock, which is patient for 2.5 seconds. */
  const taken = async () => {
    const child = spawn(process.execPath, [script, database.url], { stdio: ["ignore", "pipe", "inherit"] });
    await once(child.stdout, "data");
    child.kill("SIGKILL");
    await once(child, "exit");
    return next.lock("acme", ["orders"], 0).then(
      () => true,
      error => expect(error).toBeInstanceOf(LockedError),
    );
  };
  // A server that has much else to do may look later than each second, but not each time.
  for (let tries = 1; (await taken()) !== true; tries++) expect(tries).toBeLessThan(3);
});

test("a session whose locks are gone writes nothing more, in or out of a transaction", async () => {
  const destination = await session("run-a");
  await destination.lock("acme", ["orders"], 0);
  const stage = await destination.stage("acme", orders);
  await stage.begin({ page: 0 });
  await sql`select pg_advisory_unlock(${lockKey("procurement", "acme", "orders")}::bigint)`.execute(destination.db);
  const row = { key: "x", value: "1" };
  await expect(destination.db.insertInto("warehouse").values(row).execute()).rejects.toThrow(LockedError);
  await expect(
    destination.db.transaction().execute(trx => trx.insertInto("warehouse").values(row).execute()),
  ).rejects.toThrow(LockedError);
  await expect(stage.append(plainBatch([1]), { page: 1 })).rejects.toThrow(LockedError);
  expect((await database.admin.query("select from _tributary.warehouse where key = 'x'")).rowCount).toBe(0);
  expect((await destination.stage("acme", orders)).record).toEqual({ page: 0 });
});

test("a run whose row another run took over is told who has it", async () => {
  const destination = await session("run-a");
  await destination.lock("acme", ["orders"], 0);
  await database.admin.query("update _tributary.holders set run_id = 'run-z'");
  await expect(destination.db.transaction().execute(() => Promise.resolve())).rejects.toThrow(/now: run run-z/);
});

test("a new holder cannot name itself while a transaction of the old one is open", async () => {
  const destination = await session("run-a");
  await destination.lock("acme", ["orders"], 0);
  await destination.db.transaction().execute(async () => {
    await database.admin.query("begin; set local lock_timeout = '100ms'");
    await expect(database.admin.query("update _tributary.holders set run_id = 'run-z'")).rejects.toThrow(
      /lock timeout/,
    );
    await database.admin.query("rollback");
  });
});

test("who takes over a company of a run ends the sessions of the process before, and no others of the run or of other runs", async () => {
  const write = ({ db }: Destination, key: string) => db.insertInto("warehouse").values({ key, value: "1" }).execute();
  const [former, other] = [await session("run-t"), await session("run-o")];
  await former.lock("acme", ["orders"], 0);
  await other.lock("globex", ["orders"], 0);
  const beside = await session("run-t");
  await beside.lock("initech", ["orders"], 0);
  const next = await session("run-t", { takesOver: "acme" });
  await next.lock("acme", ["orders"], 0);
  await write(next, "goes on");
  await expect(write(former, "went on")).rejects.toThrow(DestinationError);
  await expect(next.lock("globex", ["orders"], 0)).rejects.toThrow(/is held by run run-o/);
  for (const each of [other, beside]) await write(each, `goes on beside ${each === other}`);
});

test("locks that are given back are free for others, and the session takes others", async () => {
  const [first, second] = [await session("run-a"), await session("run-b")];
  await first.lock("acme", ["orders"], 0);
  await first.unlock();
  await second.lock("acme", ["orders"], 0);
  await first.lock("run run-a", ["its end"], 0);
  await first.db.insertInto("warehouse").values({ key: "kept", value: "1" }).execute();
  await expect(second.lock("run run-a", ["its end"], 0)).rejects.toThrow(/is held by run run-a/);
});

test("a terminated backend fails the next transaction, and nothing of it is written", async () => {
  const destination = await session("run-a");
  await destination.lock("acme", ["orders"], 0);
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(destination.db);
  await database.admin.query("select pg_terminate_backend($1)", [rows[0]!.pid]);
  const writing = destination.db
    .transaction()
    .execute(trx => trx.insertInto("warehouse").values({ key: "y", value: "1" }).execute());
  const error = await writing.catch(failure => failure);
  expect(error).toBeInstanceOf(DestinationError);
  expect(error.message).toMatch(/connection to PostgreSQL at 127.0.0.1:\d+ was lost/);
  expect((await database.admin.query("select from _tributary.warehouse where key = 'y'")).rowCount).toBe(0);
  await (await session("run-b")).lock("acme", ["orders"], 0);
});

test("transactions of one session queue, and a failed one leaves nothing behind", async () => {
  const { db } = await session("run-a");
  const insert = (key: string, fail: boolean) =>
    db.transaction().execute(async trx => {
      await trx.insertInto("warehouse").values({ key, value: "1" }).execute();
      if (fail) throw new Error("no");
      return trx.selectFrom("warehouse").select("key").where("key", "like", "q%").execute();
    });
  const [one, two, three] = await Promise.allSettled([insert("q1", false), insert("q2", true), insert("q3", false)]);
  expect([one.status, two.status, three.status]).toEqual(["fulfilled", "rejected", "fulfilled"]);
  const left = await db.selectFrom("warehouse").select("key").where("key", "like", "q%").orderBy("key").execute();
  expect(left.map(row => row.key)).toEqual(["q1", "q3"]);
});

test("values come back as the program knows them", async () => {
  const { db } = await session("run-a");
  const { rows } =
    await sql`select 9007199254740991::bigint as count, '2024-01-31'::date as day, '{"a":[1]}'::jsonb as json,
    '1.10'::numeric as money, '2024-01-31T10:00:00+02'::timestamptz as moment, current_setting('timezone') as zone`.execute(
      db,
    );
  expect(rows).toEqual([
    {
      count: 9007199254740991,
      day: "2024-01-31",
      json: { a: [1] },
      money: "1.10",
      moment: new Date("2024-01-31T08:00:00Z"),
      zone: "UTC",
    },
  ]);
  await expect(sql`select 9007199254740993::bigint as count`.execute(db)).rejects.toThrow(/9007199254740993/);
  expect((await sql<{ one: number }>`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }]);
});
