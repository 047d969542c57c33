import { join } from "node:path";
import { sql } from "kysely";
import { expect, it } from "vitest";
import { factOf, fill, opened, settingsFor, temporaryFolder } from "./workbench.ts";

const small = async () => opened({ ...settingsFor(join(await temporaryFolder(), "w.duckdb")), memoryLimitMb: 24 });

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
