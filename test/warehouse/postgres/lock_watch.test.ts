import { sql } from "kysely";
import { afterEach, beforeEach, expect, inject, onTestFinished, test } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import { StoppedError } from "../../../src/errors.ts";
import { altering } from "../../../src/warehouse/ddl/alteration.ts";
import type { Destination } from "../../../src/warehouse/destination.ts";
import type { LockPatience } from "../../../src/warehouse/postgres/lock_watch.ts";
import { openPostgresForReading } from "../../../src/warehouse/postgres/open.ts";
import { rowStateName } from "../../../src/warehouse/state_tables.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { sentence } from "../../support/log.ts";
import { openReady, orders } from "./fixture.ts";

let database: TestDatabase;
beforeEach(async () => {
  database = await createDatabase(inject("postgresUrl"));
});
afterEach(() => database.drop());

async function ready(url: string, patience: LockPatience): Promise<Destination> {
  const destination = await openReady(url, "run-1", patience);
  onTestFinished(() => destination.close());
  return destination;
}

/** Who `admin` is to others; from now on it holds a lock. */
async function hold(statement: string): Promise<number> {
  const { admin } = database;
  await admin.query(`set application_name = 'editor'; begin; ${statement}`);
  return (await admin.query("select pg_backend_pid() as pid")).rows[0].pid;
}

const touch = ({ db }: Destination) => db.updateTable("warehouse").set({ value: "1" }).execute();

test("a role that may not look into others' sessions is told who they are, and not since when", async () => {
  const role = `watching_${process.pid}_${process.hrtime.bigint() % 100_000n}`;
  await database.admin.query(`create role ${role} login password 'pw'`);
  const name = new URL(database.url).pathname.slice(1);
  await database.admin.query(`grant create on database ${name} to ${role}`);
  const destination = await openReady(database.as(role, "pw"), "run-1", { lockWaitMs: 3_000 });
  const pid = await hold("select from _tributary.warehouse for update");
  await expect(touch(destination)).rejects.toMatchObject({
    exitCode: 6,
    passing: false,
    message: expect.stringContaining(`session ${pid} (of postgres, editor) kept it`),
  });
  await destination.close();
  await database.admin.query(`rollback; drop owned by ${role} cascade; drop role ${role}`);
});

test("a wait ends soon after the run is to, and a statement that works is left alone", async () => {
  let stop: StoppedError | undefined;
  const destination = await ready(database.url, { lockWaitMs: 60_000, stopReason: () => stop });
  const pid = await hold("select from _tributary.warehouse for update");
  const touching = touch(destination);
  stop = new StoppedError(sentence("Stopped by SIGTERM."), 143);
  await expect(touching).rejects.toMatchObject({
    name: "StoppedError",
    exitCode: 143,
    message: expect.stringContaining(`session ${pid} (of postgres, editor, since `),
  });
  await database.admin.query("rollback");
  await sql`select pg_sleep(2.5)`.execute(destination.db);
  await touch(destination);
});

test("an alteration is begun anew until lock_wait is over, and then names who held the table", async () => {
  const { db, dialect } = await ready(database.url, { lockWaitMs: 6_500 });
  const pid = await hold("lock table _tributary.warehouse in access share mode");
  let begun = 0;
  const change = altering(db, dialect, async trx => {
    begun++;
    await sql`alter table _tributary.warehouse add column theirs text`.execute(trx);
  });
  await expect(change).rejects.toThrow(`session ${pid} (of postgres, editor, since `);
  expect(begun).toBe(2);
});

test("statistics are left out while somebody's VACUUM has the table", async () => {
  const destination = await ready(database.url, { lockWaitMs: 3_000 });
  const { admin } = database;
  await admin.query(`create schema procurement; create table procurement.orders as select generate_series(1, 1000);
    create table _tributary.${rowStateName("orders")} as select 1`);
  await hold("lock table procurement.orders in share update exclusive mode");
  await destination.afterPublish(orders, 1_000);
  await admin.query("rollback");
  await destination.afterPublish(orders, 1_000);
  const { rows } = await admin.query("select reltuples from pg_class where relname = 'orders'");
  expect(rows).toEqual([{ reltuples: 1000 }]);
});

test("readers don't wait for ever either", async () => {
  await ready(database.url, {});
  const place = { url: database.url, schema: "procurement", stateSchema: "_tributary", lockWaitMs: 3_000 };
  const reading = await openPostgresForReading({ ...place, clock: systemClock });
  const pid = await hold("lock table _tributary.warehouse");
  await expect(reading.db.selectFrom("warehouse").select("key").execute()).rejects.toThrow(`session ${pid} (`);
  await reading.close();
  await database.admin.query("rollback");
});
