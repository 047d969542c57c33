import { randomBytes } from "node:crypto";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { expect, inject, onTestFinished, test } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import { schemasOf } from "../../../src/warehouse/connect/open.ts";
import type { Destination } from "../../../src/warehouse/destination.ts";
import { openDuckdb } from "../../../src/warehouse/duckdb/open.ts";
import { openPostgres } from "../../../src/warehouse/postgres/open.ts";
import { dbaScript, ddlScript } from "../../../src/warehouse/schema/ddl_script.ts";
import { ensureState } from "../../../src/warehouse/state/state_ddl.ts";
import { connected, createDatabase, type TestDatabase } from "../../support/database.ts";
import { ensure, figures, items, orderOf, rowsOf, viewsIn, written } from "./place.ts";

const run = {
  schema: "procurement",
  stateSchema: "_tributary",
  runId: "run-1",
  holder: { pid: process.pid, host: "here", command: "sync", startedAt: "2025-01-01T00:00:00Z" },
  clock: systemClock,
};
const models = written([
  "tags_by_item",
  `-- Tags of each item.
-- needs: items, item_tags
-- column name: Its name.
-- column tags: How many.
select i.name, count(t.tag) as tags
from procurement_analytics.items i
left join procurement_analytics.item_tags t on t._company = i._company and t.item_id = i.item_id
group by i.name`,
]);

async function filled(destination: Destination, grantSelectTo: readonly string[] = []) {
  const ensured = await ensure(destination, { on: [items(), figures], models, grantSelectTo });
  await rowsOf(destination, "insert into procurement.items (_company, item_id, name) values ('acme', 'a', 'A')");
  await rowsOf(
    destination,
    "insert into procurement.item_tags (_company, item_id, _index, tag) values ('acme', 'a', 0, 'x'), ('acme', 'a', 1, 'y')",
  );
  return ensured;
}

test("DuckDB: views answer under any name of the file, copied, attached under an alias, and beside tables of the same name", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tributary-views-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, "warehouse.duckdb");
  const destination = await openDuckdb({ ...run, path, readers: "snapshot", keepVersions: 2 });
  await filled(destination);
  await destination.releaseToReaders();
  await destination.close();
  const other = join(folder, "another name.duckdb");
  await copyFile(path, other);
  const ask = async (file: string, ...statements: readonly string[]) => {
    const instance = await DuckDBInstance.create(file, file === ":memory:" ? {} : { access_mode: "READ_ONLY" });
    const connection = await instance.connect();
    try {
      let answer: unknown[] = [];
      for (const statement of statements) answer = (await connection.runAndReadAll(statement)).getRowObjectsJson();
      return answer;
    } finally {
      connection.closeSync();
      instance.closeSync();
    }
  };
  const answer = [{ name: "A", tags: "2" }];
  const question = "select name, tags from procurement_analytics.tags_by_item";
  expect(await ask(path, question)).toEqual(answer);
  expect(await ask(other, question)).toEqual(answer);
  expect(
    await ask(
      ":memory:",
      "create schema procurement",
      "create table procurement.items as select 'decoy' as item_id",
      `attach '${other}' as other (read_only)`,
      question.replace("from ", "from other."),
    ),
  ).toEqual(answer);
  expect(
    await ask(
      ":memory:",
      `attach '${path}' as w (read_only)`,
      "use w.procurement_analytics",
      "select name, tags from tags_by_item",
    ),
  ).toEqual(answer);
  // What DuckDB prints of a view, others run again: exports, and tools that copy a database.
  const described = "select comment from duckdb_columns() where table_name = 'tags_by_item' and column_name = 'tags'";
  expect(await ask(other, described)).toEqual([{ comment: "How many." }]);
});

