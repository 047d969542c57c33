import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Table } from "../../src/catalog/columns.ts";
import { lookupOf } from "../../src/catalog/lookup.ts";
import type { Stream } from "../../src/catalog/stream.ts";
import { streams } from "../../streams/index.ts";
import { gone, inFeed, profile } from "./rows.ts";
import { type ModelWarehouse, modelWarehouses, type Row } from "./warehouse.ts";

const order = (po_number: string, more: Row = {}): Row => ({ po_number, is_open: true, ...more });

const rows = {
  company_profile: [
    { observed_on: "2026-03-13", company_id: "1", company_name: "Acme", base_currency: "SEK" },
    profile("nok"),
    { _company: "beta", observed_on: "2026-03-14", company_id: "2", company_name: "Beta", base_currency: null },
  ],
  purchase_orders: [
    order("in full", { list_currency_code: "USD" }),
    order("blank in full", { list_currency_code: "usd" }),
    order("not in full", { list_currency_code: "USD" }),
    order("nowhere"),
    order("gone", { list_currency_code: "USD", _deleted_at: gone }),
    order("in full", { _company: "beta" }),
  ],
  purchase_order_details: [
    order("in full", { currency_code: " eur " }),
    order("blank in full", { currency_code: " " }),
    order("nowhere"),
    order("in full", { _company: "beta", currency_code: "CHF" }),
  ],
  purchase_order_price_moves: [
    { po_number: "in full", _index: 0, currency: "JPY" },
    { po_number: "in full", _index: 1, currency: null },
    { po_number: "blank in full", _index: 0, currency: null },
  ],
  invoices: [
    { doc_id: "in feed", matched_po_number: "in full" },
    { doc_id: "null in feed", matched_po_number: "in full" },
    { doc_id: "two in feed", matched_po_number: "in full" },
    { doc_id: "one twice in feed" },
    { doc_id: "matched with nothing", matched_po_number: "no such order" },
    { doc_id: "in feed", _company: "beta" },
    { doc_id: "matched", _company: "beta", matched_po_number: "in full" },
  ],
  ingested: [
    inFeed("in feed", "GBP"),
    inFeed("null in feed", null),
    inFeed("two in feed", "GBP"),
    inFeed("two in feed", "USD", { row_type: "email" }),
    inFeed("one twice in feed", "gbp"),
    inFeed("one twice in feed", "GBP ", { row_type: "email" }),
    inFeed("one twice in feed", null, { row_type: "import" }),
  ],
  contracts: [{ contract_id: "c" }, { contract_id: "c", _company: "beta" }],
};

describe.each(modelWarehouses)("$name", ({ make }) => {
  let warehouse: ModelWarehouse;
  let bare: ModelWarehouse;
  beforeAll(async () => {
    warehouse = await make({ rows });
    bare = await make({ rows: { invoices: [{ doc_id: "a" }], items: [{ item_id: "b", currency_code: "EUR" }] } });
  });
  afterAll(async () => {
    await warehouse.drop();
    await bare.drop();
  });

  const decided = async (of: ModelWarehouse, table: string) =>
    (
      await of.query(
        `select * from procurement_analytics.amount_currencies where table_name = '${table}' order by _company, row_key, row_index`,
      )
    ).map(row => [row["_company"], row["row_key"], row["row_index"], row["currency_code"], row["currency_source"]]);

  test("an order's currency stands in its details, else beside the list, else it is the company's", async () => {
    expect(await decided(warehouse, "purchase_orders")).toEqual([
      ["acme", "blank in full", null, "USD", "list"],
      ["acme", "in full", null, "EUR", "order"],
      ["acme", "not in full", null, "USD", "list"],
      ["acme", "nowhere", null, "NOK", "company"],
      ["beta", "in full", null, "CHF", "order"],
    ]);
    expect(await decided(warehouse, "purchase_order_line_items")).toEqual([
      ["acme", "blank in full", null, "USD", "list"],
      ["acme", "in full", null, "EUR", "order"],
      ["acme", "nowhere", null, "NOK", "company"],
      ["beta", "in full", null, "CHF", "order"],
    ]);
  });

  test("a row's own currency goes before its order's, row by row", async () => {
    expect(await decided(warehouse, "purchase_order_price_moves")).toEqual([
      ["acme", "blank in full", 0, "USD", "list"],
      ["acme", "in full", 0, "JPY", "row"],
      ["acme", "in full", 1, "EUR", "order"],
    ]);
  });

  test("an invoice's currency stands in the feed where all rows of its id agree, else on its order; each invoice has one row", async () => {
    expect(await decided(warehouse, "invoices")).toEqual([
      ["acme", "in feed", null, "GBP", "feed"],
      ["acme", "matched with nothing", null, "NOK", "company"],
      ["acme", "null in feed", null, "EUR", "order"],
      ["acme", "one twice in feed", null, "GBP", "feed"],
      ["acme", "two in feed", null, "EUR", "order"],
      ["beta", "in feed", null, null, "unknown"],
      ["beta", "matched", null, "CHF", "order"],
    ]);
  });

  test("what nobody gives is the company's on its latest day, or unknown", async () => {
    expect(await decided(warehouse, "contracts")).toEqual([
      ["acme", "c", null, "NOK", "company"],
      ["beta", "c", null, null, "unknown"],
    ]);
  });

  test("streams that are off only leave their currencies out", async () => {
    expect(await bare.model("amount_currencies", "table_name")).toEqual([
      {
        _company: "acme",
        table_name: "invoices",
        row_key: "a",
        row_index: null,
        currency_code: null,
        currency_source: "unknown",
      },
      {
        _company: "acme",
        table_name: "items",
        row_key: "b",
        row_index: null,
        currency_code: "EUR",
        currency_source: "row",
      },
    ]);
  });

  test("a query for one table reads no other's rows", async () => {
    const plan = await warehouse.explain(
      "select * from procurement_analytics.amount_currencies where table_name = 'contracts'",
    );
    expect(plan).toContain("contracts");
    expect(plan).not.toMatch(/invoices|ingested|purchase_order/);
  });
});

