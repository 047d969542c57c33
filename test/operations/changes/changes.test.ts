import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type ChangedBatch,
  type ChangesOrder,
  type ChangesState,
  noChangesRead,
  parseChangesState,
  requireOwnState,
  takeChanges,
} from "../../../src/operations/changes/changes.ts";
import { streams } from "../../../streams/index.ts";
import { type ModelWarehouse, modelWarehouses } from "../../models/warehouse.ts";

type Rec = Readonly<Record<string, unknown>>;

const FIRST = "2026-03-01T00:00:00Z";
const LATER = "2026-03-02T00:00:00Z";
const MANY = 90_000;

const rows = {
  purchase_orders: [
    { po_number: "P-1", total_amount: "12345678901234567890123456789.123456789", is_open: true },
    { po_number: "P-ä \"2'\\", vendor_name: "one\ntwo", po_date: "2026-02-28" },
    { po_number: "P-3", _company: "beta" },
  ],
  purchase_order_details: [{ po_number: "P-1" }],
  purchase_order_line_items: [0, 1, 2, 10, 9].map(_index => ({ po_number: "P-1", _index, qty_ordered: "1.5" })),
};

describe.each(modelWarehouses)("changes of tables in $name", ({ make, name }) => {
  let warehouse: ModelWarehouse;
  beforeAll(async () => {
    warehouse = await make({ rows });
    for (const table of Object.keys(rows))
      await warehouse.query(`update procurement.${table} set _changed_at = timestamptz '${FIRST}'`);
  });
  afterAll(() => warehouse.drop());

  const order = (more: Partial<ChangesOrder> = {}): ChangesOrder => ({
    catalogue: streams,
    streams: new Set(["purchase_orders", "purchase_order_details"]),
    companies: ["acme"],
    state: noChangesRead,
    format: { decimals: "text", around: ({ name: table }) => [`{"table":"${table}","record":`, "}"] },
    ...more,
  });

  const take = async (more: Partial<ChangesOrder> = {}) => {
    const batches: ChangedBatch[] = [];
    await takeChanges(warehouse.reading, order(more), new AbortController().signal, async batch => {
      batches.push({ ...batch, lines: Buffer.from(batch.lines) });
    });
    const read = batches.flatMap(({ lines }) => lines.toString().trimEnd().split("\n")).map(line => JSON.parse(line));
    expect(batches.reduce((sum, batch) => sum + batch.rows, 0)).toBe(read.length);
    return { read: read as { table: string; record: Rec }[], state: batches.at(-1)?.state ?? noChangesRead };
  };

  test("rows come with all that they hold, children after their parents, in the order of their keys", async () => {
    const { read } = await take();
    const lines = read
      .filter(({ table }) => table === "purchase_order_line_items")
      .map(({ record }) => record["_index"]);
    expect(lines).toEqual([0, 1, 2, 9, 10]);
    expect(read.map(({ table }) => table).slice(0, 3)).toEqual([
      "purchase_orders",
      "purchase_orders",
      "purchase_order_details",
    ]);
    expect(read[0]!.record).toMatchObject({
      _company: "acme",
      po_number: "P-1",
      total_amount: "12345678901234567890123456789.123456789",
      is_open: true,
      vendor_name: null,
      _changed_at: "2026-03-01T00:00:00.000000Z",
      _deleted_at: null,
    });
    expect(read[1]!.record).toMatchObject({ po_number: "P-ä \"2'\\", vendor_name: "one\ntwo", po_date: "2026-02-28" });
    const { rows: columns } = { rows: await warehouse.query("select * from procurement.purchase_orders limit 1") };
    expect(Object.keys(read[0]!.record)).toEqual(Object.keys(columns[0]!));
  });

  test("of some tables only those that are asked for come, and each batch says whose rows it holds", async () => {
    const seen: string[] = [];
    const some = order({
      tables: new Set(["purchase_order_line_items", "purchase_orders"]),
      companies: ["acme", "beta"],
    });
    await takeChanges(warehouse.reading, some, new AbortController().signal, async ({ table, company, rows: n }) => {
      seen.push(`${table} ${company} ${n}`);
    });
    expect(seen).toEqual(["purchase_orders acme 2", "purchase_orders beta 1", "purchase_order_line_items acme 5"]);
  });

  test("a state whose row the table cannot have is refused, and nothing is written", async () => {
    const at = (table: string, key: string[], changed_at = FIRST) =>
      parseChangesState(
        JSON.stringify({ version: 1, companies: { acme: { [table]: { changed_at, key } } } }),
        "read.json",
      );
    const lines = "purchase_order_line_items";
    for (const [table, key] of [
      ["purchase_orders", ["P-1", "1"]],
      [lines, ["P-1"]],
      [lines, ["P-1", "first"]],
      [lines, ["P-1", "9223372036854775808"]],
    ] as const) {
      const seen: string[] = [];
      const asked = order({ state: at(table, [...key]) });
      const taken = takeChanges(warehouse.reading, asked, new AbortController().signal, async batch => {
        seen.push(batch.table);
      });
      await expect(taken).rejects.toMatchObject({
        exitCode: 2,
        message: expect.stringContaining(`Expected in the state of ${table} a row by its key (po_number`),
      });
      expect(seen).toEqual([]);
    }
    expect((await take({ state: at(lines, ["P-1", "2"]) })).read.filter(({ table }) => table === lines)).toHaveLength(
      2,
    );
    const largest = at(lines, ["P-1", "9223372036854775807"]);
    expect((await take({ state: largest })).read.filter(({ table }) => table === lines)).toEqual([]);
    expect(() => at("purchase_orders", ["P-1"], "yesterday")).toThrow("Expected in read.json a state");
  });

  test("with the number beside, decimals are exact too", async () => {
    const around = order().format.around;
    const { read } = await take({ format: { decimals: "beside", around } });
    expect(read[0]!.record).toMatchObject({
      total_amount: 1.2345678901234568e28,
      total_amount_exact: "12345678901234567890123456789.123456789",
    });
  });

  test("every decimal is exact: with all digits, and without zeros at the end", async () => {
    const whole = [
      "0",
      "1",
      "10",
      "899999999",
      "900000000",
      "999999999",
      "1000000000",
      "99999999999999999999999999999",
    ];
    const parts = [
      "",
      ...["5", "05", "105", "1005", "10005", "100005", "1000005", "10000005", "100000005", "999999999"],
    ];
    const decimals = whole.flatMap(digits => parts.map(part => (part === "" ? digits : `${digits}.${part}`)));
    const signed = decimals.flatMap(decimal => (decimal === "0" ? [decimal] : [decimal, `-${decimal}`]));
    const lines = signed.map(
      (decimal, at) => `('exact', '${1000 + at}', ${decimal}, timestamptz '${FIRST}', timestamptz '${FIRST}')`,
    );
    await warehouse.query(
      `insert into procurement.purchase_orders (_company, po_number, total_amount, _changed_at, _first_seen_at) values ${lines}`,
    );
    const companies = ["exact"];
    const { read } = await take({ companies });
    expect(read.map(({ record }) => record["total_amount"])).toEqual(signed);
    const beside = await take({ companies, format: { decimals: "beside", around: order().format.around } });
    expect(beside.read.map(({ record }) => record["total_amount_exact"])).toEqual(signed);
    expect(beside.read.map(({ record }) => record["total_amount"])).toEqual(signed.map(Number));
    await warehouse.query("delete from procurement.purchase_orders where _company = 'exact'");
  });

  test("reading goes on behind any row", async () => {
    const { read } = await take();
    for (const [at, { table, record }] of read.entries()) {
      const key = table === "purchase_order_line_items" ? ["po_number", "_index"] : ["po_number"];
      const tables = ["purchase_orders", "purchase_order_details", "purchase_order_line_items"];
      const whole = { changed_at: LATER, key: [] };
      const state: ChangesState = {
        ...noChangesRead,
        companies: {
          acme: {
            ...Object.fromEntries(tables.slice(0, tables.indexOf(table)).map(done => [done, whole])),
            [table]: { changed_at: String(record["_changed_at"]), key: key.map(column => String(record[column])) },
          },
        },
      };
      const rest = (await take({ state })).read;
      expect(rest).toEqual(read.slice(at + 1));
    }
  });

  test("afterwards only what changed comes, soft deletes as such, and nothing twice", async () => {
    const { state } = await take();
    expect((await take({ state })).read).toEqual([]);
    await warehouse.query(
      `update procurement.purchase_orders set _changed_at = timestamptz '${LATER}', _deleted_at = timestamptz '${LATER}' where po_number = 'P-1'`,
    );
    const next = await take({ state: parseChangesState(JSON.stringify(state), "a file") });
    expect(next.read.map(({ record }) => [record["po_number"], record["_deleted_at"]])).toEqual([
      ["P-1", "2026-03-02T00:00:00.000000Z"],
    ]);
    expect((await take({ state: next.state })).read).toEqual([]);
    // Another company's rows were never asked for.
    expect(
      (await take({ state: next.state, companies: ["acme", "beta"] })).read.map(({ record }) => record["_company"]),
    ).toEqual(["beta"]);
  });

  test("many rows come whole and in order, and the reader stops where it is told to", async () => {
    const key =
      name === "postgres" ? "cast(i::bigint * 7919 % 100003 as varchar)" : "cast(i * 7919 % 100003 as varchar)";
    await warehouse.query(
      `insert into procurement.purchase_orders (_company, po_number, _changed_at, _first_seen_at)
       select 'many', ${key}, timestamptz '${FIRST}', timestamptz '${FIRST}' from generate_series(1, ${MANY}) t(i)`,
    );
    const keys: string[] = [];
    const moments: string[] = [];
    const stop = new AbortController();
    let { state }: { state: ChangesState } = { state: noChangesRead };
    const take = async ({ lines, state: behind }: ChangedBatch) => {
      for (const line of lines.toString().trimEnd().split("\n")) {
        const { record } = JSON.parse(line) as { record: Rec };
        keys.push(String(record["po_number"]));
        moments.push(String(record["_changed_at"]));
      }
      state = behind;
      if (keys.length > MANY / 3) stop.abort(new Error("enough"));
    };
    const companies = ["many"];
    await expect(takeChanges(warehouse.reading, order({ companies }), stop.signal, take)).rejects.toThrow("enough");
    expect(keys.length).toBeLessThan(MANY);
    await takeChanges(warehouse.reading, order({ companies, state }), new AbortController().signal, take);
    expect(keys.length).toBe(MANY);
    expect(new Set(keys).size).toBe(MANY);
    const sorted = keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect(keys).toEqual(sorted);
    await warehouse.query("delete from procurement.purchase_orders where _company = 'many'");
  });
});

