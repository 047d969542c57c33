import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { readCatalog } from "../../../src/warehouse/ddl/database_catalog.ts";
import type { Destination } from "../../../src/warehouse/destination.ts";
import { keepFact } from "../../../src/warehouse/state/facts.ts";
import { checkIdentity, type Identity } from "../../../src/warehouse/state/identity.ts";
import {
  DATA_VERSION,
  ensureState,
  requireReadableState,
  requireUsableState,
} from "../../../src/warehouse/state/state_ddl.ts";
import { inDuckdb, inPostgres, warehouses } from "../warehouses.ts";

const ensure = ({ db, dialect, stateSchema }: Destination) => ensureState(db, dialect, stateSchema);

const acme: Identity = {
  schema: "procurement",
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

  test.each([
    ["a column less", ["drop column snapshot"], "snapshot", null, "bigint"],
    ["a column more", ["add column note date"], "note", "date", null],
    ["another type", ["drop column error", "add column error date"], "error", "date", "varchar"],
  ])("a warehouse whose state tables have %s is refused, and nothing is written", async (_what, changes, ...other) => {
    const destination = await make();
    const { db } = destination;
    const [name, type, wanted] = other;
    await ensure(destination);
    for (const change of changes) await sql`alter table _tributary.runs ${sql.raw(change)}`.execute(db);
    await sql`drop table _tributary.problems`.execute(db);
    const catalog = () => readCatalog(db, destination.dialect, ["_tributary"]);
    const before = await catalog();
    for (const refuses of [ensure, requireUsableState, requireReadableState])
      await expect(refuses(destination)).rejects.toMatchObject({
        exitCode: 2,
        code: "state.other_shape",
        message: expect.stringContaining("tributary reset"),
        fields: { state_schema: "_tributary", columns: [{ column: `runs.${name}`, type, wanted }] },
      });
    expect(await catalog()).toEqual(before);
  });

  test("tables that a script made, which noted no version, are those of this one", async () => {
    const destination = await make();
    const { db } = destination;
    await ensure(destination);
    await db.deleteFrom("warehouse").where("key", "=", "version").execute();
    await ensure(destination);
    expect(await db.selectFrom("warehouse").select("value").execute()).toEqual([{ value: DATA_VERSION }]);
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
    expect(await kept()).toEqual(rows);
    await keepFact(destination.db, "version", DATA_VERSION + 1);
    const refusal = { exitCode: 2, code: "state.newer_version", fields: { version: 2, known_version: 1 } };
    for (const refused of [check(acme), ensure(destination)]) await expect(refused).rejects.toMatchObject(refusal);
    await keepFact(destination.db, "version", DATA_VERSION);
    await check(withId("c-2", "beta"));
    expect((await kept()).map(row => row.key)).toEqual(["company:acme", "company:beta", "schema", "version"]);
  });
});

test.each(Array.from({ length: DATA_VERSION }, (_, nth) => nth + 1))(
  "the program goes on with the state tables of version %i",
  async version => {
    const destination = await inDuckdb();
    const made = await readFile(join(import.meta.dirname, `version_${version}.sql`), "utf8");
    for (const statement of made.trim().split("\n")) await sql.raw(statement).execute(destination.db);
    await sql`insert into _tributary.warehouse values ('version', ${JSON.stringify(version)})`.execute(destination.db);
    expect(await ensure(destination)).toHaveLength(DATA_VERSION - version);
    expect(await ensure(destination)).toEqual([]);
  },
);

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
