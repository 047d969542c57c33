import { describe, expect, test } from "vitest";
import { lackingRates } from "../../src/sync/run/streams.ts";
import { StreamProgress } from "../../src/sync/stream_progress.ts";
import type { Destination } from "../../src/warehouse/destination.ts";
import { streams } from "../../streams/index.ts";
import { models } from "../support/models.ts";
import { passing } from "../support/warehouse.ts";
import { inFeed } from "./rows.ts";
import { type ModelWarehouse, modelWarehouses, suiteWarehouse } from "./warehouse.ts";

/** What says how much money, by its name. */
const MONEY = /(^|_)(amount|price|usd)$|^line_total$|^price_difference$|^extension_difference$|^spend_last_12_months$/;

// A weekend without rates, and nothing after the 4th of March but ten days without a file.
const rates = "date,currency,rate\n2026-01-02,USD,1.25\n2026-01-05,USD,1.6\n2026-03-10,USD,2\n2026-01-02,JPY,160";
const invoice = (doc_id: string, more: object) => ({ doc_id, vendor_id: "V1", doc_type: "Invoice", ...more });
const line = (doc_id: string, invoice_unit_price: string) => ({
  doc_id,
  _index: 0,
  buyer_part_number: "P",
  invoice_qty: "10",
  po_unit_price: "2",
  invoice_unit_price,
});
const rows = {
  invoices: [
    // Saturday: the Friday's rate, 100 / 1.25 = 80; tax 10 / 1.25 = 8.
    invoice("A", { document_date: "2026-01-03", total_amount: "100", tax_amount: "10" }),
    invoice("B", { document_date: "2026-01-05", total_amount: "100.01" }),
    // More than seven days after the last rate.
    invoice("C", { document_date: "2026-01-31", total_amount: "7" }),
    invoice("D", { document_date: "2026-01-05", total_amount: "-16" }),
    invoice("E", { document_date: "2026-01-06", total_amount: "50" }),
    invoice("F", { document_date: null, total_amount: "3" }),
    // No room in DuckDB's widest decimal once it is multiplied.
    invoice("G", { document_date: "2026-01-02", total_amount: "90000000000000000" }),
  ],
  invoice_line_items: [line("A", "3"), line("B", "4")],
  ingested: [..."ABCDEFG"].map(id => inFeed(id, { E: "EUR", G: "JPY" }[id] ?? "USD")),
  purchase_orders: [],
};

const coverage = (currency_code: string, counts: object, from: string | null = null, to: string | null = null) => ({
  ...{ _company: "acme", table_name: "invoices", currency_code, ...counts },
  ...{ unconverted_from: from, unconverted_to: to },
});