/** Asked for at dates of the configuration, and prices of a region in a currency that nobody names. */
const leftOut = ["vendor_orders_as_of", "diesel_prices"];
const lists = streams.filter(stream => stream.mode.kind !== "snapshot" && lookupOf(stream) === undefined);
const tablesOf = ({ tables }: Stream) => [tables.main, ...tables.children];
const moneyTables = lists
  .flatMap(tablesOf)
  .filter(({ name }) => !leftOut.includes(name))
  .filter(({ columns }) => columns.some(({ currency }) => currency !== undefined && currency.in !== "name"));

// One row a table, every key "k", and another currency in each place where one can stand.
const currencyIn = ({ name }: Pick<Table, "name">) =>
  ({ purchase_order_details: "EUR", ingested: "GBP" })[name] ?? "CHF";

function onlyRow(table: Table): Row {
  const row: Record<string, string | number> = {};
  for (const { name, kind } of table.columns) {
    if (name === "list_currency_code") row[name] = "USD";
    else if (/^currency(_code)?$/.test(name)) row[name] = currencyIn(table);
    else if (name === "_index") row[name] = 0;
    else if (kind === "id" || table.key.includes(name)) row[name] = "k";
  }
  return row;
}

/** Where the schema says that the table's currency stands, in the model's words; undefined where it says that it is not given. */
function documented(table: Table): string | undefined {
  const places = table.columns.flatMap(({ currency }) => currency ?? []);
  const elsewhere = places.find(place => place.in === "table");
  if (elsewhere?.table === "purchase_order_details") return "order EUR";
  if (elsewhere?.table === "ingested") return "feed GBP";
  if (elsewhere !== undefined) return "row CHF";
  const own = places.find(place => place.in === "row");
  if (own === undefined) return undefined;
  return own.column === "list_currency_code" ? "list USD" : `row ${currencyIn(table)}`;
}

test("the table of every list and detail with money is decided on, by what its schema says", async () => {
  const names = ["purchase_orders", "invoices", "items", "findings", ...moneyTables.map(({ name }) => name)];
  const tables = lists.map(tablesOf).filter(set => set.some(({ name }) => names.includes(name)));
  const given = {
    company_profile: [profile("JPY")],
    ...Object.fromEntries(tables.flat().map(table => [table.name, [onlyRow(table)]])),
  };
  // Both databases have the same answers over every table (all/everything.test.ts); DuckDB takes five times as long to plan.
  const postgres = modelWarehouses.find(({ name }) => name === "postgres")!;
  const warehouse = await postgres.make({ rows: given });
  const found = await warehouse.model("amount_currencies", "table_name").finally(() => warehouse.drop());
  expect(
    found.map(line => line["table_name"]),
    "tables with money: give each a `-- with <table>` block in models/amount_currencies.sql and name it in the `-- optional:` line there",
  ).toEqual(["findings", ...moneyTables.map(({ name }) => name)].sort());
  for (const table of moneyTables) {
    const line = found.find(candidate => candidate["table_name"] === table.name)!;
    const source = `${line["currency_source"]} ${line["currency_code"]}`;
    const place = `${table.name}: its block in models/amount_currencies.sql against the currency in its schema`;
    expect(source, place).toEqual(documented(table) ?? expect.stringMatching(/^(feed GBP|company JPY)$/));
    expect(line["row_key"], place).toBe(table.name === "ingested" ? "k/k" : "k");
  }
});
