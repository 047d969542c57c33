import { sql } from "kysely";
import { expect, inject, onTestFinished, test } from "vitest";
import { ensureState } from "../../../src/warehouse/state/state_ddl.ts";
import { stateTables } from "../../../src/warehouse/state_tables.ts";
import { createDatabase } from "../../support/database.ts";
import { openReady } from "./fixture.ts";

const names = Object.keys(stateTables);

test("rows of the state can be changed where all tables are published, in a warehouse of before too", async () => {
  const database = await createDatabase(inject("postgresUrl"));
  onTestFinished(() => database.drop());
  const { db, dialect, stateSchema, close } = await openReady(database.url);
  onTestFinished(close);
  await database.admin.query("create publication everything for all tables");
  const change = async () => {
    for (const name of names) await sql`delete from ${sql.id(stateSchema, name)}`.execute(db);
  };
  await change();
  for (const name of names) await sql`alter table ${sql.id(stateSchema, name)} replica identity default`.execute(db);
  await expect(change()).rejects.toThrow(/does not have a replica identity/);
  await ensureState(db, dialect, stateSchema);
  await change();
});
