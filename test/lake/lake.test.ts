import { readdir, rename, rm } from "node:fs/promises";
import type { DuckDBConnection } from "@duckdb/node-api";
import { sql } from "kysely";
import { expect, inject, onTestFinished, test } from "vitest";
import { startSimulator } from "../../simulator/simulator.ts";
import { systemClock } from "../../src/clock.ts";
import { ConfigError, DestinationError } from "../../src/errors.ts";
import { openDestination } from "../../src/warehouse/connect/open.ts";
import type { Destination } from "../../src/warehouse/destination.ts";
import { TRIED } from "../../src/warehouse/ducklake/extensions.ts";
import { inspectLake } from "../../src/warehouse/ducklake/inspection.ts";
import { EXPIRED } from "../../src/warehouse/ducklake/maintenance.ts";
import { openDucklake } from "../../src/warehouse/ducklake/open.ts";
import { SERVER } from "../../src/warehouse/ducklake/place.ts";
import { openDucklakeForReading } from "../../src/warehouse/ducklake/reading.ts";
import { servedStage } from "../../src/warehouse/ducklake/stage.ts";
import { keepFact } from "../../src/warehouse/state/facts.ts";
import { streams } from "../../streams/index.ts";
import { whereIs } from "../outputs/export/exporting.ts";
import { everything, store } from "../rows/store.ts";
import { temporaryFolder } from "../source/archive/folder.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { startPooler } from "../support/pooler.ts";
import { bench } from "../support/run.ts";
import { compareWithTruth } from "../support/truth.ts";
import { type Warehouse, warehouses } from "../support/warehouse.ts";
import { scenario } from "../sync/scenario.ts";
import { plainly } from "./plain.ts";

const { make } = warehouses.find(({ name }) => name === "ducklake")!;
const holder = { pid: process.pid, host: "here", command: "sync", startedAt: "2026-03-15T00:00:00Z" };
const opener = (runId: string) => ({ runId, holder, clock: systemClock });
const schemas = { schema: "procurement", stateSchema: "_tributary" };

async function ask(connection: DuckDBConnection, question: string): Promise<readonly Record<string, unknown>[]> {
  return (await connection.runAndReadAll(question)).getRowObjectsJson();
}

const filesOf = async ({ destination }: Warehouse): Promise<number> =>
  (await readdir(String(destination["data_path"]), { recursive: true })).filter(name => name.endsWith(".parquet"))
    .length;

/** A database and a folder for a lake of which the test opens what it wants. */
async function place(): Promise<{
  readonly database: TestDatabase;
  readonly lake: Parameters<typeof openDucklake>[0];
}> {
  const database = await createDatabase(inject("postgresUrl"));
  onTestFinished(() => database.drop());
  const own = { catalog: database.url, catalogSchema: "ducklake", dataPath: await temporaryFolder() };
  return { database, lake: { ...schemas, ...own, extensions: inject("extensions"), ...opener("run-1") } };
}

async function opened(lake: Parameters<typeof openDucklake>[0]): Promise<Destination> {
  const destination = await openDucklake(lake);
  onTestFinished(() => destination.close());
  return destination;
}

const texts = async ({ db }: Pick<Destination, "db">) =>
  (await sql<{ text: string }>`select text from procurement.things order by id`.execute(db)).rows.map(row => row.text);

test("any DuckDB that attaches the lake sees each publish at once, and by which run it was made; a night without news writes no file", async () => {
  const { sync, warehouse, simulator, clock } = await scenario(make, { orders: 30, items: 300 });
  const first = await sync();
  expect(first.status).toBe("succeeded");
  const items = "select count(*)::integer as n, count(distinct item_id)::integer as ids from procurement.items";
  const looked = await plainly(warehouse.destination, connection => ask(connection, items), "read_only, ");
  expect(looked).toEqual([{ n: 300, ids: 300 }]);
  const files = await filesOf(warehouse);
  // Another day would bring other values of columns that change by themselves.
  clock.advance(60_000);
  expect((await sync({ names: ["items"] })).streams).toMatchObject([{ unchanged: 300 }]);
  expect(await filesOf(warehouse)).toBe(files);
  const [before] = (await plainly(warehouse.destination, connection =>
    ask(connection, "select max(snapshot_id)::integer as id from lake.snapshots()"),
  )) as { id: number }[];
  simulator.update("items", 7);
  clock.advance(86_400_000);
  const night = await sync({ names: ["items"] });
  expect(night.streams).toMatchObject([{ updated: 7 }]);
  await plainly(warehouse.destination, async connection => {
    const changed = "select count(*)::integer as n from procurement.items where _changed_at > _first_seen_at";
    expect(await ask(connection, changed)).toEqual([{ n: 7 }]);
    // As it was before.
    const then = changed.replace("procurement.items", `procurement.items at (version => ${before!.id})`);
    expect(await ask(connection, then)).toEqual([{ n: 0 }]);
    const publishes = `select distinct author, commit_message from lake.snapshots() where snapshot_id > ${before!.id}`;
    expect(await ask(connection, publishes)).toEqual([{ author: "tributary", commit_message: night.run_id }]);
    const [run] = await ask(connection, `select snapshot from _tributary.runs where run_id = '${night.run_id}'`);
    const said = changed.replace("procurement.items", `procurement.items at (version => ${run!["snapshot"]})`);
    expect(await ask(connection, said)).toEqual([{ n: 7 }]);
  });
});

