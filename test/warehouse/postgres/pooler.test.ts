import { sql } from "kysely";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import { openPostgresForReading } from "../../../src/warehouse/postgres/open.ts";
import { connected, createDatabase, type TestDatabase } from "../../support/database.ts";
import { startPooler } from "../../support/pooler.ts";
import { open } from "./fixture.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase(inject("postgresUrl"));
});
afterAll(() => database.drop());

test.each([
  { give: "newest", size: 1 },
  { give: "newest", size: 5 },
  { give: "oldest", size: 2 },
  { give: "oldest", size: 5 },
] as const)("a transaction pooler that gives the $give of $size backends is refused", async kind => {
  const pooler = await startPooler(database.url, { mode: "transaction", ...kind });
  await expect(open(pooler.url)).rejects.toThrow(/a transaction pooler .* session mode, into destination.url/);
  await pooler.close();
});

test.each(["a run", "a reader"])("%s that is refused leaves the backends of other programs as they were", async who => {
  const pooler = await startPooler(database.url, { mode: "transaction", give: "newest", size: 1 });
  const program = await connected(pooler.url);
  const settings = async () =>
    (
      await program.query(
        "select name, setting from pg_settings where name !~ '^(tributary|transaction)' order by name",
      )
    ).rows;
  const before = await settings();
  const reading = { url: pooler.url, schema: "procurement", stateSchema: "_tributary", clock: systemClock };
  const opening = who === "a run" ? open(pooler.url) : openPostgresForReading(reading);
  await expect(opening).rejects.toThrow(/a transaction pooler .* session mode, into destination.url/);
  expect(await settings()).toEqual(before);
  const { rows } = await program.query("select now() = statement_timestamp() as alone");
  expect(rows).toEqual([{ alone: true }]);
  await program.end();
  await pooler.close();
});

test.each([1, 3])("a pooler of %i in session mode is a session", async size => {
  const pooler = await startPooler(database.url, { mode: "session", give: "newest", size });
  const destination = await open(pooler.url);
  const { rows } = await sql<{ zone: string }>`select current_setting('timezone') as zone`.execute(destination.db);
  expect(rows).toEqual([{ zone: "UTC" }]);
  await destination.close();
  await pooler.close();
});
