import { type RawBuilder, sql } from "kysely";
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from "vitest";
import type { Destination, Stage } from "../../../src/warehouse/destination.ts";
import { stageTables } from "../../../src/warehouse/postgres/stage.ts";
import { connected, createDatabase, type TestDatabase } from "../../support/database.ts";
import { startPostgres } from "../../support/server.ts";
import { csv, openReady, orders, plainBatch } from "./fixture.ts";

let database: TestDatabase;
let destination: Destination;
beforeAll(async () => {
  database = await createDatabase(inject("postgresUrl"));
  destination = await openReady(database.url);
});
afterAll(async () => {
  await destination.close();
  await database.drop();
});

test("a stage keeps rows and record for the next session, and begin empties it", async () => {
  const stage = await destination.stage("beta", orders);
  expect(stage.record).toBeUndefined();
  await stage.begin({ page: 0 });
  await stage.append(plainBatch([1, 2]), { page: 1 });
  await stage.append(plainBatch([3]), { page: 2 });
  const other = await openReady(database.url, "run-2");
  const again = await other.stage("beta", orders);
  expect(again.record).toEqual({ page: 2 });
  expect(again.staged).toBe(3);
  expect(await countKeys(other, again)).toBe(3);
  await again.begin({ page: 0 });
  expect(await countKeys(other, again)).toBe(0);
  await other.close();
});

test("what was staged for other columns is dropped, lest it be gone on with once they are the former again", async () => {
  const stage = await destination.stage("gamma", orders);
  await stage.begin({ page: 0 });
  await stage.append(plainBatch([1, 2]), { page: 1 });
  const wider = { ...orders.main, columns: [...orders.main.columns, { ...orders.main.columns[1]!, name: "fresh" }] };
  expect((await destination.stage("gamma", { ...orders, main: wider })).record).toBeUndefined();
  expect((await destination.stage("gamma", orders)).record).toBeUndefined();
});

test("only: rows and child rows are those that were asked for, keys are all; until the next batch", async () => {
  const stage = await destination.stage("picked", orders);
  const numbers = async (relation: RawBuilder<unknown>) => {
    const { rows } = await sql<{ _seq: string }>`select _seq from ${relation} s order by _seq`.execute(destination.db);
    return rows.map(row => Number(row._seq));
  };
  const seen = async () => [
    await numbers(stage.keys()),
    await numbers(stage.rows(orders.main)),
    await numbers(stage.rows(orders.children[0]!)),
  ];
  const few = Array.from({ length: 12 }, (_, i) => i + 1);
  await stage.begin({ page: 0 });
  await stage.append(plainBatch(few), { page: 1 });
  await stage.only!([2, 3]);
  expect(await seen()).toEqual([few, [2, 3], [2, 3]]);
  await stage.only!(few.slice(1));
  expect(await seen()).toEqual([few, few.slice(1), few.slice(1)]);
  await stage.append(plainBatch([13]), { page: 2 });
  expect(await seen()).toEqual([
    [...few, 13],
    [...few, 13],
    [...few, 13],
  ]);
  await stage.only!([13]);
  await stage.begin({ page: 0 });
  expect(await seen()).toEqual([[], [], []]);
  await stage.append(plainBatch([1, 2]), { page: 1 });
  await stage.only!([1]);
  await stage.drop();
  const left = await sql`select 1 from pg_class where relname like '%\\_picked'`.execute(destination.db);
  expect(left.rows).toEqual([]);
});

test("only: of a batch that is refused afterwards no row is missing", async () => {
  const stage = await destination.stage("refused", orders);
  await stage.begin({ page: 0 });
  await stage.append(plainBatch([1, 2]), { page: 1 });
  await stage.only!([1]);
  const bad = { ...plainBatch([3]), children: [csv([[3, 0, "part", "not money", null, null, null]])] };
  await expect(stage.append(bad, { page: 2 })).rejects.toThrow(/not money/);
  const all = await sql`select 1 from ${stage.rows(orders.main)} r`.execute(destination.db);
  expect(all.rows.length).toBe(2);
  await stage.only!([2]);
  const one = await sql`select order_no from ${stage.rows(orders.main)} r`.execute(destination.db);
  expect(one.rows).toEqual([{ order_no: "o2" }]);
  await stage.drop();
});

test("a batch the database refuses leaves rows and record as they were", async () => {
  const stage = await destination.stage("gamma", orders);
  await stage.begin({ page: 0 });
  await stage.append(plainBatch([1]), { page: 1 });
  const bad = { ...plainBatch([2]), children: [csv([[2, 0, "part", "not money", null, null, null]])] };
  await expect(stage.append(bad, { page: 2 })).rejects.toThrow(/not money/);
  expect(stage.record).toEqual({ page: 1 });
  expect(await countKeys(destination, stage)).toBe(1);
  expect((await destination.stage("gamma", orders)).record).toEqual({ page: 1 });
});

test.each(["53100", "57P01"])(
  "an error (%s) that comes while a long batch is on its way is the batch's, and no stray one ends the process",
  async code => {
    const stray: unknown[] = [];
    const note = (error: unknown) => void stray.push(error);
    process.on("uncaughtException", note);
    onTestFinished(() => void process.off("uncaughtException", note));
    const own = await openReady(database.url, `run-${code}`);
    onTestFinished(() => own.close());
    const stage = await own.stage(`long ${code}`, orders);
    await stage.begin({ page: 0 });
    const { name } = stageTables(`long ${code}`, orders).keys;
    const refusing =
      code === "57P01"
        ? "perform pg_terminate_backend(pg_backend_pid())"
        : `raise 'no space' using errcode = '${code}'`;
    await database.admin.query(
      `create function _tributary.refusing() returns trigger language plpgsql as $$ begin ${refusing}; return new; end $$;
        create trigger refusing before insert on _tributary.${name} for each row execute function _tributary.refusing()`,
    );
    const { keys, ...rest } = plainBatch([1]);
    // More than the sockets hold.
    const long = { ...rest, keys: { ...keys, bytes: Buffer.alloc(64 << 20, keys.bytes) } };
    await expect(stage.append(long, { page: 1 })).rejects.toMatchObject({ exitCode: 6, passing: code === "57P01" });
    await database.admin.query("drop function _tributary.refusing cascade");
    await new Promise(resolve => setTimeout(resolve, 300));
    expect(stray).toEqual([]);
    if (code === "57P01") return;
    await stage.append(plainBatch([1]), { page: 1 });
    expect(await countKeys(own, stage)).toBe(1);
    await stage.drop();
  },
);