test("two hosts load different companies into one lake at once, each row once", async () => {
  const { sync, warehouse, simulator, clock } = await scenario(make, { orders: 40, items: 400 });
  const sizes = { orders: 40, items: 400, invoices: 0, findings: 0, ingested: 0 };
  const theirs = await startSimulator({ sizes, now: clock.date, seed: 7 });
  onTestFinished(() => theirs.close());
  const config = { company: "beta", views: false };
  const unread = ["invoice*", "findings*", "ingested"];
  const other = bench({ simulator: theirs, warehouse, clock, config, unread });
  const reports = await Promise.all([sync(), other.sync()]);
  expect(reports.map(({ status }) => status)).toEqual(["succeeded", "succeeded"]);
  const rows = await warehouse.query(
    "select _company, count(*) as n, count(distinct po_number) as orders from procurement.purchase_orders group by 1 order by 1",
  );
  expect(rows).toEqual(["acme", "beta"].map(_company => ({ _company, n: 40, orders: 40 })));
  const wanted = ["items", "purchase_orders"].map(name => streams.find(each => each.name === name)!);
  const compared = await compareWithTruth(simulator, warehouse, wanted, clock.date().toISOString().slice(0, 10));
  expect(compared.differences).toEqual([]);
});

test("of two runs of one company the second is refused, and told who is at work", async () => {
  const { warehouse } = await scenario(make, { items: 1 });
  const where = whereIs(warehouse);
  await using one = await openDestination(where, opener("run-1"), 0);
  await one.lock("acme", ["items"], 0);
  await using two = await openDestination(where, opener("run-2"), 0);
  await expect(two.lock("acme", ["items"], 0)).rejects.toThrow(/items of acme is held by run run-1/);
  await two.lock("beta", ["items"], 0);
});

test("a publish whose session was lost stores nothing, and the next one goes on from what was", async () => {
  const { database, lake } = await place();
  const destination = await opened(lake);
  await destination.lock("acme", ["things"], 0);
  await store(destination, [{ id: "a", text: "one" }]);
  const lost = store(destination, [{ id: "a", text: "two" }], undefined, 16, async () => {
    await database.admin.query(
      "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted and pid <> pg_backend_pid() and database = (select oid from pg_database where datname = current_database())",
    );
  });
  await expect(lost).rejects.toThrow(DestinationError);
  await destination.close();
  const next = await opened({ ...lake, runId: "run-2" });
  await next.lock("acme", ["things"], 5_000);
  expect(await texts(next)).toEqual(["one"]);
  await store(next, [{ id: "a", text: "three" }], undefined, 17);
  expect(await texts(next)).toEqual(["three"]);
});

test.each(["statement", "commit", "rollback"] as const)(
  "a catalog session that ends during a transaction is reported as a lost connection: noticed by its %s",
  async where => {
    const { database, lake } = await place();
    const destination = await opened(lake);
    await store(destination, [{ id: "a", text: "one" }]);
    const told = destination.db.transaction().execute(async trx => {
      const add = sql`insert into procurement.things select * from procurement.things`;
      await add.execute(trx);
      await database.admin.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
      );
      if (where === "statement") await add.execute(trx);
      if (where === "rollback") throw new Error("for the test");
    });
    await expect(told).rejects.toThrow(DestinationError);
    await expect(told).rejects.toThrow(/was lost/);
  },
);

test("a reader sees one moment, whatever is published while it looks", async () => {
  const { lake } = await place();
  const destination = await opened(lake);
  await store(destination, [{ id: "a", text: "one" }]);
  const reading = await openDucklakeForReading(lake);
  expect(await texts(reading!)).toEqual(["one"]);
  await store(destination, [{ id: "a", text: "two" }], undefined, 16);
  expect(await texts(reading!)).toEqual(["one"]);
  await reading!.close();
  const later = await openDucklakeForReading(lake);
  expect(await texts(later!)).toEqual(["two"]);
  await later!.close();
});

