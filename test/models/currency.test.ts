import { describe, expect, test } from "vitest";
import { models } from "../support/models.ts";
import { passing } from "../support/warehouse.ts";
import { inFeed } from "./rows.ts";
import { modelWarehouses, suiteWarehouse } from "./warehouse.ts";

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

describe.each(modelWarehouses)("amounts in the reporting currency in $name", ({ make }) => {
  const warehouse = suiteWarehouse(() => make({ rows, currency: { report: "EUR", rates } }));

  test("each document by the rate of its date, exactly; what has none is counted", async () => {
    expect(
      await warehouse.query(`select currency_code, month, spend_amount, spend_amount_reported, tax_amount_reported,
        credit_amount_reported, unconverted_count from procurement_analytics.spend_by_vendor_month
        where spend_amount < 1000000 order by currency_code, month`),
    ).toEqual([
      // Its own currency needs no rate.
      {
        ...{ currency_code: "EUR", month: "2026-01-01", spend_amount: "50", spend_amount_reported: "50" },
        ...{ tax_amount_reported: null, credit_amount_reported: null, unconverted_count: 0 },
      },
      // 80 + 100.01 / 1.6 = 62.50625; the credit of 16 is 10.
      {
        ...{ currency_code: "USD", month: "2026-01-01", spend_amount: "207.01", spend_amount_reported: "142.50625" },
        ...{ tax_amount_reported: "8", credit_amount_reported: "-10", unconverted_count: 1 },
      },
      {
        ...{ currency_code: "USD", month: null, spend_amount: "3", spend_amount_reported: null },
        ...{ tax_amount_reported: null, credit_amount_reported: null, unconverted_count: 1 },
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

  test("every column of money has its twin, and without a reporting currency they are there and empty", async () => {
    // What has no currency beside it is read by a model that has.
    const told = models.models.filter(model => model.columns.some(column => column.name === "currency_code"));
    const lacking = told.flatMap(model =>
      model.columns
        .map(column => column.name)
        .filter(column => MONEY.test(column) && !model.columns.some(other => other.name === `${column}_reported`))
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