test("only a state that `read` wrote, the line with it, or {} is a state", () => {
  const companies = { acme: { items: { changed_at: FIRST, key: ["I-1"] } } };
  const state = { version: 1, companies };
  for (const [given, expected] of [
    [state, state],
    [{ state }, state],
    [{}, noChangesRead],
  ])
    expect(parseChangesState(JSON.stringify(given), "read.json")).toEqual(expected);
  for (const [text, got] of [
    ["", "undefined"],
    ["oops", "oops"],
    ["[]", "[]"],
    ["null", "null"],
    ['{"type":"STATE","value":{}}', "{type, value}"],
    ['{"state":{}}', "{state}"],
    ['{"version":2,"companies":{}}', "{version, companies}"],
    ['{"version":1,"companies":{"acme":{"t":{"key":1}}}}', "{version, companies}"],
  ] as const)
    expect(() => parseChangesState(text, "read.json")).toThrow(
      expect.objectContaining({ code: "changes.unreadable_state", exitCode: 2, fields: { from: "read.json", got } }),
    );
});

test("a state of other companies only is refused, and one of some of the companies is not", () => {
  const state = { ...noChangesRead, companies: { beta: {}, gamma: {} } };
  expect(() => requireOwnState(state, ["acme"])).toThrow(
    expect.objectContaining({
      code: "changes.state_of_others",
      fields: { companies: ["acme"], got: ["beta", "gamma"] },
    }),
  );
  requireOwnState(state, ["acme", "beta"]);
  requireOwnState(noChangesRead, ["acme"]);
});
