import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type Table, type TableSet, tablesOf } from "../../../src/catalog/columns.ts";
import { DestinationError } from "../../../src/errors.ts";
import { readCatalog } from "../../../src/warehouse/ddl/database_catalog.ts";
import type { Destination } from "../../../src/warehouse/destination.ts";
import { checkTables, commentTables, ensureTables } from "../../../src/warehouse/schema/tables.ts";
import { ensureState } from "../../../src/warehouse/state/state_ddl.ts";
import { warehouses } from "../warehouses.ts";

const field = (kind: string, more: object = {}) => z.unknown().meta({ kind, ...more });
const base = {
  item_id: field("id", { description: "The item's number" }),
  price: field("money", { currency: { in: "row", column: "currency" }, description: "What it costs" }),
  currency: field("text"),
  tags: z.array(z.object({ tag: field("text") })).meta({ table: "item_tags" }),
};

function items(more: Readonly<Record<string, z.ZodType>> = {}, key: readonly string[] = ["item_id"]): TableSet {
  return tablesOf({ name: "items", row: z.object({ ...base, ...more }), key, added: [], volatile: [] });
}

const comment = (table: Table) => `${table.name}: it's what it is.`;

async function ensure(destination: Destination, tables: TableSet, by: { program?: string; now?: string } = {}) {
  const { db, dialect, schema, stateSchema } = destination;
  await ensureState(db, dialect, stateSchema);
  return ensureTables(db, dialect, { schema, stateSchema, streams: [tables], comment, grantSelectTo: [], ...by });
}

async function rowsOf(destination: Destination, query: string): Promise<readonly Record<string, unknown>[]> {
  return (await sql<Record<string, unknown>>`${sql.raw(query)}`.execute(destination.db)).rows;
}

async function insertItem(destination: Destination, item: string): Promise<void> {
  const values = `values ('acme', '${item}'`;
  await rowsOf(destination, `insert into procurement.items (_company, item_id) ${values})`);
  await rowsOf(destination, `insert into _tributary.rows_items (_company, item_id, stamp) ${values}, 1)`);
}

const catalogOf = ({ db, dialect, schema, stateSchema }: Destination) =>
  readCatalog(db, dialect, [schema, stateSchema]);