async function database(): Promise<TestDatabase & { role: (may: string) => Promise<string> }> {
  const made = await createDatabase(inject("postgresUrl"));
  const roles: string[] = [];
  onTestFinished(async () => {
    for (const role of roles) await made.admin.query(`drop owned by ${role} cascade; drop role ${role}`);
    await made.drop();
  });
  return {
    ...made,
    async role(may) {
      const role = `r_${randomBytes(6).toString("hex")}`;
      await made.admin.query(`create role ${role} login password 'pw'`);
      roles.push(role);
      if (may !== "") await made.admin.query(may.replace("ROLE", role));
      return role;
    },
  };
}

const nameOf = (url: string): string => new URL(url).pathname.slice(1);

test("PostgreSQL: who may read the views needs no right on the tables, and reads views that come later too", async () => {
  const place = await database();
  const reader = await place.role("");
  const only = await place.role("");
  const destination = await openPostgres({ ...run, url: place.url, grantSelectTo: [reader] });
  onTestFinished(() => destination.close());
  await filled(destination, [reader]);
  await place.admin.query(
    `grant usage on schema procurement_analytics to ${only}; grant select on all tables in schema procurement_analytics to ${only}`,
  );
  for (const role of [reader, only]) {
    const session = await connected(place.as(role, "pw"));
    const { rows } = await session.query("select name, tags from procurement_analytics.tags_by_item");
    expect(rows).toEqual([{ name: "A", tags: expect.anything() }]);
    if (role === only)
      await expect(session.query("select * from procurement.items")).rejects.toThrow(/permission denied/);
    await session.end();
  }
  const wish = { on: [items({ weight: "quantity" }), figures], models, grantSelectTo: [reader] };
  await ensure(destination, wish);
  expect(await ensure(destination, wish)).toMatchObject({ done: [] });
  const session = await connected(place.as(only, "pw"));
  await session.query("select weight from procurement_analytics.items");
  await session.end();
});

test("PostgreSQL: a role that may not make the views' schema is told what to ask for, and has its tables", async () => {
  const place = await database();
  const role = await place.role("");
  await place.admin.query(
    `create schema procurement authorization ${role}; create schema _tributary authorization ${role}; grant temporary on database ${nameOf(place.url)} to ${role}`,
  );
  const destination = await openPostgres({ ...run, url: place.as(role, "pw"), grantSelectTo: [] });
  onTestFinished(() => destination.close());
  const { done, warnings } = await ensure(destination, { models });
  expect(done).toContain("created table items");
  expect(warnings).toMatchObject([
    {
      code: "views.no_rights",
      fields: { schema: "procurement_analytics", reason: expect.stringContaining("CREATE SCHEMA") },
    },
  ]);
  const schemas = schemasOf(
    { type: "postgres", ...run, url: place.url, grantSelectTo: [] },
    { views: true, workers: false },
  );
  const script = dbaScript({ database: nameOf(place.url), role, schemas });
  await place.admin.query(script);
  expect(await ensure(destination, { models })).toEqual({
    done: [
      "created view procurement_analytics.items, view procurement_analytics.item_tags, view procurement_analytics.tags_by_item",
    ],
    missing: [],
    warnings: [],
  });
  await ensure(destination, { models, wanted: false });
  expect((await ensure(destination, { models })).warnings).toEqual([]);
});

test("PostgreSQL: the script of `ddl` makes what a run would make, and a run finds nothing left to do", async () => {
  const place = await database();
  const reader = await place.role("");
  const destination = await openPostgres({ ...run, url: place.url, grantSelectTo: [reader] });
  onTestFinished(() => destination.close());
  const wish = { on: [items(), figures], models, grantSelectTo: [reader] };
  await place.admin.query(ddlScript(destination.dialect, orderOf(run, wish)));
  await ensureState(destination.db, destination.dialect, run.stateSchema);
  expect([...(await viewsIn(destination)).keys()].sort()).toEqual([
    "figure_parts",
    "figure_parts_daily",
    "figures",
    "figures_daily",
    "item_tags",
    "items",
    "tags_by_item",
  ]);
  expect(await ensure(destination, wish)).toEqual({ done: [], missing: [], warnings: [] });
});
