import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, it } from "vitest";
import type { TableSet } from "../../../src/catalog/columns.ts";
import { factOf, fill, opened, settingsFor, temporaryFolder } from "./workbench.ts";

const small = async () => opened({ ...settingsFor(join(await temporaryFolder(), "w.duckdb")), memoryMb: 24 });

it("does work again with more memory when DuckDB runs out of it, from a clean start", async () => {
  const destination = await small();
  await fill(destination, 1);
  const { db } = destination;
  let tries = 0;
  const work = () =>
    db.transaction().execute(async trx => {
      tries++;
      await sql`update procurement.facts set fact = fact + 1`.execute(trx);
      // A list of numbers is one value: it can't be spilled to disk.
      const { rows } = await sql<{ n: number }>`select len(list(i)) as n from range(6000000) t(i)`.execute(trx);
      return rows[0]?.n;
    });
  await expect(work()).rejects.toThrow(/memory/i);
  expect(await destination.withRoom("write", work)).toBe(6_000_000);
  expect(tries).toBeGreaterThan(2);
  expect(await factOf(destination)).toBe(2);
});

it("gives the memory back, and passes on every other failure at once", async () => {
  const destination = await small();
  await destination.withRoom("write", async () =>
    sql`select len(list(i)) as n from range(6000000) t(i)`.execute(destination.db),
  );
  await expect(sql`select len(list(i)) as n from range(6000000) t(i)`.execute(destination.db)).rejects.toThrow(
    /memory/i,
  );
  let tries = 0;
  const failing = destination.withRoom("write", async () => {
    tries++;
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  expect(tries).toBe(1);
});

it("writes many columns that were all changed into the file, and reads them out of the log of a run that was killed", async () => {
  const path = join(await temporaryFolder(), "w.duckdb");
  const settings = settingsFor(path, { memoryMb: 40, readers: "direct" });
  const destination = await opened(settings);
  const { db } = destination;
  await fill(destination, 1);
  const tables = Array.from({ length: 20 }, (_, t) => `procurement.t${t}`);
  const names = Array.from({ length: 100 }, (_, i) => `c${i}`);
  const texts = names.map(name => `'${name} ' || i`).join(", ");
  const change = (table: string) =>
    destination.withRoom("write", () =>
      db.transaction().execute(async trx => {
        await sql.raw(`update ${table} set gone = now() where gone is null`).execute(trx);
        await sql.raw(`insert into ${table} select null, ${texts} from range(3) r(i)`).execute(trx);
      }),
    );
  for (const table of tables) {
    const columns = names.map(name => `${name} varchar`).join(", ");
    await sql.raw(`create table ${table} (gone timestamptz, ${columns})`).execute(db);
    await change(table);
  }
  await destination.releaseToReaders();
  for (const table of tables) await change(table);
  const killed = { ...settings, path: `${path}.killed`, runId: "run-2" };
  await copyFile(path, killed.path);
  await copyFile(`${path}.wal`, `${killed.path}.wal`);
  const limit = () => sql<{ limit: string }>`select current_setting('memory_limit') as "limit"`.execute(db);
  const before = await limit();
  await destination.releaseToReaders();
  expect((await limit()).rows).toEqual(before.rows);
  await destination.close();
  const next = await opened(killed);
  await next.releaseToReaders();
  const { rows } = await sql<{ n: number }>`select count(gone) as n from procurement.t19`.execute(next.db);
  expect(Number(rows[0]?.n)).toBe(3);
});

it("gives what DuckDB has to keep of replaced rows on top, in this run and in the next", async () => {
  const path = join(await temporaryFolder(), "w.duckdb");
  const settings = settingsFor(path, { memoryMb: 24 });
  const destination = await opened(settings);
  await fill(destination, 1);
  const tables = { main: { name: "many" }, children: [] } as unknown as TableSet;
  const write = (statement: string, touched = 0) =>
    destination.withRoom(
      "write",
      () => destination.db.transaction().execute(trx => sql.raw(statement).execute(trx)),
      touched === 0 ? {} : { touched, tables },
    );
  await write("create table procurement.many as select i, hash(i) as h, hash(-i) as g from range(3000000) r(i)");
  await destination.releaseToReaders();
  // A row of each vector, of which 26 MB are kept: more than there are.
  await write("delete from procurement.many where i % 2000 = 7", 1_500);
  await destination.afterPublish(tables, 1_500);
  // The end of a run works without room of its own.
  const unaided = (to: typeof destination) =>
    sql<{ n: number }>`select len(list(i)) as n from range(200000) t(i)`.execute(to.db);
  await unaided(destination);
  await destination.releaseToReaders();
  await destination.close();

  const next = await opened({ ...settings, runId: "run-2" });
  const { rows } = await next.withRoom("compare", () =>
    sql<{ n: number }>`select count(*) as n from procurement.many where h is not null`.execute(next.db),
  );
  expect(Number(rows[0]?.n)).toBe(2_998_500);
  await unaided(next);
  await next.releaseToReaders();
  await next.close();

  // What a reset removes may be of any number.
  const last = await opened({ ...settings, runId: "run-3" });
  const removal = () =>
    last.db.transaction().execute(trx => sql`delete from procurement.many where i % 2000 = 9`.execute(trx));
  const { numAffectedRows } = await last.withRoom("write", removal, { tables });
  expect(Number(numAffectedRows)).toBe(1_500);
});