describe.each(warehouses)("$name", ({ make }) => {
  test("tables, children, row state and comments are made once; the second time nothing is written", async () => {
    const destination = await make();
    const first = await ensure(destination, items());
    expect(first).toEqual({
      done: ["created schema procurement", "created table items", "created table item_tags"],
      missing: [],
      warnings: [],
    });
    const { tables } = await catalogOf(destination);
    const shape = (name: string) =>
      [...tables.get(name)!.columns.values()].map(column => `${column.name} ${column.type}`);
    expect(shape("procurement.items")).toEqual([
      "_company varchar",
      "item_id varchar",
      "price numeric(38,9)",
      "currency varchar",
      `_extra ${destination.dialect.columnType("json").toLowerCase()}`,
      `_problems ${destination.dialect.columnType("json").toLowerCase()}`,
      "_first_seen_at timestamptz",
      "_changed_at timestamptz",
      "_deleted_at timestamptz",
    ]);
    expect(shape("procurement.item_tags").slice(0, 5)).toEqual([
      "_company varchar",
      "item_id varchar",
      "_index bigint",
      "_line_id varchar",
      "tag varchar",
    ]);
    expect(shape("_tributary.rows_items")).toEqual([
      "_company varchar",
      "item_id varchar",
      "hash bigint",
      "vhash bigint",
      "stamp integer",
      "first_seen_at timestamptz",
      "missing_since timestamptz",
      "deleted_at timestamptz",
    ]);
    const found = tables.get("procurement.items")!;
    expect(found.primaryKey).toEqual(destination.dialect.isServer ? ["_company", "item_id"] : []);
    expect(found.comment).toBe("items: it's what it is.");
    expect(found.columns.get("price")!.comment).toBe("What it costs. Currency: currency of the same row. API: price");
    expect(found.columns.get("_deleted_at")!.comment).toMatch(/no longer lists it/);
    expect(await ensure(destination, items())).toEqual({ done: [], missing: [], warnings: [] });
  });

  test("what a run does to tables is kept with its time and the program's version; a run that does nothing adds nothing", async () => {
    const destination = await make();
    await ensure(destination, items(), { program: "1.0.0", now: "2026-03-01T02:00:00Z" });
    const more = { weight: field("quantity") };
    for (const now of ["2026-03-02T02:00:00Z", "2026-03-03T02:00:00Z"])
      await ensure(destination, items(more), { program: "1.1.0", now });
    const [first, second] = [new Date("2026-03-01T02:00:00Z"), new Date("2026-03-02T02:00:00Z")];
    const changes = await rowsOf(
      destination,
      "select stream, table_name, change, version, changed_at from _tributary.table_changes order by changed_at, table_name desc",
    );
    const added = "added column items.weight, filled from _extra where it held the field";
    expect(changes.map(Object.values)).toEqual([
      ["items", "items", "created table items", "1.0.0", first],
      ["items", "item_tags", "created table item_tags", "1.0.0", first],
      ["items", "items", added, "1.1.0", second],
    ]);
  });

  test("a new column takes its values out of _extra, where they are what the encoder would have read", async () => {
    const destination = await make();
    await ensure(destination, items());
    const extras = [
      '{"weight":"12.5","left":1}',
      '{"weight":0.000125}',
      '{"weight":"heavy"}',
      '{"weight":null,"day":"2024-02-29"}',
      '{"day":"2024-02-30"}',
      '{"at_time":"2024-02-29T23:59:59.5+02:00","n":"9007199254740993"}',
      '{"ok":true,"dim":{"w":3,"h":4},"n":1.5}',
      '{"dim":{"w":"5"}}',
      '{"name":"Ж","code":7,"raw":[1,{"a":null}]}',
      '{"ok":"true","code":1.5,"at_time":"2024-02-29"}',
    ];
    for (const [n, extra] of extras.entries())
      await sql`insert into procurement.items (_company, item_id, _extra) values ('acme', ${`i${n}`}, ${extra})`.execute(
        destination.db,
      );
    const more = {
      weight: field("quantity"),
      day: field("date"),
      at_time: field("moment"),
      n: field("count"),
      ok: field("flag"),
      dim: z.object({ w: field("money"), h: field("score") }),
      name: field("text"),
      code: field("id"),
      raw: field("json"),
    };
    const { done } = await ensure(destination, items(more));
    expect(done).toContain("added column items.weight, filled from _extra where it held the field");
    const rows = await rowsOf(
      destination,
      `select cast(weight as varchar) as weight, cast(day as varchar) as day, at_time, cast(n as varchar) as n, ok,
        cast(dim_w as varchar) as dim_w, dim_h, name, code, raw, _extra from procurement.items order by item_id`,
    );
    const filled = rows.map(row => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)));
    expect(filled).toEqual([
      { weight: "12.500000000", _extra: { left: 1 } },
      { weight: "0.000125000" },
      { _extra: { weight: "heavy" } },
      { day: "2024-02-29" },
      { _extra: { day: "2024-02-30" } },
      { at_time: new Date("2024-02-29T21:59:59.500Z"), n: "9007199254740993" },
      { ok: true, dim_w: "3.000000000", dim_h: 4, _extra: { n: 1.5 } },
      { dim_w: "5.000000000" },
      { name: "Ж", code: "7", raw: [1, { a: null }] },
      { code: "1.5", _extra: { ok: "true", at_time: "2024-02-29" } },
    ]);
    expect(await ensure(destination, items(more))).toEqual({ done: [], missing: [], warnings: [] });
  });

  test("a value that waits for a column of treated ones is left out: in SQL it can't become as they are", async () => {
    const destination = await make();
    const known = items({ secret: field("text") });
    const main = {
      ...known.main,
      columns: known.main.columns.map(column => ({ ...column, treatment: "hash" as const })),
    };
    await ensure(destination, known);
    await sql`insert into procurement.items (_company, item_id, secret, _extra) values ('acme', 'i', null, ${'{"secret":"raw"}'}),
      ('acme', 'j', '5f0c', null)`.execute(destination.db);
    await sql`insert into _tributary.warehouse (key, value)
      values ('unfilled:x', ${'{"table":"items","column":"secret"}'})`.execute(destination.db);
    await ensure(destination, { ...known, main });
    expect(await rowsOf(destination, "select secret, _extra from procurement.items order by item_id")).toEqual([
      { secret: null, _extra: null },
      { secret: "5f0c", _extra: null },
    ]);
  });

  test("no digit of another field is lost when one leaves _extra", async () => {
    const destination = await make();
    await ensure(destination, items());
    const extra = '{"big":12345678901234567.123456789,"weight":"1"}';
    await sql`insert into procurement.items (_company, item_id, _extra) values ('acme', 'i', ${extra})`.execute(
      destination.db,
    );
    await ensure(destination, items({ weight: field("quantity") }));
    const [row] = await rowsOf(destination, "select cast(_extra as varchar) as extra from procurement.items");
    expect(row!["extra"]).toContain("12345678901234567.123456789");
  });

  test("another type and another key are refused with every reason, and nothing is changed", async () => {
    const destination = await make();
    await ensure(destination, items());
    const before = await catalogOf(destination);
    const changed = items({ price: field("moment"), currency: field("flag"), fresh: field("text") });
    const error = await ensure(destination, changed).catch(failure => failure);
    expect(error).toBeInstanceOf(DestinationError);
    expect(error.message).toMatch(/items\.price is numeric\(38,9\), but timestamptz is wanted/);
    expect(error.message).toMatch(/items\.currency is varchar, but boolean is wanted/);
    expect(error.message).toMatch(/reset items --drop/);
    await expect(ensure(destination, items({}, ["item_id", "currency"]))).rejects.toThrow(/rows_items/);
    await expect(ensure(destination, items({ other_id: field("id") }, ["other_id"]))).rejects.toThrow(/of its key/);
    expect(await catalogOf(destination)).toEqual(before);
  });

  test("a table or a view that isn't ours is refused, and nothing is made", async () => {
    const destination = await make();
    await rowsOf(destination, "create schema procurement");
    await rowsOf(destination, "create table procurement.item_tags (tag varchar, _company varchar)");
    await rowsOf(destination, "create view procurement.items as select 1 as one");
    const { db, dialect, schema, stateSchema } = destination;
    const order = { schema, stateSchema, streams: [items()], comment, grantSelectTo: [] };
    const look = await checkTables(db, dialect, order).catch(failure => failure);
    expect(look).toBeInstanceOf(DestinationError);
    expect(look.exitCode).toBe(6);
    expect(look.message).toMatch(/procurement\.items is a view/);
    expect(look.message).toMatch(/procurement\.item_tags isn't tributary's: it has no _extra, _problems/);
    expect((await catalogOf(destination)).schemas.has("_tributary")).toBe(false);
    await expect(ensure(destination, items())).rejects.toThrow(look.message);
    const { tables } = await catalogOf(destination);
    expect(tables.has("_tributary.rows_items")).toBe(false);
    expect([...tables.get("procurement.item_tags")!.columns.keys()]).toEqual(["tag", "_company"]);
  });

  test("whatever else has a table's name is refused where the database can have one of the two only", async () => {
    const destination = await make();
    const { db, dialect, schema, stateSchema } = destination;
    const made = ["create type %s as enum ('x')", "create sequence %s", "create index item_tags on other (i)"];
    await rowsOf(destination, "create schema procurement");
    await rowsOf(destination, "create table procurement.other (i integer)");
    for (const [nth, name] of ["procurement.items", "_tributary.rows_items", ""].entries()) {
      if (name.startsWith("_")) await rowsOf(destination, "create schema _tributary");
      await rowsOf(destination, made[nth]!.replace("%s", name).replace("other", "procurement.other"));
    }
    const order = { schema, stateSchema, streams: [items()], comment, grantSelectTo: [] };
    const look = checkTables(db, dialect, order);
    const taken = (kind: string, name: string) => ({ code: "tables.name_taken", fields: { kind, name } });
    const faults = [
      taken("sequence", "_tributary.rows_items"),
      taken("index", "procurement.item_tags"),
      taken("type", "procurement.items"),
    ];
    if (dialect.isServer) await expect(look).rejects.toMatchObject({ exitCode: 6, fields: { faults } });
    else expect((await ensure(destination, items())).done).toContain("created table item_tags");
  });

  test("columns of the user's stay, unless no row could be added", async () => {
    const destination = await make();
    await ensure(destination, items());
    await rowsOf(destination, "alter table procurement.items add column checked boolean");
    expect((await ensure(destination, items())).done).toEqual([]);
  });

  test("a stream whose table is gone is reported, and its row state says so too", async () => {
    const destination = await make();
    await ensure(destination, items());
    const { db } = destination;
    await db
      .insertInto("stream_state")
      .values({ company: "acme", stream: "items", state: "{}", updated_at: "2025-01-01T00:00:00Z" })
      .execute();
    await rowsOf(destination, "insert into _tributary.rows_items (_company, item_id, stamp) values ('acme', 'i', 1)");
    await rowsOf(destination, "drop table procurement.items");
    expect((await ensure(destination, items())).missing).toEqual(["items"]);
    expect(await db.selectFrom("stream_state").selectAll().execute()).toEqual([]);
    expect(await rowsOf(destination, "select * from _tributary.rows_items")).toEqual([]);
  });

  test("a child table that is new, or gone, makes the next full scan compare every row", async () => {
    const destination = await make();
    const { children, main } = items();
    await ensure(destination, { main, children: [] });
    await insertItem(destination, "i");
    const { done, missing } = await ensure(destination, { main, children });
    expect(done).toEqual(["created table item_tags", "the next full scan of items fills item_tags"]);
    expect(missing).toEqual([]);
    expect(await rowsOf(destination, "select stamp from _tributary.rows_items")).toEqual([{ stamp: 2147483647 }]);
    await rowsOf(destination, "update _tributary.rows_items set stamp = 1");
    await rowsOf(destination, "drop table procurement.item_tags");
    expect((await ensure(destination, { main, children })).missing).toEqual(["items"]);
    expect(await rowsOf(destination, "select stamp from _tributary.rows_items")).toEqual([{ stamp: 2147483647 }]);
    expect((await ensure(destination, { main, children })).missing).toEqual([]);
  });

  test("a row state that is gone is rebuilt from the table", async () => {
    const destination = await make();
    await ensure(destination, items());
    await rowsOf(
      destination,
      "insert into procurement.items (_company, item_id, _first_seen_at, _deleted_at) values ('acme', 'i', '2024-01-01T00:00:00Z', null), ('acme', 'j', '2024-01-01T00:00:00Z', '2024-02-01T00:00:00Z')",
    );
    await rowsOf(destination, "drop table _tributary.rows_items");
    expect((await ensure(destination, items())).done).toEqual(["rebuilt the row state of items"]);
    const rows = await rowsOf(
      destination,
      "select item_id, stamp, first_seen_at, deleted_at from _tributary.rows_items order by item_id",
    );
    const first = new Date("2024-01-01T00:00:00Z");
    expect(rows).toEqual([
      { item_id: "i", stamp: 2147483647, first_seen_at: first, deleted_at: null },
      { item_id: "j", stamp: 2147483647, first_seen_at: first, deleted_at: new Date("2024-02-01T00:00:00Z") },
    ]);
  });

  test("the comment of a table that is off says so", async () => {
    const destination = await make();
    await ensure(destination, items());
    const { db, dialect, schema } = destination;
    const off = new Map([
      ["items", "not updated since 2025-01-01. It's off."],
      ["nothing", "x"],
    ]);
    await commentTables(db, dialect, schema, off);
    expect((await catalogOf(destination)).tables.get("procurement.items")!.comment).toBe(off.get("items"));
  });
});
