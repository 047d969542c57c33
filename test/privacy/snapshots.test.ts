import { readFile } from "node:fs/promises";
import { expect, inject, onTestFinished, test } from "vitest";
import type { Message } from "../../src/message.ts";
import { connected } from "../support/database.ts";
import { passing, postgresWarehouse, type Warehouse } from "../support/warehouse.ts";
import { type Row, SECRETS } from "./office.ts";
import { placeOf } from "./place.ts";

/** The tables whose files hold any of the secrets, seen or not. */
async function holding({ query }: Warehouse): Promise<string[]> {
  await query("checkpoint");
  const files = await query<{ name: string; path: string }>(`select c.relname as name,
      current_setting('data_directory') || '/' || pg_relation_filepath(file.oid) as path
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    cross join lateral (values (c.oid), (nullif(c.reltoastrelid, 0))) file (oid)
    where n.nspname in ('procurement', '_tributary') and c.relkind in ('r', 'i') and file.oid is not null`);
  const found: string[] = [];
  for (const { name, path } of files) {
    const bytes = await readFile(path);
    if (SECRETS.some(secret => bytes.includes(secret))) found.push(name);
  }
  return found;
}

test("while somebody's snapshot is older than a change of privacy the warehouse is not called clean", async () => {
  const place = await placeOf(() => passing(postgresWarehouse(inject("postgresUrl"))));
  const { warehouse } = place;
  await place.night();
  const analyst = await connected(warehouse.destination["url"] as string);
  onTestFinished(() => analyst.end());
  // Nothing of ours has been read, as in a long report over other tables.
  const look = "begin isolation level repeatable read; select count(*) from pg_class";
  await analyst.query(look);
  const isLeft = ({ code }: Message) => code === "privacy.not_cleansed";
  const unclean = () => warehouse.query<Row>("select 1 from _tributary.privacy where cleaned_at is null limit 1");

  place.under({ pii: "exclude" }, false);
  const report = await place.night();
  expect(report).toMatchObject({ exit_code: 0, status: "warning" });
  const reason = expect.stringMatching(/session \d+ of \w+ began before/);
  expect(report.warnings.find(isLeft)).toMatchObject({ fields: { reason } });
  expect(await unclean()).toHaveLength(1);
  expect(await holding(warehouse)).toContain("visits");

  // Who has begun since sees nothing of it.
  await analyst.query(`commit; ${look}`);
  expect((await place.night()).warnings.filter(isLeft)).toEqual([]);
  expect(await unclean()).toEqual([]);
  expect(await holding(warehouse)).toEqual([]);
});
