import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DuckDBInstance } from "@duckdb/node-api";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { startSimulator } from "../../simulator/simulator.ts";
import type { ConfigError } from "../../src/errors.ts";
import { type Question, tablesQuery, takeAnswer, useSchemas, writeAnswer } from "../../src/operations/query.ts";
import { openReading, type WarehouseReading } from "../../src/warehouse/connect/reading.ts";
import { emptyFolder } from "../cli/process.ts";
import { whereIs } from "../outputs/export/exporting.ts";
import { stillClock } from "../support/clock.ts";
import { bench } from "../support/run.ts";
import { duckdbWarehouse, passing, postgresWarehouse, type Warehouse } from "../support/warehouse.ts";

const EXACT = "12345678901234567890123456789.123456789";

type Asked = (
  text: string,
  more?: Partial<Question & { format: "csv" | "json" }>,
  signal?: AbortSignal,
) => Promise<string>;

/** What asks a warehouse. */
async function loaded(warehouse: Warehouse, given?: WarehouseReading): Promise<Asked> {
  const reading = given ?? (await opened(warehouse));
  return async (text, more = {}, signal = new AbortController().signal) => {
    const pieces: Buffer[] = [];
    await takeAnswer(reading, { text, format: "csv", most: undefined, ...more }, signal, async piece => {
      pieces.push(Buffer.from(piece));
    });
    return Buffer.concat(pieces).toString();
  };
}

/** Loads a few orders. */
async function filled(warehouse: Warehouse, views = true): Promise<Warehouse> {
  const clock = stillClock();
  const simulator = await startSimulator({ sizes: { orders: 3 }, now: clock.date });
  await bench({ simulator, warehouse, clock, config: { views } }).sync({ names: ["purchase_orders"] });
  await simulator.close();
  return warehouse;
}

async function opened(warehouse: Warehouse): Promise<WarehouseReading> {
  const reading = (await openReading(whereIs(warehouse)))!;
  onTestFinished(() => reading.close());
  await useSchemas(reading);
  return reading;
}

const databases = [
  { name: "duckdb", make: () => duckdbWarehouse() },
  { name: "postgres", make: () => postgresWarehouse(inject("postgresUrl")) },
];

