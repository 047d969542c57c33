import { mkdir, readdir, readFile, rename, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { type Kysely, type RawBuilder, sql } from "kysely";
import { expect, test } from "vitest";
import { openStage } from "../../../src/warehouse/duckdb/stage/stage.ts";
import type { StateTables } from "../../../src/warehouse/state_tables.ts";
import { batchOf, encoded, gadget, gadgets, plainBatch, text } from "./gadgets.ts";
import { opened, settingsFor, temporaryFolder } from "./workbench.ts";

type Row = Record<string, unknown>;

/** All the digits that DECIMAL(38,9) has. */
const WIDE = "12345678901234567890123456789.123456789";

/** With nine decimal places, as DECIMAL(38,9) is printed. */
function padded(amount: string): string {
  const [whole, part = ""] = amount.split(".");
  const zero = /^-?0*$/.test(whole!) && /^0*$/.test(part);
  return `${zero ? whole!.replace("-", "") : whole}.${part.padEnd(9, "0")}`;
}

/** A stage that has begun, and what reads it. */
async function begun(record = {}) {
  const folder = await temporaryFolder();
  const { db } = await opened(settingsFor(join(folder, "w.duckdb")));
  const root = join(folder, "st*ge [1]");
  await mkdir(root);
  const open = (company = "acme", tables = gadgets) => openStage(root, company, tables);
  const stage = await open();
  expect([stage.record, stage.staged]).toEqual([undefined, 0]);
  await stage.begin(record);
  const [company] = await readdir(root);
  const [inner] = await readdir(join(root, company!));
  return { db, root, open, stage, folder: join(root, company!, inner!), ...readingOver(db) };
}

function readingOver(db: Kysely<StateTables>) {
  const query = async <T = Row>(what: string, relation: RawBuilder<unknown>) =>
    (await sql<T>`${sql.raw(what)} from ${relation} r`.execute(db)).rows;
  return {
    query,
    all: async (relation: RawBuilder<unknown>) =>
      (await sql<Row>`select * from ${relation} r order by _seq`.execute(db)).rows,
    typesOf: async (relation: RawBuilder<unknown>) =>
      (await query<{ column_name: string; column_type: string }>("describe select *", relation)).map(
        row => `${row.column_name} ${row.column_type}`,
      ),
  };
}

const outcomeOf = (seq: number, key: string, hash: number | bigint = 1, reason: string | null = null) =>
  [seq, text(key), hash, text("ok"), "2026-01-31 02:03:04.567891+00", reason === null ? null : text(reason)] as const;

test("a byte order mark at the start of a text stays", async () => {
  const { stage, query } = await begun();
  await stage.append({ ...plainBatch(1, 0), outcomes: encoded([outcomeOf(1, "\uFEFF")]) }, {});
  expect(await query("select hex(parent_key) as k", stage.outcomes())).toEqual([{ k: "EFBBBF" }]);
});

test("any text and any decimal is read back, narrow or wide", async () => {
  const { stage, all } = await begun();
  const decimals = (digits: number, places: number) =>
    fc
      .tuple(fc.nat(digits), fc.nat(places))
      .chain(([whole, after]) =>
        fc.tuple(
          fc.bigInt({ min: -(10n ** BigInt(whole)) + 1n, max: 10n ** BigInt(whole) - 1n }),
          fc.bigInt({ min: 0n, max: 10n ** BigInt(after) - 1n }).map(part => `${part}`.padStart(after, "0")),
        ),
      )
      .map(([whole, part]) => (part === "" ? `${whole}` : `${whole}.${part}`));
  const batchesOf = (decimal: fc.Arbitrary<string>) => {
    const row = fc.tuple(fc.string({ unit: "grapheme" }), fc.option(decimal));
    return fc.array(fc.array(row, { minLength: 1, maxLength: 20 }), { minLength: 1, maxLength: 3 });
  };
  const given = fc.oneof(
    fc.tuple(batchesOf(decimals(12, 6)), fc.constant(false)),
    fc.tuple(batchesOf(decimals(29, 9)), fc.constant(true)),
  );
  await fc.assert(
    fc.asyncProperty(given, async ([batches, wide]) => {
      await stage.begin({});
      let seq = 0;
      for (const batch of batches) {
        const lines = batch.map(([label, price]) =>
          gadget(seq++, { gadget_id: text(label), label: text(label), price }),
        );
        await stage.append(batchOf(encoded(lines, wide ? ["price"] : [])), { seq });
      }
      const found = await all(stage.rows(gadgets.main));
      expect(found.map(({ gadget_id, label, price }) => [gadget_id, label, price])).toEqual(
        batches.flat().map(([label, price]) => [label, label, price === null ? null : padded(price)]),
      );
    }),
    { numRuns: 25 },
  );
});

test("lines over lines are read right in many large files, and the wide decimals of one of them", async () => {
  const { stage, query } = await begun();
  const lines = 'first\n"second"\n,third\n\r\n'.repeat(20);
  for (let file = 0; file < 6; file++) {
    const main = Array.from({ length: 3000 }, (_, i) =>
      gadget(file * 3000 + i, {
        gadget_id: text(`${i}`),
        label: text(`${lines}${file}/${i}`),
        price: file === 3 ? WIDE : "0.25",
        pieces: i,
      }),
    );
    await stage.append(batchOf(encoded(main, file === 3 ? ["price"] : [])), { file });
  }
  expect(stage.staged).toBe(18_000);
  const sums = `select count(*) as n, count(distinct label) as labels, sum(pieces) as pieces,
    min(strlen(label)) as shortest, max(price) as price, min(price) as least`;
  const [n, pieces, shortest] = [18_000, (6 * 2999 * 3000) / 2, lines.length + 3];
  expect(await query(sums, stage.rows(gadgets.main))).toEqual([
    { n, labels: n, pieces, shortest, price: WIDE, least: "0.250000000" },
  ]);
});

test("relations have the same types when empty, and decimals get into a table unchanged", async () => {
  const { db, stage, all, typesOf } = await begun();
  await stage.drop();
  const types = async () => Promise.all([stage.rows(gadgets.main), stage.keys(), stage.outcomes()].map(typesOf));
  const empty = await types();
  expect(await all(stage.rows(gadgets.children[0]!))).toEqual([]);
  await stage.begin({});
  await stage.append({ ...plainBatch(1, 3), outcomes: encoded([outcomeOf(1, "k")]) }, {});
  expect(await types()).toEqual(empty);
  await sql`create table target as select * from ${stage.rows(gadgets.main)} r limit 0`.execute(db);
  await sql`insert into target select * from ${stage.rows(gadgets.main)} r`.execute(db);
  expect((await sql`select sum(price) as s from target`.execute(db)).rows).toEqual([{ s: "4.500000000" }]);
});

test("a stage is found again with its rows, and is emptied by begin and drop", async () => {
  const { root, open, stage, all } = await begun({ cursor: "a" });
  await stage.drop();
  const fresh = await open();
  expect([fresh.record, fresh.staged]).toEqual([undefined, 0]);
  await fresh.begin({ cursor: "a" });
  await fresh.append(plainBatch(1, 5), { cursor: "b" });
  await fresh.append(plainBatch(6, 5), { cursor: "c", nested: { of: [1] } });
  const again = await open();
  expect([again.record, again.staged]).toEqual([{ cursor: "c", nested: { of: [1] } }, 10]);
  expect(await all(again.keys())).toHaveLength(10);
  await again.begin({ cursor: "new" });
  expect([again.record, again.staged, await all(again.keys())]).toEqual([{ cursor: "new" }, 0, []]);
  await again.append(plainBatch(1, 2), { cursor: "d" });
  expect((await open()).staged).toBe(2);
  await again.drop();
  await again.drop();
  expect([again.record, again.staged, (await open()).record]).toEqual([undefined, 0, undefined]);
  await again.begin({ cursor: "after" });
  expect((await open()).record).toEqual({ cursor: "after" });
  expect((await stat(join(root, (await readdir(root))[0]!))).mode & 0o777).toBe(0o700);
});

test("a stage of another company or other columns is empty", async () => {
  const { open, stage } = await begun({ cursor: 1 });
  await stage.append(plainBatch(1, 5), { cursor: 2 });
  expect((await open("Acme")).record).toBeUndefined();
  expect((await open()).record).toEqual({ cursor: 2 });
  const narrower = { ...gadgets, main: { ...gadgets.main, columns: gadgets.main.columns.slice(0, -1) } };
  expect((await open("acme", narrower)).record).toBeUndefined();
});

test.each<[string, (paths: { main: string; manifest: string }) => Promise<void>]>([
  ["is cut short", ({ main }) => truncate(main, 3)],
  ["is gone", ({ main }) => rename(main, `${main}.away`)],
  ["is half a manifest", ({ manifest }) => writeFile(manifest, "{ half")],
  ["is a manifest of nothing", ({ manifest }) => writeFile(manifest, '{"record":{}}')],
])("a stage of which a file %s is empty", async (_what, spoil) => {
  const { open, stage, folder } = await begun({ cursor: 1 });
  await stage.append(plainBatch(1, 5), { cursor: 2 });
  const main = (await readdir(folder)).find(name => name.includes("main"))!;
  await spoil({ main: join(folder, main), manifest: join(folder, "manifest.json") });
  const found = await open();
  expect([found.record, found.staged]).toEqual([undefined, 0]);
  expect(await readdir(folder)).toEqual([]);
});

test("what no manifest names is removed, and what was held stays when an append fails", async () => {
  const { open, stage, folder, all } = await begun({ cursor: 1 });
  await stage.append(plainBatch(1, 5), { cursor: 2 });
  const named = await readdir(folder);
  await writeFile(join(folder, "9.main.csv"), "half a li");
  await open();
  expect(await readdir(folder)).toEqual(named);
  await writeFile(join(folder, "2.child0.csv"), "in the way");
  await expect(stage.append(plainBatch(6, 5), { cursor: 3 })).rejects.toThrow();
  expect([stage.record, stage.staged, (await open()).record]).toEqual([{ cursor: 2 }, 5, { cursor: 2 }]);
  await stage.append(plainBatch(6, 5), { cursor: 3 });
  expect(await all(stage.keys())).toHaveLength(10);
  await rename(folder, `${folder}.away`);
  await expect(stage.append(plainBatch(11, 5), { cursor: 4 })).rejects.toMatchObject({ exitCode: 6 });
  await rename(`${folder}.away`, folder);
  expect((await open()).record).toEqual({ cursor: 3 });
  expect(JSON.parse(await readFile(join(folder, "manifest.json"), "utf8"))).toMatchObject({ record: { cursor: 3 } });
});

test("rows whose numbers lie far apart are joined in the memory of those rows, not of all numbers between", async () => {
  const { stage, db } = await begun();
  const far = Array.from({ length: 10_000 }, (_, i) => 100 * i + 1);
  await stage.append(batchOf(encoded(far.map(seq => gadget(seq, {})))), {});
  await sql`create temporary table changed as select _seq::bigint as _seq, 'u' as op from ${stage.rows(gadgets.main)} r`.execute(
    db,
  );
  const before = process.memoryUsage.rss();
  await sql`create temporary table joined as select r.* from changed c join ${stage.rows(gadgets.main)} r on r._seq = c._seq
    where c.op in ('i', 'u', 'r')`.execute(db);
  expect(process.memoryUsage.rss() - before).toBeLessThan(60_000_000);
  expect((await sql`select * from joined`.execute(db)).rows).toHaveLength(10_000);
});