test("a stage of other columns than now wanted is void, and begin makes it anew", async () => {
  const stage = await destination.stage("delta", orders);
  await stage.begin({ page: 0 });
  await stage.append(plainBatch([1]), { page: 1 });
  const main = { ...orders.main, columns: orders.main.columns.filter(column => column.name !== "raw") };
  const before = await stageTableNames();
  const changed = await destination.stage("delta", { main, children: [] });
  expect(changed.record).toBeUndefined();
  await changed.begin({ page: 0 });
  const { rows } = await database.admin.query(
    "select column_name as name from information_schema.columns where table_name = $1 order by ordinal_position",
    [before.find(name => name.endsWith("_r"))],
  );
  expect(rows.map(row => row.name)).not.toContain("raw");
  expect(before.filter(name => name.endsWith("_c0"))).toHaveLength(1);
  expect((await stageTableNames()).filter(name => name.endsWith("_c0"))).toEqual([]);
  await changed.drop();
  expect(await stageTableNames()).toEqual([]);

  async function stageTableNames(): Promise<string[]> {
    const prefix = `${stageTables("delta", orders).keys.name.slice(0, -1)}%`;
    const found = await database.admin.query("select relname from pg_class where relkind = 'r' and relname like $1", [
      prefix,
    ]);
    return found.rows.map(row => row.relname);
  }
});

test("two companies and two streams have stages of their own", async () => {
  const items = { main: { ...orders.main, name: "items" }, children: orders.children };
  const stages = [
    await destination.stage("one", orders),
    await destination.stage("two", orders),
    await destination.stage("one", items),
  ];
  for (const [n, stage] of stages.entries()) await stage.begin({ n });
  await stages[0]!.append(plainBatch([1, 2]), { n: 0 });
  expect(await Promise.all(stages.map(stage => countKeys(destination, stage)))).toEqual([2, 0, 0]);
  for (const stage of stages) await stage.drop();
  expect((await destination.stage("one", orders)).record).toBeUndefined();
});

test("after kill -9 of the server a stage holds its record and exactly its rows, or neither", async () => {
  const server = await startPostgres();
  try {
    const own = await createDatabase(server.url);
    const writer = await openReady(own.url);
    const stage = await writer.stage("acme", orders);
    await stage.begin({ upTo: 0 });
    let failure: unknown;
    const writing = (async () => {
      for (let n = 0; ; n += 500)
        await stage.append(plainBatch(Array.from({ length: 500 }, (_, i) => n + i)), { upTo: n + 500 });
    })().catch(error => {
      failure = error;
    });
    while (stage.staged < 3000) await new Promise(resolve => setImmediate(resolve));
    await server.kill9();
    await writing;
    expect(failure).toMatchObject({ name: "DestinationError", exitCode: 6 });
    await writer.close();
    await server.restart();
    const reader = await openReady(own.url, "run-2");
    const left = await reader.stage("acme", orders);
    expect(left.record).toBeUndefined();
    expect(await countKeys(reader, left)).toBe(0);
    await left.begin({ upTo: 0 });
    await left.append(plainBatch([1]), { upTo: 1 });
    expect(await countKeys(reader, left)).toBe(1);
    await reader.close();
  } finally {
    await server.close();
  }
});

async function countKeys(at: Destination, stage: Stage): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*) as n from ${stage.keys()} k`.execute(at.db);
  return rows[0]!.n;
}

test("a dump that reads the stage's tables is not waited for, and nothing of a dropped stage comes back", async () => {
  const dump = await connected(database.url);
  onTestFinished(() => dump.end());
  const staged = async () =>
    (
      await dump.query(
        "select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = '_tributary' and c.relkind = 'r' and c.relpersistence = 'u' and c.relname <> 'stages'",
      )
    ).rows.map(row => row.name);
  const stage = await destination.stage("dumped", orders);
  const seen = async () =>
    (await sql<{ _seq: number }>`select _seq from ${stage.rows(orders.main)} r order by _seq`.execute(destination.db))
      .rows;
  const before = await staged();
  await stage.begin({ scan: 1 });
  await stage.append(plainBatch([1, 2]), { scan: 1 });
  const own = (await staged()).filter(name => !before.includes(name));
  expect(own.length).toBeGreaterThan(2);
  await dump.query(`begin; lock table ${own.join(", ")} in access share mode`);
  await stage.begin({ scan: 2 });
  await stage.append(plainBatch([3]), { scan: 2 });
  expect(await seen()).toEqual([{ _seq: 3 }]);
  await stage.drop();
  const again = await destination.stage("dumped", orders);
  expect([again.record, again.staged, await seen()]).toEqual([undefined, 0, []]);
  await again.begin({ scan: 3 });
  await again.append(plainBatch([4]), { scan: 3 });
  expect(await seen()).toEqual([{ _seq: 4 }]);
  await dump.query("commit");
  await again.drop();
  expect(await staged()).toEqual(before);
});
