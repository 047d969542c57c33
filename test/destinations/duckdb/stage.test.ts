import { mkdir, readdir, readFile, rename, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { type Kysely, type RawBuilder, sql } from "kysely";
import { describe, expect, it } from "vitest";
import { openStage } from "../../../src/destinations/duckdb/stage.ts";
import type { StateTables } from "../../../src/destinations/state_tables.ts";
import { encoded, gadgets, nothing, plainBatch, text } from "./gadgets.ts";
import { opened, settingsFor, temporaryFolder } from "./workbench.ts";

async function bench() {
  const folder = await temporaryFolder();
  const { db } = await opened(settingsFor(join(folder, "w.duckdb")));
  const root = join(folder, "st*ge [1]");
  await mkdir(root);
  return { db, root, open: () => openStage(root, "acme", gadgets) };
}

async function all(db: Kysely<StateTables>, relation: RawBuilder<unknown>, order = "_seq"): Promise<unknown[]> {
  return (await sql`select * from ${relation} r order by ${sql.raw(order)}`.execute(db)).rows;
}

const typesOf = async (db: Kysely<StateTables>, relation: RawBuilder<unknown>) =>
  (await sql<{ column_name: string; column_type: string }>`describe select * from ${relation} r`.execute(db)).rows.map(
    row => `${row.column_name} ${row.column_type}`,
  );

const nasty = [
  "",
  " ",
  '"',
  '""',
  ",",
  "\n",
  "\r",
  "\r\n",
  'a "quoted", text\nover\r\nlines\n\n',
  "NULL",
  "null",
  "\\N",
  "\\",
  "'",
  ";",
  "\t",
  "ünïcödé",
  "emoji 👩‍👩‍👧‍👦",
  "\u2028",
  "\u{10FFFF}",
  "#no comment",
  "1e5",
  "true",
  "x\uFEFF",
  "a".repeat(3_000_000),
];
const moments = [
  "2026-01-31 02:03:04.567891+00",
  "1969-12-31 23:59:59.999999+00",
  "0001-01-01 00:00:00+00",
  "9999-12-31 23:59:59+00",
];
const amounts = [
  "12345678901234567890123456789.123456789",
  "-99999999999999999999999999999.999999999",
  "0.000000001",
  "0",
  "-0.1",
  "123456789012.123456",
];

describe("the stage", () => {
  it("gives every value back as it was written", async () => {
    const { db, open } = await bench();
    const stage = await open();
    await stage.begin({ cursor: null });
    const count = nasty.length;
    const row = (seq: number) => [
      seq,
      text(`id ${seq}`),
      text(nasty[seq % count]!),
      amounts[seq % amounts.length]!,
      seq % 2 === 0 ? "-1.5" : null,
      seq % 3 === 0 ? -(2n ** 63n) : 2n ** 63n - 1n,
      "0.1",
      seq % 2 === 0,
      "2024-02-29",
      moments[seq % moments.length]!,
      text('{"k":[1.50,"a\\"b"]}'),
      text(JSON.stringify({ extra: nasty[seq % (count - 1)] })),
      null,
    ];
    const sequences = Array.from({ length: count }, (_, i) => i);
    await stage.append(
      {
        keys: encoded(sequences.map(seq => [seq, text(nasty[seq]!), -(2n ** 63n), seq === 1 ? null : 5])),
        main: encoded(sequences.map(row), ["price"]),
        children: [
          encoded(sequences.map(seq => [seq, seq % 2, text(nasty[seq]!), null, text('{"part":{"reason":"r"}}')])),
        ],
        outcomes: encoded(
          sequences.map(seq => [
            seq,
            text(nasty[seq]!),
            2n ** 62n,
            text("ok"),
            moments[0]!,
            seq === 0 ? null : text(nasty[seq]!),
          ]),
        ),
      },
      { cursor: "next" },
    );
    const types =
      "label VARCHAR,price DECIMAL(38,9),stock DECIMAL(38,9),pieces BIGINT,rating DOUBLE,active BOOLEAN,made_on DATE,seen_at TIMESTAMP WITH TIME ZONE,facts JSON,_extra JSON,_problems JSON";
    expect(await typesOf(db, stage.rows(gadgets.main))).toEqual([
      "_seq BIGINT",
      "gadget_id VARCHAR",
      ...types.split(/,(?=[a-z_])/),
    ]);
    const rows = await sql<
      Record<string, unknown>
    >`select * replace (seen_at::varchar as seen_at, facts::varchar as facts)
      from ${stage.rows(gadgets.main)} r order by _seq`.execute(db);
    expect(rows.rows).toEqual(
      sequences.map(seq => ({
        _seq: seq,
        gadget_id: `id ${seq}`,
        label: nasty[seq],
        price: padded(amounts[seq % amounts.length]!),
        stock: seq % 2 === 0 ? "-1.500000000" : null,
        pieces: seq % 3 === 0 ? -(2n ** 63n) : 2n ** 63n - 1n,
        rating: 0.1,
        active: seq % 2 === 0,
        made_on: "2024-02-29",
        seen_at: moments[seq % moments.length],
        facts: '{"k":[1.50,"a\\"b"]}',
        _extra: { extra: nasty[seq % (count - 1)] },
        _problems: null,
      })),
    );
    expect(await all(db, stage.keys())).toEqual(
      sequences.map(seq => ({ _seq: seq, gadget_id: nasty[seq], _hash: -(2n ** 63n), _vhash: seq === 1 ? null : 5 })),
    );
    expect(await all(db, stage.rows(gadgets.children[0]!))).toEqual(
      sequences.map(seq => ({
        _seq: seq,
        _index: seq % 2,
        part: nasty[seq],
        _extra: null,
        _problems: { part: { reason: "r" } },
      })),
    );
    expect(await all(db, stage.outcomes())).toEqual(
      sequences.map(seq => ({
        _seq: seq,
        parent_key: nasty[seq],
        parent_hash: 2n ** 62n,
        outcome: "ok",
        fetched_at: new Date("2026-01-31T02:03:04.567Z"),
        reason: seq === 0 ? null : nasty[seq],
      })),
    );
  });

  it("keeps a byte order mark at the start of a text", async () => {
    const { db, open } = await bench();
    const stage = await open();
    await stage.begin({});
    await stage.append(
      { ...plainBatch(1, 0), outcomes: encoded([[1, text("\uFEFF"), 1, text("ok"), moments[0]!, null]]) },
      {},
    );
    expect((await sql`select hex(parent_key) as k from ${stage.outcomes()} o`.execute(db)).rows).toEqual([
      { k: "EFBBBF" },
    ]);
  });

  it("reads any text and any decimal back, narrow or wide", async () => {
    const { db, open } = await bench();
    const stage = await open();
    const decimal = fc
      .tuple(fc.bigInt({ min: -(10n ** 12n) + 1n, max: 10n ** 12n - 1n }), fc.nat(999_999))
      .map(([whole, part]) => `${whole}.${String(part).padStart(6, "0")}`);
    const rows = fc.array(fc.tuple(fc.string({ unit: "grapheme" }), fc.option(decimal)), {
      minLength: 1,
      maxLength: 20,
    });
    await fc.assert(
      fc.asyncProperty(fc.array(rows, { minLength: 1, maxLength: 3 }), fc.boolean(), async (batches, wide) => {
        await stage.begin({});
        let seq = 0;
        for (const batch of batches) {
          const main = encoded(
            batch.map(([label, price]) => [
              seq++,
              text(label),
              text(label),
              price,
              null,
              null,
              null,
              null,
              null,
              null,
              null,
              null,
              null,
            ]),
            wide ? ["price"] : [],
          );
          await stage.append({ keys: nothing, main, children: [nothing], outcomes: nothing }, { seq });
        }
        const found = await sql<{
          gadget_id: string;
          label: string;
          price: string | null;
        }>`select gadget_id, label, price
          from ${stage.rows(gadgets.main)} r order by _seq`.execute(db);
        expect(found.rows).toEqual(
          batches
            .flat()
            .map(([label, price]) => ({ gadget_id: label, label, price: price === null ? null : padded(price) })),
        );
      }),
      { numRuns: 25 },
    );
  });

  it("reads lines over lines right in many large files, and the wide decimals of one of them", async () => {
    const { db, open } = await bench();
    const stage = await open();
    await stage.begin({});
    const lines = 'first\n"second"\n,third\n\r\n'.repeat(20);
    for (let file = 0; file < 6; file++) {
      const main = encoded(
        Array.from({ length: 3000 }, (_, i) => [
          file * 3000 + i,
          text(`${i}`),
          text(`${lines}${file}/${i}`),
          file === 3 ? amounts[0]! : "0.25",
          null,
          i,
          null,
          null,
          null,
          null,
          null,
          null,
          null,
        ]),
        file === 3 ? ["price"] : [],
      );
      await stage.append({ keys: nothing, main, children: [nothing], outcomes: nothing }, { file });
    }
    expect(stage.staged).toBe(18_000);
    const { rows } = await sql`select count(*) as n, count(distinct label) as labels, sum(pieces) as pieces,
      min(strlen(label)) as shortest, max(price) as price, min(price) as least from ${stage.rows(gadgets.main)} r`.execute(
      db,
    );
    expect(rows).toEqual([
      {
        n: 18_000,
        labels: 18_000,
        pieces: (6 * 2999 * 3000) / 2,
        shortest: lines.length + 3,
        price: amounts[0],
        least: "0.250000000",
      },
    ]);
  });

  it("has relations of the same types when empty, and takes decimals into a table unchanged", async () => {
    const { db, open } = await bench();
    const stage = await open();
    const empty = await typesOf(db, stage.rows(gadgets.main));
    const emptyKeys = await typesOf(db, stage.keys());
    const emptyOutcomes = await typesOf(db, stage.outcomes());
    expect(await all(db, stage.rows(gadgets.children[0]!))).toEqual([]);
    await stage.begin({});
    await stage.append(
      { ...plainBatch(1, 3), outcomes: encoded([[1, text("k"), 1, text("ok"), moments[0]!, null]]) },
      {},
    );
    expect(await typesOf(db, stage.rows(gadgets.main))).toEqual(empty);
    expect(await typesOf(db, stage.keys())).toEqual(emptyKeys);
    expect(await typesOf(db, stage.outcomes())).toEqual(emptyOutcomes);
    await sql`create table target as select * from ${stage.rows(gadgets.main)} r limit 0`.execute(db);
    await sql`insert into target select * from ${stage.rows(gadgets.main)} r`.execute(db);
    expect((await sql`select sum(price) as s from target`.execute(db)).rows).toEqual([{ s: "4.500000000" }]);
  });

  it("is found again with its rows, and is emptied by begin and drop", async () => {
    const { db, root, open } = await bench();
    const first = await open();
    expect([first.record, first.staged]).toEqual([undefined, 0]);
    await first.begin({ cursor: "a" });
    await first.append(plainBatch(1, 5), { cursor: "b" });
    await first.append(plainBatch(6, 5), { cursor: "c", nested: { of: [1] } });
    const again = await open();
    expect([again.record, again.staged]).toEqual([{ cursor: "c", nested: { of: [1] } }, 10]);
    expect((await all(db, again.keys())).length).toBe(10);
    await again.begin({ cursor: "new" });
    expect([again.record, again.staged, await all(db, again.keys())]).toEqual([{ cursor: "new" }, 0, []]);
    await again.append(plainBatch(1, 2), { cursor: "d" });
    expect((await open()).staged).toBe(2);
    await again.drop();
    await again.drop();
    expect([again.record, again.staged, (await open()).record]).toEqual([undefined, 0, undefined]);
    await again.begin({ cursor: "after" });
    expect((await open()).record).toEqual({ cursor: "after" });
    expect((await stat(join(root, (await readdir(root))[0]!))).mode & 0o777).toBe(0o700);
  });

  it("is empty when the columns, the company or a file is not what was written", async () => {
    const { root, open } = await bench();
    const stage = await open();
    const fresh = async () => {
      await stage.begin({ cursor: 1 });
      await stage.append(plainBatch(1, 5), { cursor: 2 });
      const folder = join(root, (await readdir(root)).find(name => name.startsWith("acme"))!);
      const files = join(folder, (await readdir(folder))[0]!);
      return { files, main: join(files, (await readdir(files)).find(name => name.includes("main"))!) };
    };
    await fresh();
    expect((await openStage(root, "Acme", gadgets)).record).toBeUndefined();
    expect((await open()).record).toEqual({ cursor: 2 });
    const narrower = { ...gadgets, main: { ...gadgets.main, columns: gadgets.main.columns.slice(0, -1) } };
    expect((await openStage(root, "acme", narrower)).record).toBeUndefined();
    for (const spoil of [
      async ({ main }: { main: string }) => truncate(main, 3),
      async ({ main }: { main: string }) => rename(main, `${main}.away`),
      async ({ files }: { files: string }) => writeFile(join(files, "manifest.json"), "{ half"),
      async ({ files }: { files: string }) => writeFile(join(files, "manifest.json"), '{"record":{}}'),
    ]) {
      const paths = await fresh();
      await spoil(paths);
      const found = await open();
      expect([found.record, found.staged]).toEqual([undefined, 0]);
      expect(await readdir(paths.files)).toEqual([]);
    }
  });

  it("removes what no manifest names, and keeps what it held when an append fails", async () => {
    const { db, root, open } = await bench();
    const stage = await open();
    await stage.begin({ cursor: 1 });
    await stage.append(plainBatch(1, 5), { cursor: 2 });
    const company = join(root, (await readdir(root))[0]!);
    const folder = join(company, (await readdir(company))[0]!);
    const named = await readdir(folder);
    await writeFile(join(folder, "9.main.csv"), "half a li");
    await open();
    expect(await readdir(folder)).toEqual(named);
    await writeFile(join(folder, "2.child0.csv"), "in the way");
    await expect(stage.append(plainBatch(6, 5), { cursor: 3 })).rejects.toThrow();
    expect([stage.record, stage.staged, (await open()).record]).toEqual([{ cursor: 2 }, 5, { cursor: 2 }]);
    await stage.append(plainBatch(6, 5), { cursor: 3 });
    expect((await all(db, stage.keys())).length).toBe(10);
    await rename(folder, `${folder}.away`);
    await expect(stage.append(plainBatch(11, 5), { cursor: 4 })).rejects.toMatchObject({ exitCode: 6 });
    await rename(`${folder}.away`, folder);
    expect((await open()).record).toEqual({ cursor: 3 });
    expect(JSON.parse(await readFile(join(folder, "manifest.json"), "utf8"))).toMatchObject({ record: { cursor: 3 } });
  });
});

/** With nine decimal places, as DECIMAL(38,9) is printed. */
function padded(amount: string): string {
  const [whole, part = ""] = amount.split(".");
  const zero = /^-?0*$/.test(whole!) && /^0*$/.test(part);
  return `${zero ? whole!.replace("-", "") : whole}.${part.padEnd(9, "0")}`;
}
