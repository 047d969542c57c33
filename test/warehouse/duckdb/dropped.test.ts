import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { gadgets, plainBatch } from "./gadgets.ts";
import { opened, settingsFor, temporaryFolder } from "./workbench.ts";

async function place() {
  const folder = await temporaryFolder();
  const root = join(folder, "w.versions", "stage");
  const open = () => opened(settingsFor(join(folder, "w.duckdb")));
  const files = async () => (await readdir(root, { recursive: true })).filter(name => name.endsWith(".csv"));
  return { root, open, files };
}

async function filled(destination: Awaited<ReturnType<typeof opened>>, first: number, batches: number) {
  const stage = await destination.stage("acme", gadgets);
  await stage.begin({});
  for (let i = 0; i < batches; i++) await stage.append(plainBatch(first + 10 * i, 10), { cursor: `${i}` });
  return stage;
}

test("a stage that begins after another was dropped holds its own rows alone, and no file of the other is left", async () => {
  const { open, files } = await place();
  const destination = await open();
  const before = await filled(destination, 1, 40);
  await before.drop();
  const after = await filled(destination, 1_000, 2);
  expect(after.staged).toBe(20);
  const { rows } = await sql<{ _seq: number }>`select _seq from ${after.rows(gadgets.main)} r order by _seq`.execute(
    destination.db,
  );
  expect(rows.map(row => Number(row._seq))).toEqual(Array.from({ length: 20 }, (_, i) => 1_000 + i));
  await destination.close();
  // Keys, rows and parts of each of the two.
  expect(await files()).toHaveLength(6);
});

test("files that a killed run left of a dropped stage go when the stage is opened again", async () => {
  const { root, open, files } = await place();
  const first = await open();
  await filled(first, 1, 1);
  await first.close();
  const [manifest] = (await readdir(root, { recursive: true })).filter(name => name.endsWith("manifest.json"));
  await rm(join(root, manifest!));
  expect(await files()).toHaveLength(3);
  const next = await open();
  expect((await next.stage("acme", gadgets)).record).toBeUndefined();
  expect(await files()).toEqual([]);
});

test.each(["spillman", "waiting-room", "claim-it"])(
  "the stage of %s stays, though it lies among files that are called alike",
  async company => {
    const path = join(await temporaryFolder(), "w.duckdb");
    const open = () => opened(settingsFor(path, { readers: "direct" }));
    const first = await open();
    const stage = await first.stage(company, gadgets);
    await stage.begin({});
    await stage.append(plainBatch(1, 10), { cursor: "0" });
    expect(await first.isWanted()).toBe(false);
    await stage.append(plainBatch(11, 10), { cursor: "1" });
    await first.close();
    expect((await (await open()).stage(company, gadgets)).record).toEqual({ cursor: "1" });
  },
);
