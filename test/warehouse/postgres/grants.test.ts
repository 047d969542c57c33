import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import type { TableSet } from "../../../src/catalog/columns.ts";
import { openReading } from "../../../src/warehouse/connect/reading.ts";
import type { Destination } from "../../../src/warehouse/destination.ts";
import { checkTables, ensureTables, type TableOrder } from "../../../src/warehouse/schema/tables.ts";
import { connected, createDatabase, type TestDatabase } from "../../support/database.ts";
import { open, openReady, orders } from "./fixture.ts";

let database: TestDatabase;
let destination: Destination;
const role = `Reader ${randomBytes(4).toString("hex")}`;
beforeAll(async () => {
  database = await createDatabase(inject("postgresUrl"));
  await database.admin.query(`create role "${role}" login password 'reader'`);
  destination = await openReady(database.url);
});
afterAll(async () => {
  await destination.close();
  await database.admin.query(`drop owned by "${role}"; drop role "${role}"`);
  await database.drop();
});

const ordered = (streams: readonly TableSet[], grantSelectTo: readonly string[]): TableOrder => ({
  schema: "procurement",
  stateSchema: "_tributary",
  streams,
  comment: table => table.name,
  grantSelectTo,
});

const ensure = (streams: readonly TableSet[], grantSelectTo: readonly string[]) =>
  ensureTables(destination.db, destination.dialect, ordered(streams, grantSelectTo));

test("a plain role reads tables, later tables and the dashboards' state, and nothing else", async () => {
  await ensure([orders], []);
  const first = await ensure([orders], [role]);
  expect(first.done).toEqual([`let ${role} read procurement`]);
  expect((await ensure([orders], [role])).done).toEqual([]);
  const later = { main: { ...orders.main, name: "later" }, children: [] };
  await ensure([orders, later], [role]);
  expect((await ensure([orders, later], [role])).done).toEqual([]);
  // Which tells a warehouse by a table that the role may not read.
  const url = database.as(encodeURIComponent(role), "reader");
  const schemas = { schema: "procurement", stateSchema: "_tributary" };
  const reading = await openReading({ type: "postgres", url, ...schemas, grantSelectTo: [] });
  expect(reading).toBeDefined();
  await reading?.close();
  const reader = await connected(url);
  for (const table of ["procurement.orders", "procurement.order_parts", "procurement.later"])
    await reader.query(`select * from ${table}`);
  for (const table of ["streams", "runs", "stream_runs", "problems", "details", "history"])
    await reader.query(`select * from _tributary.${table}`);
  await destination.db.schema
    .withSchema("procurement")
    .createView("v")
    .as(sql`select 1 as one` as never)
    .execute();
  await reader.query("select * from procurement.v");
  await expect(reader.query("select * from _tributary.rows_orders")).rejects.toThrow(/permission denied/);
  await expect(reader.query("delete from procurement.orders")).rejects.toThrow(/permission denied/);
  await reader.end();
});

test("a plain role reads versions and asks for rows as they were", async () => {
  await ensureTables(destination.db, destination.dialect, {
    ...{ schema: "procurement", stateSchema: "_tributary", streams: [orders], grantSelectTo: [role] },
    versioned: new Set(["orders"]),
    comment: table => table.name,
  });
  const reader = await connected(database.as(encodeURIComponent(role), "reader"));
  await reader.query("select * from procurement.order_parts_versions");
  await reader.query("select * from procurement.orders_as_of(current_date)");
  await reader.end();
});

test("a role that isn't there stops the run before anything is written", async () => {
  const { db, dialect } = destination;
  await expect(checkTables(db, dialect, ordered([orders], ["nobody-here"]))).rejects.toMatchObject({
    code: "rights.unknown_role",
    fields: { role: "nobody-here" },
  });
  expect((await ensure([orders], ["PUBLIC"])).done).toEqual(["let PUBLIC read procurement"]);
  expect((await ensure([orders], ["public"])).done).toEqual([]);
});

test("an alteration lets readers through after five seconds and tries again until it can", async () => {
  const reader = await connected(database.url);
  await reader.query("begin; select * from procurement.orders");
  const wider = {
    main: {
      ...orders.main,
      columns: [...orders.main.columns, { ...orders.main.columns[1]!, name: "fresh", path: ["fresh"] }],
    },
    children: orders.children,
  };
  const altering = ensure([wider], []);
  const other = await connected(database.url);
  const waiting = `select from pg_locks where not granted
    and database = (select oid from pg_database where datname = current_database())`;
  await expect.poll(async () => (await other.query(waiting)).rowCount, { timeout: 60_000 }).toBe(1);
  await other.query("select * from procurement.orders");
  await reader.query("commit");
  expect((await altering).done).toEqual(["added column orders.fresh, filled from _extra where it held the field"]);
  await reader.end();
  await other.end();
});

test("settle leaves the tables' contents and the session as they were", async () => {
  await destination.lock("acme", ["orders"], 0);
  await destination.afterPublish(orders, 1_000);
  expect(await destination.releaseToReaders()).toEqual({ path: undefined, note: undefined });
  await expect(
    open(database.url, "run-2").then(other => other.lock("acme", ["orders"], 0).finally(() => other.close())),
  ).rejects.toThrow(/held by run run-1/);
});

test("schemas of somebody else, of which the role may make use but not let others, are told with what their owner has to run", async () => {
  const own = await createDatabase(inject("postgresUrl"));
  const [owner, loader] = ["owner", "loader"].map(name => `${name}_${randomBytes(4).toString("hex")}`);
  await own.admin.query(
    `create role ${owner}; create role ${loader} login password 'loader';
      create schema procurement authorization ${owner}; create schema _tributary authorization ${loader};
      grant usage, create on schema procurement to ${loader}`,
  );
  const { db, dialect, close } = await openReady(own.as(loader!, "loader"));
  const once = () =>
    ensureTables(db, dialect, {
      ...{ schema: "procurement", stateSchema: "_tributary", streams: [orders], grantSelectTo: [role] },
      comment: table => table.name,
    });
  const grant = `grant usage on schema "procurement" to "${role}"`;
  const warning = { code: "rights.closed_schema", fields: { role, schema: "procurement", owner, statement: grant } };
  expect((await once()).warnings).toMatchObject([warning]);
  expect(await once()).toMatchObject({ done: [], warnings: [warning] });
  await own.admin.query(`set role ${owner}; ${grant}; reset role`);
  expect(await once()).toMatchObject({ done: [], warnings: [] });
  const reader = await connected(own.as(encodeURIComponent(role), "reader"));
  await reader.query("select * from procurement.orders");
  await reader.end();
  await close();
  await own.drop();
  await database.admin.query(`drop role ${owner}, ${loader}`);
});

test("what opens a warehouse in PostgreSQL does not load DuckDB", () => {
  const program = `
    for (const name of ["open", "reading"]) await import(process.argv[1] + name + ".ts");
    const loaded = process.report.getReport().sharedObjects.filter(path => path.includes("duckdb"));
    process.stdout.write(JSON.stringify(loaded));`;
  const folder = new URL("../../../src/warehouse/connect/", import.meta.url).href;
  const words = ["--input-type=module", "--eval", program, folder];
  expect(execFileSync(process.execPath, words, { encoding: "utf8" })).toBe("[]");
});
