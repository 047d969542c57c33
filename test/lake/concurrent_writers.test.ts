import { sql } from "kysely";
import { expect, inject, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import type { Db } from "../../src/warehouse/database.ts";
import { openDucklake } from "../../src/warehouse/ducklake/open.ts";
import { temporaryFolder } from "../source/archive/folder.ts";
import { createDatabase } from "../support/database.ts";

/*
 * DuckLake checks no conflict between transactions that delete nothing and insert the same key (its issue 1393), nor between
 * deletions of the same rows of which one stays in the catalog and the other becomes a file (1215). Build d8a1881e has both, tried
 * with two plain sessions. Transactions of ours come one after another, whichever host they are on.
 */

const ROWS = 1_000;

async function twoHosts(): Promise<readonly [Db, Db]> {
  const database = await createDatabase(inject("postgresUrl"));
  onTestFinished(() => database.drop());
  const dataPath = await temporaryFolder();
  const open = async (runId: string) => {
    const destination = await openDucklake({
      ...{
        schema: "procurement",
        stateSchema: "_tributary",
        catalog: database.url,
        catalogSchema: "ducklake",
        dataPath,
      },
      ...{ extensions: inject("extensions"), runId, clock: systemClock },
      holder: { pid: process.pid, host: "here", command: "sync", startedAt: "2026-03-15T00:00:00Z" },
    });
    onTestFinished(() => destination.close());
    return destination.db;
  };
  const [one, two] = [await open("run-1"), await open("run-2")];
  await sql`create schema procurement`.execute(one);
  await sql`create table procurement.t (id bigint, note varchar)`.execute(one);
  return [one, two];
}

const counted = async (db: Db) =>
  (await sql`select count(*) as rows, count(distinct id) as keys from procurement.t`.execute(db)).rows;

test("two hosts that upsert the same new key leave one row of it", async () => {
  const hosts = await twoHosts();
  await Promise.all(
    hosts.map(db =>
      db.transaction().execute(async trx => {
        await sql`delete from procurement.t where id = 42`.execute(trx);
        await sql`insert into procurement.t values (42, 'one')`.execute(trx);
      }),
    ),
  );
  for (const db of hosts) expect(await counted(db)).toEqual([{ rows: 1, keys: 1 }]);
});

test("two hosts that delete few and many of the same rows leave none of them", async () => {
  const hosts = await twoHosts();
  const [one, two] = hosts;
  await sql`insert into procurement.t select i, 'n' from range(${sql.lit(ROWS)}) r(i)`.execute(one);
  const deleteBelow = (db: Db, id: number) =>
    db.transaction().execute(trx => sql`delete from procurement.t where id < ${sql.lit(id)}`.execute(trx));
  await Promise.all([deleteBelow(one, 5), deleteBelow(two, ROWS / 2)]);
  await sql`insert into procurement.t select i, 'again' from range(3) r(i)`.execute(two);
  for (const db of hosts) expect(await counted(db)).toEqual([{ rows: ROWS / 2 + 3, keys: ROWS / 2 + 3 }]);
});
