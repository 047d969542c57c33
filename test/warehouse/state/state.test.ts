import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { ConfigError } from "../../../src/errors.ts";
import { readCatalog } from "../../../src/warehouse/ddl/database_catalog.ts";
import type { Destination } from "../../../src/warehouse/destination.ts";
import { checkIdentity, type Identity } from "../../../src/warehouse/state/identity.ts";
import { DATA_VERSION, ensureState, type Migration } from "../../../src/warehouse/state/state_ddl.ts";
import { inPostgres, warehouses } from "../warehouses.ts";

const ensure = ({ db, dialect, stateSchema }: Destination, steps?: readonly Migration[]) =>
  ensureState(db, dialect, stateSchema, steps);

const addColumn: Migration = async (trx, _dialect, schema) => {
  await sql`alter table ${sql.id(schema, "runs")} add column note varchar`.execute(trx);
};
const failing: Migration = async trx => {
  await sql`create table _tributary.half (a integer)`.execute(trx);
  throw new Error("no");
};

const acme: Identity = {
  schema: "procurement",
  version: DATA_VERSION,
  companies: [{ name: "acme", baseUrl: "https://one.example.com" }],
};

describe.each(warehouses)("$name", ({ name, make }) => {
  test("the state schema is made once", async () => {
    const destination = await make();
    expect(await ensure(destination)).toEqual(["created the state schema _tributary"]);
    expect(await ensure(destination)).toEqual([]);
    const { tables } = await readCatalog(destination.db, destination.dialect, ["_tributary"]);
    expect(tables.get("_tributary.details")!.primaryKey).toEqual(
      name === "postgres" ? ["company", "stream", "parent_key"] : [],
    );
    expect([...tables.get("_tributary.streams")!.columns.values()].map(column => column.type)).toContain("boolean");
  });

  test("a migration runs once, and one that fails leaves the version as it was", async () => {
    const destination = await make();
    await ensure(destination, []);
    await expect(ensure(destination, [failing])).rejects.toThrow("no");
    const catalog = () => readCatalog(destination.db, destination.dialect, ["_tributary"]);
    expect((await catalog()).tables.has("_tributary.half")).toBe(false);
    expect(await ensure(destination, [addColumn])).toEqual(["upgraded the warehouse from data version 1 to 2"]);
    expect((await catalog()).tables.get("_tributary.runs")!.columns.has("note")).toBe(true);
    expect(await ensure(destination, [addColumn])).toEqual([]);
    const older = await ensure(destination, []).catch(failure => failure);
    expect(older).toBeInstanceOf(ConfigError);
    expect(older.message).toMatch(/newer tributary \(data version 2; this one knows 1\)/);
    expect(await ensure(destination, [addColumn])).toEqual([]);
  });

  test("a warehouse of version 1 keeps its rejects, each row once, which can say their key, field and context from then on", async () => {
    const destination = await make();
    const { db } = destination;
    await ensure(destination, []);
    await sql`drop table _tributary.added_columns`.execute(db);
    const young = ["digest", "first_seen_at", "times", "rows", "scan", "parent_key", "resolved_at"];
    for (const column of ["key", "field", "context", ...young])
      await sql`alter table _tributary.rejects drop column ${sql.id(column)}`.execute(db);
    const old = { run_id: "1", company: "acme", stream: "items", reason: "expected an object", raw: "[1.50]" };
    // The same row was kept each night.
    for (const [seen_at, raw] of [
      ["2025-01-01T00:00:00Z", old.raw],
      ["2025-01-03T00:00:00Z", old.raw],
      ["2025-01-02T00:00:00Z", "[2]"],
    ])
      await db
        .insertInto("rejects")
        .values({ ...old, seen_at, raw } as never)
        .execute();
    expect(await ensure(destination)).toEqual([
      "upgraded the warehouse from data version 1 to 2",
      "upgraded the warehouse from data version 2 to 3",
      "upgraded the warehouse from data version 3 to 4",
      "upgraded the warehouse from data version 4 to 5",
      "upgraded the warehouse from data version 5 to 6",
      "upgraded the warehouse from data version 6 to 7",
      "upgraded the warehouse from data version 7 to 8",
      "upgraded the warehouse from data version 8 to 9",
    ]);
    const rejects = await db.selectFrom("rejects").selectAll().orderBy("times", "desc").execute();
    const open = { key: null, field: null, context: null, resolved_at: null, rows: 1 };
    expect(rejects).toMatchObject([
      { ...old, ...open, raw: [1.5], times: 2, first_seen_at: new Date("2025-01-01"), seen_at: new Date("2025-01-03") },
      { ...old, ...open, raw: [2], times: 1, first_seen_at: new Date("2025-01-02") },
    ]);
    expect(await db.selectFrom("added_columns").selectAll().execute()).toEqual([]);
    expect(await ensure(destination)).toEqual([]);
    await expect(ensure(destination, [])).rejects.toThrow(/newer tributary \(data version 9; this one knows 1\)/);
  });

  test("tables that a script made before, which noted no version, are upgraded", async () => {
    const destination = await make();
    const { db } = destination;
    await ensure(destination, []);
    await sql`alter table _tributary.rejects drop column key`.execute(db);
    await db.deleteFrom("warehouse").where("key", "=", "version").execute();
    await ensure(destination);
    expect(await db.selectFrom("rejects").select("key").execute()).toEqual([]);
    expect(await ensure(destination)).toEqual([]);
  });

  test("a state table that is missing is made again", async () => {
    const destination = await make();
    await ensure(destination);
    await sql`drop table _tributary.problems`.execute(destination.db);
    await ensure(destination);
    expect(await destination.db.selectFrom("problems").selectAll().execute()).toEqual([]);
  });

  test("a warehouse of before says what its tables and columns are after the next run, which tells nothing of it", async () => {
    const destination = await make();
    const { db, dialect } = destination;
    await ensure(destination);
    const said = async () => {
      const table = (await readCatalog(db, dialect, ["_tributary"])).tables.get("_tributary.stream_runs")!;
      return [table.comment, table.columns.get("carried")!.comment];
    };
    const before = await said();
    expect(before).toEqual([
      expect.stringMatching(/^What each run did/),
      expect.stringMatching(/^Rows that an earlier run/),
    ]);
    await sql`comment on table _tributary.stream_runs is null`.execute(db);
    await sql`comment on column _tributary.stream_runs.carried is 'something else'`.execute(db);
    expect(await ensure(destination)).toEqual([]);
    expect(await said()).toEqual(before);
  });

  test("a company, its address and its id are recorded and held to", async () => {
    const destination = await make();
    await ensure(destination);
    const check = (identity: Identity) => checkIdentity(destination.db, destination.dialect, identity);
    const withId = (id: string, company = "acme") => ({
      ...acme,
      companies: [{ name: company, baseUrl: "https://one.example.com", companyId: id }],
    });
    await check(acme);
    await check(withId("c-1"));
    const kept = () => destination.db.selectFrom("warehouse").selectAll().orderBy("key").execute();
    const rows = [
      { key: "company:acme", value: { base_url: "https://one.example.com", company_id: "c-1" } },
      { key: "schema", value: "procurement" },
      { key: "version", value: DATA_VERSION },
    ];
    expect(await kept()).toEqual(rows);
    await check(acme);
    await expect(check({ ...acme, schema: "other" })).rejects.toThrow(/keeps its tables in schema procurement/);
    await expect(check({ ...acme, companies: [{ name: "acme", baseUrl: "https://two.example.com" }] })).rejects.toThrow(
      /from https:\/\/one.example.com, but the configuration reads it from https:\/\/two/,
    );
    await expect(check(withId("c-2"))).rejects.toThrow(/the key belongs to c-2/);
    await expect(check(withId("c-1", "renamed"))).rejects.toThrow(/keeps as acme already/);
    await expect(check({ ...acme, version: 0 })).rejects.toThrow(ConfigError);
    expect(await kept()).toEqual(rows);
    await check(withId("c-2", "beta"));
    expect((await kept()).map(row => row.key)).toEqual(["company:acme", "company:beta", "schema", "version"]);
  });
});

test("long texts don't stand in the way of what is unique by them", async () => {
  const destination = await inPostgres();
  await ensure(destination);
  const values = {
    company: "acme",
    stream: "items",
    table_name: "items",
    column_name: "x".repeat(9000),
    reason: "y",
    rows: 1,
    share: 0.1,
    example: null,
    first_seen_at: "2025-01-01T00:00:00Z",
    last_seen_at: "2025-01-01T00:00:00Z",
  };
  await destination.db.insertInto("problems").values(values).execute();
  await expect(destination.db.insertInto("problems").values(values).execute()).rejects.toThrow(/unique/);
});