describe.each(databases)("a query in $name", ({ name, make }) => {
  let warehouse: Warehouse;
  beforeAll(async () => {
    warehouse = await filled(await make());
  });
  afterAll(() => warehouse.drop());

  test("tables, models and state are found without their schemas", async () => {
    const asked = await loaded(warehouse);
    expect(await asked("select count(*) as n from purchase_orders")).toBe("n\n3\n");
    expect(await asked("select count(*) > 0 as there from dim_dates")).toMatch(/^there\nt(rue)?\n$/);
    expect(await asked("select count(*) as n from runs")).toBe("n\n1\n");
  });

  test("without views, tables and state are found all the same", async () => {
    const reading = await opened(await filled(await passing(make()), false));
    const pieces: Buffer[] = [];
    const text = "select (select count(*) from purchase_orders) as orders, (select count(*) from runs) as runs";
    const question = { text, format: "csv", most: undefined } as const;
    await takeAnswer(reading, question, new AbortController().signal, async piece => {
      pieces.push(Buffer.from(piece));
    });
    expect(Buffer.concat(pieces).toString()).toBe("orders,runs\n3,1\n");
  });

  test("values come whole, NULL is told from an empty text, comments and a semicolon at the end do no harm", async () => {
    const asked = await loaded(warehouse);
    const text = `select cast('${EXACT}' as decimal(38, 9)) as a, '' as b, cast(null as text) as c, 'x, "y"' as d -- all`;
    expect(await asked(text)).toBe(`a,b,c,d\n${EXACT},"",,"x, ""y"""\n`);
    expect(await asked("select 1 as a;\n")).toBe("a\n1\n");
    const line = await asked(text, { format: "json" });
    expect(line).toContain(`"a":${EXACT}`);
    expect(JSON.parse(line)).toMatchObject({ b: "", c: null, d: 'x, "y"' });
  });

  test("the order is the query's, and no more rows come than are wanted", async () => {
    const asked = await loaded(warehouse);
    const text = "select po_number from purchase_orders order by po_number desc";
    expect(await asked(text)).toBe("po_number\nPO-3\nPO-2\nPO-1\n");
    expect(await asked(text, { most: 2 })).toBe("po_number\nPO-3\nPO-2\n");
  });

  test("what is no query is refused with what the database says", async () => {
    const asked = await loaded(warehouse);
    for (const text of [
      "select * from nowhere",
      "selec 1",
      "drop table purchase_orders",
      "delete from purchase_orders",
      "select 1) to 'x'; drop table purchase_orders; select (1",
      "select 1; select 2",
      "",
    ]) {
      await expect(asked(text), text).rejects.toMatchObject({ name: "ConfigError", exitCode: 2 });
      expect(await asked("select count(*) as n from purchase_orders")).toBe("n\n3\n");
    }
  });

  test("a text that ends the statement around it brings no statement of its own", async () => {
    const asked = await loaded(warehouse);
    const folder = emptyFolder();
    const file = name === "duckdb" ? `'${join(folder, "x.csv")}'` : "stdout";
    const writing =
      name === "duckdb"
        ? `copy (select 1) to '${join(folder, "y.csv")}'`
        : "begin read write; create table runs_as_well (); commit";
    for (const text of [
      `select 1) a) to ${file}; commit; ${writing}; copy (select * from (select 2`,
      `select 1) a; commit; ${writing}; select * from (select 2`,
      `select 1) a) whole; commit; ${writing}; select from (select 1) own, (select * from (select 2`,
      `select 1) a) to ${file} --`,
    ]) {
      for (const most of [undefined, 5])
        await expect(asked(text, { most }), text).rejects.toMatchObject({ code: "query.refused" });
    }
    expect(readdirSync(folder)).toEqual([]);
    const made = "select count(*) as n from information_schema.tables where table_name = 'runs_as_well'";
    expect(await asked(made)).toBe("n\n0\n");
  });

  test("a mistake is shown in the query's own lines, and nothing of what stands around it", async () => {
    const reading = await opened(warehouse);
    const asked = await loaded(warehouse, reading);
    const shown = async (text: string, more: Parameters<Asked>[1] = {}) => {
      const error = (await asked(text, more).catch(error => error)) as ConfigError;
      expect(error).toMatchObject({ code: "query.refused", exitCode: 2 });
      expect(String(error.fields["reason"])).not.toMatch(/answer|copy|limit/i);
      return error.message.split("\n").slice(-2);
    };
    for (const more of [{}, { most: 101 }, { format: "json" as const }]) {
      expect(await shown("select nothing_like_it from purchase_orders", more)).toEqual([
        "LINE 1: select nothing_like_it from purchase_orders",
        "               ^",
      ]);
      expect(await shown("-- ä 😀\nselect 1,\n  wrong_name + 1;", more)).toEqual([
        "LINE 3:   wrong_name + 1",
        "          ^",
      ]);
    }
    for (const text of ["select * from", "select 'open", "select (1", ""]) await shown(text);
    expect(await shown("select * from")).toEqual(["LINE 1: select * from", "                     ^"]);
    const { signal } = new AbortController();
    const file = join(emptyFolder(), "answer.parquet");
    await expect(writeAnswer(reading, { text: "select wrong", most: undefined }, file, signal)).rejects.toMatchObject({
      message: expect.stringMatching(/\nLINE 1: select wrong\n {15}\^$/),
    });
  });

  test("a statement that writes is not taken for a mistake: query only reads", async () => {
    const asked = await loaded(warehouse);
    for (const text of ["insert into purchase_orders values (1)", "-- x\n/* y */ DROP table purchase_orders"])
      await expect(asked(text), text).rejects.toMatchObject({
        ...{ code: "query.reads_only", exitCode: 2 },
        fields: { statement: /insert|drop/i.exec(text)![0].toLowerCase() },
      });
  });

  test("tables and views are listed with their rows", async () => {
    const reading = await opened(warehouse);
    const asked = await loaded(warehouse, reading);
    const listing = await tablesQuery(reading, new AbortController().signal);
    const lines = (await asked(listing)).split("\n");
    expect(lines[0]).toBe("schema,name,type,rows");
    expect(lines).toContain("procurement,purchase_orders,table,3");
    const views = lines.filter(line => line.startsWith("procurement_analytics,"));
    expect(views.filter(line => !/^procurement_analytics,\w+,(view|table),\d+$/.test(line))).toEqual([]);
    expect(views.length).toBeGreaterThan(5);
  });

  test("an answer becomes one Parquet file with types of its own, or none at all", async () => {
    const reading = await opened(warehouse);
    const folder = emptyFolder();
    const file = join(folder, "new/answer.parquet");
    const text =
      `select po_number, cast('${EXACT}' as decimal(38, 9)) as amount, cast(null as boolean) as nothing, cast(2 as bigint) as two,
      date '2026-03-01' as day, timestamptz '2026-03-01 10:00:00+00' as moment, '' as empty, cast(0.5 as double precision) as half
      from purchase_orders order by po_number desc; -- all`.replace("; -- all", " -- all\n;");
    const { signal } = new AbortController();
    expect(await writeAnswer(reading, { text, most: 2 }, file, signal)).toBe(2);
    const amounts = { amount: [EXACT, "DECIMAL(38,9)"], nothing: [null, "BOOLEAN"], two: ["2", "BIGINT"] };
    const others = { empty: ["", "VARCHAR"], half: ["0.5", "DOUBLE"] };
    const moment = ["2026-03-01 10:00:00+00", "TIMESTAMP WITH TIME ZONE"];
    const last = { ...amounts, day: ["2026-03-01", "DATE"], moment, ...others };
    expect(await parquetRows(file)).toEqual(["PO-3", "PO-2"].map(po => ({ po_number: [po, "VARCHAR"], ...last })));
    expect(await writeAnswer(reading, { text: "select 1 as a where false", most: undefined }, file, signal)).toBe(0);
    await expect(writeAnswer(reading, { text: "select wrong", most: undefined }, file, signal)).rejects.toMatchObject({
      ...{ name: "ConfigError", message: expect.stringContaining("one query that the database can answer") },
    });
    await expect(writeAnswer(reading, { text: "select 1", most: 1 }, join(file, "below"), signal)).rejects.toThrow(
      "could not be written (ENOTDIR)",
    );
    expect(readdirSync(join(folder, "new"))).toEqual(["answer.parquet"]);
  });

  test("it is cancelled soon, and the next one is answered", async () => {
    const asked = await loaded(warehouse);
    const stop = new AbortController();
    const endless =
      name === "postgres"
        ? "select pg_sleep(600)"
        : "select sum(a.range * b.range) from range(10000000) a, range(10000000) b";
    const began = expect(asked(endless, {}, stop.signal)).rejects.toThrow("enough");
    await sleep(300);
    stop.abort(new Error("enough"));
    await began;
    expect(await asked("select 1 as a")).toBe("a\n1\n");
  });

  if (name === "postgres")
    test("no query makes a later one writable", async () => {
      const asked = await loaded(warehouse);
      await asked("select set_config('default_transaction_read_only', 'off', false)");
      await expect(asked("select lo_create(0)")).rejects.toMatchObject({
        exitCode: 2,
        message: expect.stringContaining("read-only transaction"),
      });
    });
});

/** Each value as text, and its type. */
async function parquetRows(file: string): Promise<readonly Record<string, unknown>[]> {
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  try {
    const from = `from read_parquet('${file.replaceAll("'", "''")}')`;
    const described = await connection.runAndReadAll(
      `select column_name, column_type from (describe select * ${from})`,
    );
    const types = new Map(described.getRows().map(([name, type]) => [String(name), type]));
    const rows = (await connection.runAndReadAll(`select columns(*)::varchar ${from}`)).getRowObjects();
    return rows.map(row =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, [value, types.get(name)]])),
    );
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}
