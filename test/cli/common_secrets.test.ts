import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { json, simulated, workplace } from "./workplace.ts";

/** All files of a folder, as one text. */
function everything(folder: string): string {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile());
  return entries
    .map(entry => join(entry.parentPath, entry.name))
    .sort()
    .map(file => readFileSync(file, "utf8"))
    .join("\n");
}

test.each(["7", "procurement"])("the key %s spoils no output, and is in none", async key => {
  const simulator = await simulated({ key });
  const place = workplace(simulator, { views: false });
  const env = { KEY: key };
  const check = await place.run(["check"], { env });
  expect([check.code, check.stderr]).toEqual([0, ""]);
  if (key.length < 4) expect(check.stdout).not.toContain("•••");
  const synced = await place.run(["sync", "items", "findings", "--json", "--log-level", "trace"], { env });
  const { status, streams } = json<{ status: string; streams: { stream: string; rows_read: number }[] }>(synced);
  expect([status, streams.length, typeof streams[0]!.rows_read]).toEqual(["succeeded", 2, "number"]);
  expect(synced.stderr).not.toMatch(new RegExp(`Bearer(?: |%20)${key}\\b|["=]${key}["&](?!:)|:${key}@`));
  const config = await place.run(["config"], { env });
  expect(config.stdout).toContain("\n  key: •••\n");
  if (key.length < 4) expect(config.stdout.match(/•••/g)).toHaveLength(1);

  // These are made without secrets, and are the same whatever the key is.
  const made = async (name: string, KEY: string) => {
    const others = { env: { KEY } };
    const ddl = await place.run(["ddl"], others);
    for (const args of [["dbt"], ["docs", "--no-examples"]])
      expect((await place.run([...args, "--out", `${name}-${args[0]}`], others)).code).toBe(0);
    return [ddl.stdout, ...["dbt", "docs"].map(folder => everything(join(place.folder, `${name}-${folder}`)))];
  };
  const texts = await made("short", key);
  expect(texts).toEqual(await made("long", "another-key-4711"));
  expect(texts.join()).not.toContain("•••");
});

test("a password that is called like the schema leaves names alone; user, host and database are no secrets", async () => {
  const url = `postgres://\${PGUSER}:\${PASSWORD}@\${PGHOST}:\${PGPORT}/\${PGDATABASE}`;
  const place = workplace({ url: "http://127.0.0.1:1" }, { destination: { type: "postgres", url } });
  const names = { KEY: "k-4711", PGUSER: "sync", PGHOST: "db.example.com", PGPORT: "5432", PGDATABASE: "warehouse" };
  const ddl = async (PASSWORD: string) => (await place.run(["ddl"], { env: { ...names, PASSWORD } })).stdout;
  const script = await ddl("procurement");
  expect(script).toContain('"procurement"."items"');
  expect(script).not.toContain("•••");
  expect(script).toBe(await ddl("another-4711"));
  const config = await place.run(["config"], { env: { ...names, PASSWORD: "procurement" } });
  expect(config.stdout).toContain("url: postgres://sync:•••@db.example.com:5432/warehouse\n");
  const away = await place.run(["check"], { env: { ...names, PGHOST: "127.0.0.1", PGPORT: "1", PASSWORD: "sync" } });
  expect(away.stdout).toContain("127.0.0.1:1");
});