test("what asks for the lake's tables does not wait for another host's publish", async () => {
  const { lake } = await place();
  const destination = await opened(lake);
  await store(destination, [{ id: "a", text: "one" }]);
  const other = await opened({ ...lake, runId: "run-2" });
  const seen = await destination.db.transaction().execute(async trx => {
    await sql`update procurement.things set text = 'two'`.execute(trx);
    return (await other.dialect.relationLines("procurement").execute(other.db)).rows.map(({ name }) => name);
  });
  expect(seen).toContain("things");
});

test("a pooler that accepts no settings at the start of a connection is a warning, and rows are stored", async () => {
  const { database, lake } = await place();
  const kind = { mode: "session", give: "newest", size: 30, refusesSettings: true } as const;
  const pooler = await startPooler(database.url, kind);
  onTestFinished(() => pooler.close());
  const destination = await opened({ ...lake, catalog: `${pooler.url}?sslmode=disable` });
  expect(destination.warnings.map(({ code }) => code)).toEqual(["lake.settings_refused"]);
  await store(destination, [{ id: "a", text: "one" }]);
  expect(await texts(destination)).toEqual(["one"]);
});

test("a lake outlives limits of the catalog's server on idle sessions, transactions and statements", async () => {
  const { database, lake } = await place();
  const name = new URL(database.url).pathname.slice(1);
  for (const limit of ["idle_in_transaction_session_timeout", "statement_timeout", "idle_session_timeout"])
    await database.admin.query(`alter database ${name} set ${limit} = '1s'`);
  await database.admin.query(`alter database ${name} set jit = on`);
  const destination = await opened(lake);
  await store(destination, [{ id: "a", text: "one" }]);
  await systemClock.sleep(2_500);
  await destination.db.transaction().execute(async trx => {
    await sql`update procurement.things set text = 'two'`.execute(trx);
    await systemClock.sleep(2_500);
    await sql`update procurement.things set text = 'three'`.execute(trx);
  });
  expect(await texts(destination)).toEqual(["three"]);
  const { rows } =
    await sql`select * from postgres_query(${SERVER}, ${"select current_setting('jit') as jit"})`.execute(
      destination.db,
    );
  expect(rows).toEqual([{ jit: "off" }]);
});

test("what many small publishes leave behind is put together, readers keep what they have, and nothing else changes", async () => {
  const { lake } = await place();
  const destination = await opened(lake);
  const rows = Array.from({ length: 2_000 }, (_, i) => ({ id: `id ${i}`, text: `0` }));
  await store(destination, rows);
  const changed = (day: number) =>
    rows.map((row, i) => ((31 * i + 17 * day) % 1_999 < 230 ? { ...row, text: String(day) } : row));
  let present = rows;
  for (let day = 16; day < 31; day++) {
    present = changed(day).map((row, i) => (row.text === "0" ? present[i]! : row));
    await store(destination, present, undefined, day);
  }
  const reading = await openDucklakeForReading(lake);
  const expected = (await texts(reading!)).join();
  const filesOfThings = async (): Promise<number> =>
    (
      await sql<{
        n: number;
      }>`select file_count as n from ducklake_table_info('lake') where table_name = 'things'`.execute(destination.db)
    ).rows[0]!.n;
  const before = await filesOfThings();
  expect(before).toBeGreaterThan(8);
  const condition = await reading!.condition();
  expect(condition).toMatchObject({ tables_due: 2, files_to_remove: 0, expired_at: null });
  expect(condition.files).toBeGreaterThanOrEqual(before);
  await destination.afterPublish({ main: { name: "things" }, children: [] } as never, 1);
  expect(await filesOfThings()).toBe(1);
  expect((await texts(destination)).join()).toBe(expected);
  expect((await texts(reading!)).join()).toBe(expected);
  await reading!.close();
  await destination.releaseToReaders();
  const later = await openDucklakeForReading(lake);
  const { tables_due, expired_at } = await later!.condition();
  expect([tables_due, expired_at]).toEqual([0, expect.stringMatching(/^2/)]);
  await later!.close();
  const ahead = "2999-01-01T00:00:00.000Z";
  await destination.db.transaction().execute(trx => keepFact(trx, EXPIRED, ahead));
  await destination.releaseToReaders();
  const last = await openDucklakeForReading(lake);
  expect((await last!.condition()).expired_at! < ahead).toBe(true);
  await last!.close();
});