describe.each(modelWarehouses)("amounts in the reporting currency in $name", ({ make }) => {
  const warehouse = suiteWarehouse(() => make({ rows, currency: { report: "EUR", rates } }));

  test("each document by the rate of its date, exactly; what has none is counted", async () => {
    expect(
      await warehouse.query(`select currency_code, month, spend_amount, spend_amount_reported, tax_amount_reported,
        credit_amount_reported, unconverted_count, unconverted_amount from procurement_analytics.spend_by_vendor_month
        where spend_amount < 1000000 order by currency_code, month`),
    ).toEqual([
      // Its own currency needs no rate.
      {
        ...{ currency_code: "EUR", month: "2026-01-01", spend_amount: "50", spend_amount_reported: "50" },
        ...{ tax_amount_reported: null, credit_amount_reported: null, unconverted_count: 0, unconverted_amount: "0" },
      },
      // 80 + 100.01 / 1.6 = 62.50625; the credit of 16 is 10.
      {
        ...{ currency_code: "USD", month: "2026-01-01", spend_amount: "207.01", spend_amount_reported: "142.50625" },
        ...{ tax_amount_reported: "8", credit_amount_reported: "-10", unconverted_count: 1, unconverted_amount: "7" },
      },
      {
        ...{ currency_code: "USD", month: null, spend_amount: "3", spend_amount_reported: null },
        ...{ tax_amount_reported: null, credit_amount_reported: null, unconverted_count: 1, unconverted_amount: "3" },
      },
    ]);
  });

  test("prices: amounts of each day by its own rate", async () => {
    // 30 / 1.25 + 40 / 1.6 = 24 + 25; ordered for 20 / 1.25 + 20 / 1.6 = 16 + 12.5.
    expect(
      await warehouse.query(
        `select amount, amount_reported, average_price_reported, lowest_price_reported, highest_price_reported,
          order_variance_amount_reported, earlier_variance_amount_reported, unconverted_count
        from procurement_analytics.price_variance`,
      ),
    ).toEqual([
      {
        ...{ amount: "70", amount_reported: "49", average_price_reported: "2.45", lowest_price_reported: "2.4" },
        ...{ highest_price_reported: "2.5", order_variance_amount_reported: "20.5" },
        // 40 - 30, by the rate of the later day.
        ...{ earlier_variance_amount_reported: "6.25", unconverted_count: 0 },
      },
    ]);
  });

  test("what is still to be paid goes by today's rate", async () => {
    const [row] = await warehouse.query(
      `select due_amount, due_amount_reported from procurement_analytics.cash_requirements where currency_code = 'USD'`,
    );
    expect(row).toEqual({ due_amount: "210.01", due_amount_reported: "105.005" });
  });

  test("an amount for which a decimal has no room is null, and the query goes on", async () => {
    expect(
      await warehouse.query(
        `select currency_code, spend_amount_reported from procurement_analytics.spend_by_vendor_month where spend_amount > 1000000`,
      ),
    ).toEqual([{ currency_code: "JPY", spend_amount_reported: null }]);
  });

  test("the rows without a rate are counted by currency, with their days", async () => {
    expect(await warehouse.model("currency_coverage", "currency_code")).toEqual([
      coverage("EUR", { row_count: 1, unconverted_count: 0, unconverted_share: "0" }),
      // Multiplied it has no room in a decimal.
      coverage("JPY", { row_count: 1, unconverted_count: 1, unconverted_share: "1" }, "2026-01-02", "2026-01-02"),
      // A row without a day is one of them.
      coverage("USD", { row_count: 5, unconverted_count: 2, unconverted_share: "0.4" }, "2026-01-31", "2026-01-31"),
    ]);
  });

  /** A run's warnings; `changed`: it changed rows. */
  const warned = async (of: ModelWarehouse, changed: boolean, report = "EUR") => {
    const progress = new StreamProgress("2026-03-15T00:00:00Z");
    if (changed) progress.run.updated = 1;
    const errors: unknown[] = [];
    const currency = { report, rates: "rates.csv", base: undefined, maxAgeMs: 0 };
    const jobs = [{ company: "acme", stream: streams[0]!, progress }];
    const destination = of.reading as unknown as Destination;
    const found = await lackingRates({ order: { config: { currency, views: true } }, destination, jobs }, errors);
    expect(errors).toEqual([]);
    return found.map(({ code, fields }) => ({ code, ...fields }));
  };

  test("a run warns where more than 2 % of the rows have no rate, and until rows or rates change", async () => {
    const usd = { currency: "USD", rows: 5, unconverted: 2 };
    const lacking = [usd, { currency: "JPY", rows: 1, unconverted: 1 }];
    const warning = { code: "run.rates_lacking", report: "EUR", rows: 7, unconverted: 3, currencies: lacking };
    expect(await warned(warehouse, true)).toEqual([warning]);
    expect(await warned(warehouse, false)).toEqual([warning]);
    await warehouse.query("delete from _tributary.currency_factors where currency_code = 'USD'");
    expect(await warned(warehouse, false)).toEqual([warning]);
    const without = { ...warning, unconverted: 6, currencies: [{ ...usd, unconverted: 5 }, lacking[1]] };
    expect(await warned(warehouse, true)).toEqual([without]);
  });

  test("one row of fifty without a rate is no warning", async () => {
    const names = Array.from({ length: 50 }, (_, nth) => `K${nth}`);
    const few = await passing(
      make({
        currency: { report: "EUR", rates },
        rows: {
          invoices: names.map(id => invoice(id, { document_date: "2026-01-05", total_amount: "1" })),
          ingested: names.map(id => inFeed(id, id === "K0" ? "GBP" : "EUR")),
          purchase_orders: [],
        },
      }),
    );
    expect(await warned(few, true)).toEqual([]);
    await few.query("update procurement.ingested set currency_code = 'GBP' where id = 'K1'");
    expect(await warned(few, true)).toMatchObject([{ rows: 50, unconverted: 2 }]);
  });

  test("every column of money has its twin, and without a reporting currency they are there and empty", async () => {
    // What has no currency beside it is read by a model that has.
    const told = models.models.filter(model => model.columns.some(column => column.name === "currency_code"));
    const lacking = told.flatMap(model =>
      model.columns
        .map(column => column.name)
        .filter(
          column =>
            MONEY.test(column) &&
            !column.startsWith("unconverted_") &&
            !model.columns.some(other => other.name === `${column}_reported`),
        )
        .map(column => `${model.name}.${column}`),
    );
    expect(lacking).toEqual([]);
    const plain = await passing(make({ rows }));
    expect(
      await plain.query(
        `select count(*) as n, count(spend_amount_reported) as reported from procurement_analytics.spend_by_vendor_month`,
      ),
    ).toEqual([{ n: 4, reported: 0 }]);
  });
});
