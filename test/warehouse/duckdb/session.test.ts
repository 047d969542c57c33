import { join } from "node:path";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { factOf, fill, helper, opened, setFact, settingsFor, temporaryFolder } from "./workbench.ts";

const open = async () => opened(settingsFor(join(await temporaryFolder(), "w.duckdb")));

describe("the session", () => {
  it("runs transactions and single statements one after another", async () => {
    const { db } = await open();
    await sql`create table counters (n integer)`.execute(db);
    await sql`insert into counters values (0)`.execute(db);
    const add = () =>
      db.transaction().execute(async trx => {
        const { rows } = await sql<{ n: number }>`select n from counters`.execute(trx);
        await new Promise(resolve => setImmediate(resolve));
        await sql`update counters set n = ${rows[0]!.n + 1}`.execute(trx);
      });
    const between: Promise<unknown>[] = [];
    for (let i = 0; i < 20; i++) between.push(add(), sql`select n from counters`.execute(db));
    await Promise.all(between);
    expect((await sql`select n from counters`.execute(db)).rows).toEqual([{ n: 20 }]);
  });

  it("leaves nothing of a transaction that throws, and goes on", async () => {
    const destination = await open();
    await fill(destination, 1);
    const failing = destination.db.transaction().execute(async trx => {
      await sql`update procurement.facts set fact = 2`.execute(trx);
      await sql`create table procurement.half (a integer)`.execute(trx);
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    const broken = destination.db.transaction().execute(async trx => {
      await sql`update procurement.facts set fact = 3`.execute(trx);
      await sql`select cast('x' as integer)`.execute(trx);
    });
    await expect(broken).rejects.toThrow("Could not convert string 'x'");
    expect(await factOf(destination)).toBe(1);
    const { rows } = await sql`select table_name from information_schema.tables where table_name = 'half'`.execute(
      destination.db,
    );
    expect(rows).toEqual([]);
    await setFact(destination, 4);
    expect(await factOf(destination)).toBe(4);
  });

  it.each([
    ["finds no room", "lose-log /dev/full", /No space left.* The disk is full/, 2],
    ["cannot be made durable", "lose-log /dev/null", /Could not fsync file.* See that the disk/, 2],
    ["can be read and not written", "lose-log /proc/version", /Could not write/, 2],
    ["is stored and cannot be moved into the file", "lose-file /dev/full", /COMMIT succeeded.* The disk is full/, 3],
  ])(
    "says what the disk did to a commit that %s, and the next session has what was committed",
    async (_, order, told, kept) => {
      const path = join(await temporaryFolder(), "w.duckdb");
      const first = await opened(settingsFor(path));
      await fill(first, 1);
      await first.close();
      const other = helper("writer.helper.ts", path);
      expect([await other.heard(), await other.ask("fact 2")]).toEqual(["held", "done"]);
      expect(await other.ask(order)).toBe("done");
      const said = await other.ask("fact 3");
      expect(said).toMatch(/^DestinationError 6: Expected to store a transaction in the warehouse file, but: /);
      expect(said).toMatch(told);
      await other.kill();
      expect(await factOf(await opened(settingsFor(path)))).toBe(kept);
    },
  );

  it("gives values back as the program knows them", async () => {
    const { db } = await open();
    const { rows } = await sql`select 7::bigint as small, 9007199254740993::bigint as large, sum(2) as total,
      count(*) as rows, 12345678901234567890123456789.123456789::decimal(38,9) as money, 1.5::double as score,
      timestamptz '2026-01-31 02:03:04.567891+00' as at, timestamptz '1969-12-31 23:59:59.9995+00' as before,
      date '2026-01-31' as day, '{"a": [1, null]}'::json as json, null::json as nothing, true as yes,
      [1::bigint, 2] as list, 'text' as text`.execute(db);
    expect(rows).toEqual([
      {
        small: 7,
        large: 9007199254740993n,
        total: 2,
        rows: 1,
        money: "12345678901234567890123456789.123456789",
        score: 1.5,
        at: new Date("2026-01-31T02:03:04.567Z"),
        before: new Date("1969-12-31T23:59:59.999Z"),
        day: "2026-01-31",
        json: { a: [1, null] },
        nothing: null,
        yes: true,
        list: [1, 2],
        text: "text",
      },
    ]);
  });

  it("takes values as the program gives them, and counts what a statement changed", async () => {
    const { db } = await open();
    await sql`create table taken (t varchar, i bigint, d double, m decimal(38,9), b boolean, "at" timestamptz, j json)`.execute(
      db,
    );
    const insert = (values: unknown[]) => sql`insert into taken values (${sql.join(values)})`.execute(db);
    const at = new Date("2026-01-31T02:03:04.005Z");
    const moment = "2026-01-31T02:03:04.000005Z";
    expect((await insert(["ü'\"", 5, 0.1, "12345678901234567890.1", true, at, '{"a":1}'])).numAffectedRows).toBe(1n);
    await insert([null, 2n ** 62n, 3, 4, false, moment, null]);
    const { rows } = await sql`select * from taken order by i`.execute(db);
    expect(rows).toEqual([
      { t: "ü'\"", i: 5, d: 0.1, m: "12345678901234567890.100000000", b: true, at, j: { a: 1 } },
      { t: null, i: 2n ** 62n, d: 3, m: "4.000000000", b: false, at: new Date("2026-01-31T02:03:04Z"), j: null },
    ]);
    expect((await sql`update taken set b = true`.execute(db)).numAffectedRows).toBe(2n);
    expect(
      (await sql`select count(*) as n from taken where "at" > ${"2026-01-31T02:03:04.001Z"} and i = ${5}`.execute(db))
        .rows,
    ).toEqual([{ n: 1 }]);
    await expect(insert([{ not: "a value" }])).rejects.toThrow("JSON is passed as its text");
  });

  it("knows its own tables in the state schema, and time in UTC", async () => {
    const destination = await open();
    await fill(destination, 1);
    await destination.db.insertInto("warehouse").values({ key: "version", value: '"1"' }).execute();
    expect(await destination.db.selectFrom("warehouse").select("value").where("key", "=", "version").execute()).toEqual(
      [{ value: "1" }],
    );
    expect((await sql`select timestamptz '2026-07-01 12:00:00+02'::varchar as t`.execute(destination.db)).rows).toEqual(
      [{ t: "2026-07-01 10:00:00+00" }],
    );
  });

  it("downloads no extension", async () => {
    const { db } = await open();
    await expect(sql`select * from read_xlsx('x.xlsx')`.execute(db)).rejects.toThrow();
    const { rows } = await sql`select name, value from duckdb_settings() where name like 'auto%_known_extensions'
      order by name`.execute(db);
    expect(rows.map(row => (row as { value: unknown }).value)).toEqual(["false", "false"]);
  });

  it("refuses to be used once closed", async () => {
    const destination = await open();
    await destination.close();
    await expect(sql`select 1`.execute(destination.db)).rejects.toThrow("closed");
  });
});
