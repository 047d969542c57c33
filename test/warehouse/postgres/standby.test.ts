import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import { openPostgresForReading } from "../../../src/warehouse/postgres/open.ts";
import { connected } from "../../support/database.ts";
import { startPostgres } from "../../support/server.ts";
import { open } from "./fixture.ts";

test("a standby is read and not written, and a query that it cancels for its primary is reported as a conflict", async () => {
  const primary = await startPostgres(["fsync=off"]);
  onTestFinished(() => primary.close());
  const client = await connected(primary.url);
  onTestFinished(() => client.end());
  await client.query("create table things as select generate_series(1, 1000) as id");
  const standby = await primary.standby(["fsync=off", "max_standby_streaming_delay=0"]);
  onTestFinished(() => standby.close());
  await expect(open(standby.url)).rejects.toMatchObject({ code: "postgres.read_only", passing: true });
  const place = { url: standby.url, schema: "procurement", stateSchema: "_tributary", clock: systemClock };
  const reading = await openPostgresForReading(place);
  onTestFinished(() => reading.close());
  const things = sql<{ n: number }>`select count(*) as n from public.things`;
  await expect.poll(async () => (await things.execute(reading.db)).rows).toEqual([{ n: 1000 }]);
  const answer = sql`select count(*), pg_sleep(60) from public.things`.execute(reading.db).catch(error => error);
  await client.query("delete from things");
  const done = { ended: false };
  void answer.then(() => {
    done.ended = true;
  });
  // Vacuuming removes rows that the query still sees, once it has begun.
  while (!done.ended) {
    await client.query("insert into things values (0); delete from things");
    await client.query("vacuum things");
    await new Promise(resolve => setTimeout(resolve, 50));
  }
  expect(await answer).toMatchObject({ code: "postgres.standby_conflict", passing: true });
});
