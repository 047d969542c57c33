import { sql } from "kysely";
import { expect, inject, onTestFinished, test } from "vitest";
import { Draw } from "../../simulator/random.ts";
import { systemClock } from "../../src/clock.ts";
import { openDucklake } from "../../src/warehouse/ducklake/open.ts";
import { store } from "../rows/store.ts";
import { temporaryFolder } from "../source/archive/folder.ts";
import { createDatabase } from "../support/database.ts";

const holder = { pid: process.pid, host: "here", command: "sync", startedAt: "2026-03-15T00:00:00Z" };
const ROWS = 900;
const PUBLISHES = 25;

/*
 * DuckLake keeps deletions of few rows in its catalog and those of many in files. Its issues 1084, 1215 and 1364 tell of rows
 * that return, or are counted twice, where the same rows are deleted and inserted again and again.
 */
test("rows that are written again and again, few and many at a time, with files put together between, are there once", async () => {
  const seed = Math.trunc(Math.random() * 1e9);
  console.log(`seed ${seed}`);
  const draw = new Draw(seed);
  const database = await createDatabase(inject("postgresUrl"));
  onTestFinished(() => database.drop());
  const lake = {
    ...{ schema: "procurement", stateSchema: "_tributary", catalog: database.url, catalogSchema: "ducklake" },
    ...{ dataPath: await temporaryFolder(), extensions: inject("extensions") },
    ...{ runId: "run-1", holder, clock: systemClock },
  };
  let destination = await openDucklake(lake);
  const expected = new Map<string, string>();
  for (let publish = 0; publish < PUBLISHES; publish++) {
    const many = draw.chance(0.3);
    const ids = Array.from({ length: many ? draw.between(201, ROWS) : draw.between(1, 12) }, () =>
      String(draw.between(1, ROWS)),
    );
    const rows = [...new Set(ids)].map(id => ({
      id,
      text: `${id} ${publish}`,
      lines: [{ line_no: "1", price: `${publish}` }],
    }));
    for (const { id, text } of rows) expected.set(id, text);
    await store(destination, rows, undefined, 1 + (publish % 28));
    if (draw.chance(0.4))
      await destination.afterPublish({ main: { name: "things" }, children: [{ name: "thing_lines" }] } as never, 1);
    if (draw.chance(0.1)) await destination.releaseToReaders();
    if (draw.chance(0.1)) {
      await destination.close();
      destination = await openDucklake(lake);
    }
    const { db } = destination;
    const texts = await sql<{ id: string; text: string }>`select id, text from procurement.things`.execute(db);
    expect(new Map(texts.rows.map(({ id, text }) => [id, text])), `publish ${publish}`).toEqual(expected);
    const counted =
      await sql`select (select count(*) from procurement.things) as rows, (select count(*) from procurement.thing_lines) as lines,
      (select count(*) from _tributary.rows_things) as state, (select count(distinct id) from _tributary.rows_things) as keys`.execute(
        db,
      );
    const all = expected.size;
    expect(counted.rows, `publish ${publish}`).toEqual([{ rows: all, lines: all, state: all, keys: all }]);
  }
  await destination.close();
});
