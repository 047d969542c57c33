import { sql } from "kysely";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { z } from "zod";
import { tablesOf } from "../../../src/catalog/columns.ts";
import { DestinationError } from "../../../src/errors.ts";
import type { Destination } from "../../../src/warehouse/destination.ts";
import { dbaScript, ddlScript } from "../../../src/warehouse/schema/ddl_script.ts";
import { dropTables } from "../../../src/warehouse/schema/removal.ts";
import { ensureTables } from "../../../src/warehouse/schema/tables.ts";
import { ensureState } from "../../../src/warehouse/state/state_ddl.ts";
import { createDatabase } from "../../support/database.ts";
import { open as openPostgresOf } from "../postgres/fixture.ts";
import { inPostgres, warehouses } from "../warehouses.ts";

const field = (kind: string) => z.unknown().meta({ kind });
const items = tablesOf({
  name: "items",
  row: z.object({ item_id: field("id"), tags: z.array(z.object({ tag: field("text") })).meta({ table: "item_tags" }) }),
  key: ["item_id"],
  added: [],
  volatile: [],
});
const order = {
  schema: "procurement",
  stateSchema: "_tributary",
  streams: [items],
  comment: () => "It's about items; really.",
  grantSelectTo: [],
};

async function filled(destination: Destination): Promise<void> {
  const { db, dialect } = destination;
  await ensureState(db, dialect, "_tributary");
  await ensureTables(db, dialect, order);
  for (const company of ["acme", "beta"]) {
    await sql`insert into procurement.items (_company, item_id) values (${company}, 'i')`.execute(db);
    await sql`insert into procurement.item_tags (_company, item_id, _index) values (${company}, 'i', 0)`.execute(db);
    await sql`insert into _tributary.rows_items (_company, item_id) values (${company}, 'i')`.execute(db);
  }
}

const drop = ({ db, dialect, schema, stateSchema }: Destination, company: string) =>
  dropTables(db, dialect, { schema, stateSchema, company, tables: items });

const companies = async ({ db }: Destination) =>
  (await sql<{ c: string }>`select _company as c from procurement.items order by 1`.execute(db)).rows.map(row => row.c);

describe.each(warehouses)("$name", ({ make }) => {
  test("a company's rows go, and with the last company the tables", async () => {
    const destination = await make();
    await filled(destination);
    expect(await drop(destination, "acme")).toEqual([
      "removed 1 row of acme from item_tags",
      "removed 1 row of acme from items",
    ]);
    expect(await companies(destination)).toEqual(["beta"]);
    expect(await drop(destination, "beta")).toEqual([
      "removed 1 row of beta from item_tags",
      "removed 1 row of beta from items",
      "dropped table item_tags",
      "dropped table items",
    ]);
    await expect(companies(destination)).rejects.toThrow(/items/);
    expect(await drop(destination, "beta")).toEqual([]);
    const again = await ensureTables(destination.db, destination.dialect, order);
    expect(again).toEqual({ done: ["created table items", "created table item_tags"], missing: [], warnings: [] });
  });

  test("a view that needs a table is named, and everything stays", async () => {
    const destination = await make();
    await filled(destination);
    await sql`create view procurement.all_tags as select tag from procurement.item_tags`.execute(destination.db);
    await drop(destination, "beta");
    const error = await drop(destination, "acme").catch(failure => failure);
    expect(error).toBeInstanceOf(DestinationError);
    expect(error.message).toMatch(/^procurement\.all_tags read items or its child tables/);
    expect(await companies(destination)).toEqual(["acme"]);
  });

  test("the script makes what a run would make", async () => {
    const destination = await make();
    const { db, dialect } = destination;
    const script = ddlScript(dialect, order);
    for (const statement of script.replace(/^--.*$/gm, "").split(/;\n/))
      if (!/^\s*(begin|commit|)\s*$/.test(statement)) await sql`${sql.raw(statement)}`.execute(db);
    await ensureState(db, dialect, "_tributary");
    expect(await ensureTables(db, dialect, order)).toEqual({ done: [], missing: [], warnings: [] });
  });
});

test("an administrator's script holds the schemas and nothing else", () => {
  expect(dbaScript({ database: "d", role: "loader", schemas: ["procurement", "_tributary"] })).toBe(
    [
      'grant connect, temporary on database "d" to "loader";',
      'create schema if not exists "procurement" authorization "loader";',
      'alter schema "procurement" owner to "loader";',
      'create schema if not exists "_tributary" authorization "loader";',
      'alter schema "_tributary" owner to "loader";',
      "",
    ].join("\n"),
  );
  expect(dbaScript({ database: "", role: "", schemas: [] })).toMatch(/^-- A file: nothing/);
});

test("PostgreSQL: what else needs a table is named too", async () => {
  const destination = await inPostgres();
  await filled(destination);
  await drop(destination, "beta");
  await sql`create table procurement.checked (_company text, item_id text, foreign key (_company, item_id) references procurement.items)`.execute(
    destination.db,
  );
  await expect(drop(destination, "acme")).rejects.toThrow(/Something of yours needs procurement\.items.*checked/s);
  expect(await companies(destination)).toEqual(["acme"]);
});

test("PostgreSQL: grants that somebody gave are named as statements that give them again", async () => {
  const destination = await inPostgres();
  const { db } = destination;
  await filled(destination);
  const made = () => ensureTables(db, destination.dialect, { ...order, versioned: new Set(["items"]) });
  await made();
  const statements = [
    "GRANT EXECUTE ON FUNCTION procurement.items_as_of(timestamp with time zone) TO pg_monitor;",
    "GRANT INSERT, SELECT ON procurement.item_tags TO PUBLIC;",
    "GRANT SELECT (item_id), UPDATE (item_id) ON procurement.items TO pg_monitor;",
  ];
  const give = async () => {
    for (const statement of statements) await sql`${sql.raw(statement)}`.execute(db);
  };
  await give();
  await drop(destination, "beta");
  expect((await drop(destination, "acme")).at(-1)).toContain(statements.join(" "));
  await made();
  await give();
});

test("PostgreSQL: rows that another company's run is about to commit keep the tables", async () => {
  const database = await createDatabase(inject("postgresUrl"));
  const destination = await openPostgresOf(database.url);
  onTestFinished(async () => {
    await destination.close();
    await database.drop();
  });
  await filled(destination);
  await drop(destination, "beta");
  const { admin } = database;
  await admin.query("begin");
  for (const table of ["procurement.items", "_tributary.rows_items"])
    await admin.query(`insert into ${table} (_company, item_id) values ('beta', 'j')`);
  const dropping = drop(destination, "acme");
  const waiting =
    "select 1 from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())";
  while ((await admin.query(waiting)).rows.length === 0) await new Promise(resolve => setTimeout(resolve, 5));
  await admin.query("commit");
  expect(await dropping).toEqual(["removed 1 row of acme from item_tags", "removed 1 row of acme from items"]);
  expect(await companies(destination)).toEqual(["beta"]);
});
