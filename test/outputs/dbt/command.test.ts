import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, onTestFinished, test } from "vitest";
import { json, secretPassword, simulated, workplace } from "../../cli/workplace.ts";
import { createDatabase } from "../../support/database.ts";

const nowhere = { url: "http://127.0.0.1:1" };

/** All that was written, as one text. */
function everything(folder: string): string {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile());
  return entries.map(entry => readFileSync(join(entry.parentPath, entry.name), "utf8")).join("\n");
}

test("dbt writes a package without a warehouse, then only what the configuration changes, and leaves other files alone", async () => {
  const place = workplace(nowhere);
  const made = await place.run(["dbt", "--out", "analytics/dbt"]);
  expect([made.code, made.stderr]).toEqual([0, ""]);
  expect(made.stdout).toMatch(/^A dbt package with 21 tables is in analytics\/dbt: \d+ files written\. /);
  expect(made.stdout).toContain(
    "\n  cd analytics/dbt\n  python3 -m venv .venv && . .venv/bin/activate\n  python -m pip install ",
  );
  expect(made.stdout).toMatch(/dbt-duckdb\n {2}dbt build\n/);
  const folder = join(place.folder, "analytics/dbt");
  expect(readFileSync(join(folder, "dbt_project.yml"), "utf8")).toContain("indirect_selection: cautious");
  expect((await place.run(["dbt", "--out", "it's mine"])).stdout).toContain("\n  cd 'it'\\''s mine'\n");
  expect(readdirSync(join(folder, "models/staging"))).toContain("stg_invoices.sql");

  const again = json<Record<string, string[]>>(await place.run(["dbt", "--out", "analytics/dbt", "--json"]));
  expect([again["folder"], again["tables"], again["written"], again["removed"]]).toEqual([folder, 21, [], []]);
  expect(again["unchanged"]!.length).toBeGreaterThan(25);

  writeFileSync(join(folder, "models/mine.sql"), "select 1");
  const fewer = readFileSync(join(place.folder, "config.yaml"), "utf8");
  writeFileSync(join(place.folder, "config.yaml"), `${fewer}streams: { exclude: [items] }\n`);
  const { removed } = json<Record<string, string[]>>(await place.run(["dbt", "--out", "analytics/dbt", "--json"]));
  expect(removed).toEqual(["models/staging/stg_items.sql"]);
  expect(readFileSync(join(folder, "models/mine.sql"), "utf8")).toBe("select 1");
});

test("dbt refuses to overwrite what others wrote", async () => {
  const place = workplace(nowhere);
  mkdirSync(join(place.folder, "dbt"));
  writeFileSync(join(place.folder, "dbt/dbt_project.yml"), "name: mine\n");
  const refused = await place.run(["dbt", "--out", "dbt"]);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("  dbt_project.yml (not written by tributary)\n");
  expect(readdirSync(join(place.folder, "dbt"))).toEqual(["dbt_project.yml"]);
});

test("no secret is in a package, and nothing that came from a variable", async () => {
  const url = `postgres://sync:\${PASSWORD}@db.example.com/warehouse`;
  const place = workplace(nowhere, { destination: { type: "postgres", url, schema: "buying" } });
  expect((await place.run(["dbt", "--out", "part"])).code).toBe(0);
  const part = everything(join(place.folder, "part"));
  expect(part).toContain("env_var('PGHOST', 'db.example.com')");
  expect(part).toContain("env_var('DBT_SCHEMA', 'buying_dbt')");
  expect(part).toContain("source('buying', 'invoices')");
  expect(part).not.toContain(secretPassword);
  const whole = workplace(nowhere, { destination: { type: "postgres", url: `\${DATABASE_URL}` } });
  const address = `postgres://sync:${secretPassword}@db.example.com/warehouse`;
  const env = { KEY: "k", DATABASE_URL: address };
  expect((await whole.run(["dbt", "--out", "whole"], { env })).code).toBe(0);
  const text = everything(join(whole.folder, "whole"));
  expect(text).toContain("env_var('PGHOST')");
  for (const part of [secretPassword, "db.example.com"]) expect(text).not.toContain(part);
});

test("columns that a run added are in the package; a warehouse that should tell of them and is away is an error", async () => {
  const simulator = await simulated({ vocabulary: "other", faults: { unknownFields: 1 } });
  const database = await createDatabase(inject("postgresUrl"));
  onTestFinished(() => database.drop());
  const streams = { include: [], exclude: ["preset:all"], defaults: { unknown_fields: "column" } };
  const settings = { streams: { ...streams, exclude: ["purchase_order*", "invoice*", "finding*", "ingested"] } };
  const place = workplace(simulator, { destination: { type: "postgres", url: database.url }, ...settings });
  const columns = async (): Promise<string> => {
    expect((await place.run(["dbt", "--out", "dbt"])).code).toBe(0);
    return readFileSync(join(place.folder, "dbt/models/staging/stg_items.sql"), "utf8");
  };
  const before = await columns();
  for (const _ of [1, 2]) await place.run(["sync", "--no-progress"]);
  const { rows } = await database.admin.query<{ column_name: string }>(
    "select column_name from _tributary.added_columns where table_name = 'items'",
  );
  expect(rows.length).toBeGreaterThan(0);
  // As a run leaves it that was killed before it made the column.
  await database.admin.query(
    "insert into _tributary.added_columns select stream, table_name, 'not_yet', 'not_yet', kind, added_at from _tributary.added_columns where table_name = 'items' limit 1",
  );
  const after = await columns();
  expect(after).not.toContain("not_yet");
  for (const { column_name } of rows) {
    expect(before).not.toContain(`  ${column_name},\n`);
    expect(after).toContain(`  ${column_name},\n`);
  }
  const away = workplace(nowhere, {
    destination: { type: "postgres", url: "postgres://u@127.0.0.1:1/w" },
    ...settings,
  });
  expect((await away.run(["dbt", "--out", "dbt"])).code).toBe(6);
});