test("few of a million staged rows are joined without a place for each of the million", async () => {
  const { lake } = await place();
  const { db } = await opened(lake);
  const columns = Array.from({ length: 40 }, (_, i) => `'text' as c${i}`).join(", ");
  const staged = sql.raw(`(select 300 * g as _seq, ${columns} from generate_series(1, 3000) g) s`);
  const stage = servedStage({ rows: () => staged } as never, db);
  await sql`create temporary table changed as select 300 * range as _seq from range(1, 3001)`.execute(db);
  const before = process.memoryUsage.rss();
  const { rows } = await sql`select c._seq, r.* exclude (_seq) from changed c
    join ${stage.rows(everything.main)} r on r._seq = c._seq`.execute(db);
  expect(rows).toHaveLength(3_000);
  expect(process.memoryUsage.rss() - before).toBeLessThan(200e6);
});

test("where the folder is empty that should hold the files, no run begins a second one there", async () => {
  const { lake } = await place();
  const destination = await opened(lake);
  await store(
    destination,
    Array.from({ length: 300 }, (_, i) => ({ id: `${i}`, text: "one" })),
  );
  await destination.close();
  await rename(lake.dataPath, `${lake.dataPath}.away`);
  onTestFinished(() => rm(`${lake.dataPath}.away`, { recursive: true, force: true }));
  for (const open of [openDucklake, openDucklakeForReading])
    await expect(open(lake)).rejects.toThrow(/files of the lake in .* nothing is there: see that the drive is mounted/);
  await rm(lake.dataPath, { recursive: true, force: true });
  await rename(`${lake.dataPath}.away`, lake.dataPath);
  const reading = await openDucklakeForReading(lake);
  expect(await texts(reading!)).toHaveLength(300);
  await reading!.close();
});

test("a column may be called what a lake's catalog calls its own", async () => {
  const { lake } = await place();
  const destination = await opened(lake);
  const { db, dialect } = destination;
  await store(destination, [{ id: "a", text: "one" }]);
  const columns = sql`row_id varchar, begin_snapshot bigint`;
  await dialect.reserved?.make(db, [{ schema: "procurement", name: "lineage", columns }]);
  await sql`insert into procurement.lineage values ('r', 1)`.execute(db);
  await sql`update procurement.lineage set begin_snapshot = 2`.execute(db);
  expect((await sql`select * from procurement.lineage`.execute(db)).rows).toEqual([{ row_id: "r", begin_snapshot: 2 }]);
});

test("roles that may read it can, and can change nothing", async () => {
  const { database, lake } = await place();
  const role = `reader_${process.pid}_${Date.now()}`;
  await database.admin.query(`create role ${role} login password 'reader'`);
  onTestFinished(async () => {
    const other = await createDatabase(inject("postgresUrl"));
    await other.admin.query(`drop role if exists ${role}`).catch(() => undefined);
    await other.drop();
  });
  const destination = await opened({ ...lake, grantSelectTo: [role] });
  await store(destination, [{ id: "a", text: "one" }]);
  const reading = await openDucklakeForReading({ ...lake, catalog: database.as(role, "reader") });
  expect(await texts(reading!)).toEqual(["one"]);
  await reading!.close();
  const writer = await opened({ ...lake, catalog: database.as(role, "reader"), runId: "run-2" });
  await expect(writer.lock("acme", ["things"], 0)).rejects.toThrow(/lacks rights in database/);
});

test("what cannot be opened says what to do: other files, no extensions, no server", async () => {
  const { lake } = await place();
  await (await openDucklake(lake)).close();
  const elsewhere = { ...lake, dataPath: await temporaryFolder() };
  await expect(openDucklake(elsewhere)).rejects.toThrow(ConfigError);
  await expect(openDucklake(elsewhere)).rejects.toThrow(/keeps its files elsewhere/);
  const bare = { ...lake, extensions: await temporaryFolder() };
  await expect(openDucklake(bare)).rejects.toThrow(/extension ducklake .* in destination.extensions, but there is no/);
  const nobody = { ...lake, catalog: "postgres://nobody:geheim@127.0.0.1:9/none" };
  await expect(openDucklakeForReading(nobody)).rejects.toThrow(
    /The connection to the PostgreSQL of destination.catalog/,
  );
  await expect(openDucklakeForReading(nobody)).rejects.not.toThrow(/geheim/);
  await expect(openDucklake(nobody)).rejects.toThrow(/nothing answers there .* destination\.catalog/);
});

test("check names a build of ducklake that these tests did not run with", async () => {
  const { lake } = await place();
  const { extensions } = await inspectLake(lake, []);
  expect(extensions[0]).toMatch(new RegExp(`^ducklake ${TRIED}(, from .*)?$`));
});
