import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { startSimulator } from "../../simulator/simulator.ts";
import { type Question, takeAnswer, useSchemas } from "../../src/operations/query.ts";
import { openReading } from "../../src/warehouse/connect/reading.ts";
import { whereIs } from "../outputs/export/exporting.ts";
import { stillClock } from "../support/clock.ts";
import { bench } from "../support/run.ts";
import { type Warehouse, warehouses } from "../support/warehouse.ts";

const EXACT = "12345678901234567890123456789.123456789";

type Asked = (text: string, more?: Partial<Question>, signal?: AbortSignal) => Promise<string>;

/** A small warehouse, and what asks it. */
async function loaded(make: () => Promise<Warehouse>): Promise<Asked> {
  const clock = stillClock();
  const simulator = await startSimulator({ sizes: { orders: 3 }, now: clock.date });
  const warehouse = await make();
  await bench({ simulator, warehouse, clock, config: { views: true } }).sync({ names: ["purchase_orders"] });
  await simulator.close();
  const reading = (await openReading(whereIs(warehouse)))!;
  onTestFinished(() => reading.close());
  await useSchemas(reading);
  return async (text, more = {}, signal = new AbortController().signal) => {
    const pieces: Buffer[] = [];
    await takeAnswer(reading, { text, format: "csv", most: undefined, ...more }, signal, async piece => {
      pieces.push(Buffer.from(piece));
    });
    return Buffer.concat(pieces).toString();
  };
}

describe.each(warehouses)("a query in $name", ({ name, make }) => {
  test("tables, models and state are found without their schemas", async () => {
    const asked = await loaded(make);
    expect(await asked("select count(*) as n from purchase_orders")).toBe("n\n3\n");
    expect(await asked("select count(*) > 0 as there from dim_dates")).toMatch(/^there\nt(rue)?\n$/);
    expect(await asked("select count(*) as n from runs")).toBe("n\n1\n");
  });

  test("values come whole, NULL is told from an empty text, comments and a semicolon at the end do no harm", async () => {
    const asked = await loaded(make);
    const text = `select cast('${EXACT}' as decimal(38, 9)) as a, '' as b, cast(null as text) as c, 'x, "y"' as d -- all`;
    expect(await asked(text)).toBe(`a,b,c,d\n${EXACT},"",,"x, ""y"""\n`);
    expect(await asked("select 1 as a;\n")).toBe("a\n1\n");
    const line = await asked(text, { format: "json" });
    expect(line).toContain(`"a":${EXACT}`);
    expect(JSON.parse(line)).toMatchObject({ b: "", c: null, d: 'x, "y"' });
  });

  test("the order is the query's, and no more rows come than are wanted", async () => {
    const asked = await loaded(make);
    const text = "select po_number from purchase_orders order by po_number desc";
    expect(await asked(text)).toBe("po_number\nPO-3\nPO-2\nPO-1\n");
    expect(await asked(text, { most: 2 })).toBe("po_number\nPO-3\nPO-2\n");
  });

  test("what is no query is refused with what the database says", async () => {
    const asked = await loaded(make);
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

  test("it is cancelled soon, and the next one is answered", async () => {
    const asked = await loaded(make);
    const stop = new AbortController();
    const endless =
      name === "duckdb"
        ? "select sum(a.range * b.range) from range(10000000) a, range(10000000) b"
        : "select pg_sleep(600)";
    const began = expect(asked(endless, {}, stop.signal)).rejects.toThrow("enough");
    await sleep(300);
    stop.abort(new Error("enough"));
    await began;
    expect(await asked("select 1 as a")).toBe("a\n1\n");
  });
});

test("no query makes a later one writable", async () => {
  const asked = await loaded(warehouses.find(({ name }) => name === "postgres")!.make);
  await asked("select set_config('default_transaction_read_only', 'off', false)");
  await expect(asked("select lo_create(0)")).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringContaining("read-only transaction"),
  });
});
