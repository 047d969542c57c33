import { expect, inject, onTestFinished, test } from "vitest";
import { connected, createDatabase } from "../../support/database.ts";
import { openReady } from "./fixture.ts";

test("a table that somebody reads for long is written anew later, and who comes meanwhile reads it", async () => {
  const database = await createDatabase(inject("postgresUrl"));
  onTestFinished(() => database.drop());
  const { admin } = database;
  await admin.query("create table public.visits as select 1 as n");
  const fileOf = async () => (await admin.query("select pg_relation_filenode('public.visits') as file")).rows;
  const before = await fileOf();
  const destination = await openReady(database.url);
  onTestFinished(() => destination.close());
  const analyst = await connected(database.url);
  onTestFinished(() => analyst.end());
  await analyst.query("begin; select n from public.visits");
  const cleansing = destination.cleanse([{ schema: "public", name: "visits" }]);
  const isWaiting = async () =>
    (
      await admin.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like 'vacuum%'",
      )
    ).rowCount === 1;
  await expect.poll(isWaiting, { timeout: 60_000 }).toBe(true);
  expect((await admin.query("select n from public.visits")).rows).toEqual([{ n: 1 }]);
  expect(await fileOf()).toEqual(before);
  await analyst.query("commit");
  await cleansing;
  expect(await fileOf()).not.toEqual(before);
});
