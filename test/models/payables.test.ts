import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { passing } from "../support/warehouse.ts";
import { type Personality, personalities } from "./personalities.ts";
import { huge, inFeed, profile } from "./rows.ts";
import { type ModelWarehouse, modelWarehouses, type Row } from "./warehouse.ts";

/** Invoices of two companies; today is Sunday, 2026-03-15. */
const rowsOf = ({ invoice, credit, reversal, paid, unpaid, nothing, link }: Personality) => {
  const bill = (doc_id: string, total_amount: string | null, more: Row): Row => ({
    ...{ doc_id, total_amount, vendor_id: "V1", vendor_name: "Vogel", doc_type: invoice, payment_status: unpaid },
    ...{ ...link, ...more },
  });
  const dates = (document_date: string | null, due_date: string | null): Row => ({ document_date, due_date });
  const discount = (discount_deadline: string | null, amount: string | null, capturable: string | null): Row => ({
    ...{ discount_deadline, discount_amount: amount, discount_capturable_amount: capturable },
  });
  return {
    company_profile: [profile("EUR")],
    ingested: [inFeed("dollars", "usd"), inFeed("dollars", "usd", { row_type: "mail" })],
    invoices: [
      bill("today", "100", { ...dates("2026-02-13", "2026-03-15"), ...discount("2026-03-20", "2", "2"), net_days: 30 }),
      bill("1 day", "50", {
        ...{ ...dates("2026-02-14", "2026-03-14"), ...discount("2026-02-24", "1", null), net_days: 30 },
        hold_reason: "price",
      }),
      bill("30 days", "25.5", { ...dates("2026-01-13", "2026-02-13"), ...discount("2026-01-20", null, "0.5") }),
      bill("31 days", null, dates("2026-01-13", "2026-02-12")),
      bill("60 days", "10", dates("2026-01-01", "2026-01-14")),
      bill("61 days", "4", dates("2026-02-01", "2026-01-13")),
      bill("90 days", "6", dates("2025-12-15", "2025-12-15")),
      bill("91 days", "7", dates(null, "2025-12-14")),
      bill("nobody says", "8", { ...dates("2026-02-20", null), payment_status: nothing, discount_amount: "3" }),
      bill("paid in time", "1000", {
        ...{ ...dates("2026-02-01", "2026-01-01"), ...discount("2026-03-15", "20", null), payment_status: paid },
      }),
      bill("paid sometime", "500", {
        ...{ ...dates("2026-02-02", "2026-03-04"), ...discount("2026-03-14", "10", "0"), net_days: 20 },
        payment_status: paid,
      }),
      bill("to be had", "40", {
        ...{ ...dates("2026-03-02", "2026-04-01"), ...discount("2026-03-15", null, "4"), discount_percent: "2" },
        payment_status: nothing,
      }),
      bill("ahead", "9", {
        ...{ ...dates("2026-03-02", "2026-03-12"), ...discount("2026-04-01", "1", null), payment_status: nothing },
        vendor_id: "V2",
      }),
      bill("behind", "11", {
        ...{ ...dates("2026-03-01", null), ...discount("2026-03-01", null, null), payment_status: nothing },
        vendor_id: "V2",
      }),
      bill("none left", "12", {
        ...{ ...dates("2026-03-02", "2026-05-01"), ...discount("2026-03-16", "1", "0"), vendor_id: "V2" },
      }),
      bill("below 0", "-30", {
        ...{ ...dates("2026-02-20", "2026-03-01"), ...discount("2026-03-20", "7", "7"), doc_type: reversal },
      }),
      bill("by its type", "5", { ...dates("2026-02-20", null), doc_type: credit }),
      bill("unclear", null, { ...dates("2026-02-20", "2026-03-15"), doc_type: nothing }),
      bill("dollars", "70", dates("2026-03-01", "2026-03-20")),
      bill("nobody's", "3", { ...dates("2026-03-05", "2026-03-20"), vendor_id: nothing === null ? null : "" }),
      bill("gone", "900", { ...dates("2026-03-05", "2026-03-20"), _deleted_at: "2026-03-10T00:00:00Z" }),
      bill("huge", huge, {
        ...{ ...dates("2026-03-01", "2026-03-20"), ...discount(null, huge, null), net_days: huge, vendor_id: "V3" },
      }),
      bill("today", "200", {
        ...{ ...dates("2026-03-01", "2026-03-30"), _company: "beta", vendor_name: "Otter", discount_status: "s-1" },
      }),
    ],
  } satisfies Record<string, Row[]>;
};

/** Each database has the facts in other words; both read either (meanings.test.ts). */
const cases = modelWarehouses.map((warehouse, at) => ({ ...warehouse, ...personalities[at]! }));

/** The answers, worked out by hand from the rows above. */
describe.each(cases)("payables and discounts in $name, in $personality", ({ make, ...told }) => {
  let warehouse: ModelWarehouse;
  beforeAll(async () => {
    const currency = { report: "EUR", rates: "date,currency,rate\n2026-03-01,USD,2\n2026-03-13,USD,4" };
    warehouse = await make({ rows: rowsOf(told), meanings: told.meanings, currency });
  });
  afterAll(() => warehouse.drop());

  test("open payables are as old as their due dates; what is paid is none, and what nothing says anything of stands apart", async () => {
    expect(
      await warehouse.lines(
        "payables_ageing",
        "_company, vendor_id, paid, currency_code, bucket_number",
        `vendor_id, paid, bucket_number, bucket, currency_code, invoice_count, open_amount, vendor_open_amount, open_share,
        without_amount_count, on_hold_count, on_hold_amount, oldest_due_date, credit_count, credit_amount, unclear_count`,
      ),
    ).toEqual([
      ["V1", "not known", 1, "not due", "EUR", 1, "40", "48", "0.8333", 0, 0, "0", "2026-04-01", 0, "0", 0],
      ["V1", "not known", 6, "no due date", "EUR", 1, "8", "48", "0.1667", 0, 0, "0", null, 0, "0", 0],
      // 100 + 50 + 25.5 + 10 + 4 + 6 + 7 = 202.5, of which 100 is due today; the unclear document with it.
      ["V1", "not paid", 1, "not due", "EUR", 1, "100", "202.5", "0.4938", 0, 0, "0", "2026-03-15", 0, "0", 1],
      // 50 + 25.5; the credit of -30 was due on 03-01
      ["V1", "not paid", 2, "1-30 days", "EUR", 2, "75.5", "202.5", "0.3728", 0, 1, "50", "2026-02-13", 1, "-30", 0],
      ["V1", "not paid", 3, "31-60 days", "EUR", 2, "10", "202.5", "0.0494", 1, 0, "0", "2026-01-14", 0, "0", 0],
      ["V1", "not paid", 4, "61-90 days", "EUR", 2, "10", "202.5", "0.0494", 0, 0, "0", "2025-12-15", 0, "0", 0],
      ["V1", "not paid", 5, "over 90 days", "EUR", 1, "7", "202.5", "0.0346", 0, 0, "0", "2025-12-14", 0, "0", 0],
      ["V1", "not paid", 6, "no due date", "EUR", 0, "0", "202.5", "0", 0, 0, "0", null, 1, "5", 0],
      ["V1", "not paid", 1, "not due", "USD", 1, "70", "70", "1", 0, 0, "0", "2026-03-20", 0, "0", 0],
      ["V2", "not known", 2, "1-30 days", "EUR", 1, "9", "20", "0.45", 0, 0, "0", "2026-03-12", 0, "0", 0],
      ["V2", "not known", 6, "no due date", "EUR", 1, "11", "20", "0.55", 0, 0, "0", null, 0, "0", 0],
      ["V2", "not paid", 1, "not due", "EUR", 1, "12", "12", "1", 0, 0, "0", "2026-05-01", 0, "0", 0],
      ["V3", "not paid", 1, "not due", "EUR", 1, "0", "0", null, 1, 0, "0", "2026-03-20", 0, "0", 0],
      [null, "not paid", 1, "not due", "EUR", 1, "3", "3", "1", 0, 0, "0", "2026-03-20", 0, "0", 0],
      ["V1", "not paid", 1, "not due", null, 1, "200", "200", "1", 0, 0, "0", "2026-03-30", 0, "0", 0],
    ]);
  });

  test("the terms' days are weighted with the amounts; dates that cannot be and what has no amount are left out", async () => {
    expect(
      await warehouse.lines(
        "days_payable",
        "_company, vendor_id, month, currency_code",
        `vendor_id, month, currency_code, currency_source, unclear_count, invoice_count, dated_count, dated_amount, amount_days,
        average_days, shortest_days, longest_days, net_days_count, net_days_amount, average_net_days`,
      ),
    ).toEqual([
      ["V1", "2025-12-01", "EUR", "company", 0, 1, 1, "6", "0", "0", 0, 0, 0, "0", null],
      // 25.5 * 31 + 10 * 13 = 920.5, over 35.5; the one without a total has no weight
      ["V1", "2026-01-01", "EUR", "company", 0, 3, 2, "35.5", "920.5", "25.9296", 13, 31, 0, "0", null],
      // 100 * 30 + 50 * 28 + 500 * 30 = 19400, over 650; by the terms 100 * 30 + 50 * 30 + 500 * 20 = 14500
      ["V1", "2026-02-01", "EUR", "company", 1, 6, 3, "650", "19400", "29.8462", 28, 30, 3, "650", "22.3077"],
      ["V1", "2026-03-01", "EUR", "company", 0, 1, 1, "40", "1200", "30", 30, 30, 0, "0", null],
      ["V1", "2026-03-01", "USD", "feed", 0, 1, 1, "70", "1330", "19", 19, 19, 0, "0", null],
      ["V1", null, "EUR", "company", 0, 1, 0, "0", "0", null, null, null, 0, "0", null],
      // 9 * 10 + 12 * 60 = 810, over 21
      ["V2", "2026-03-01", "EUR", "company", 0, 3, 2, "21", "810", "38.5714", 10, 60, 0, "0", null],
      ["V3", "2026-03-01", "EUR", "company", 0, 1, 0, "0", "0", null, null, null, 0, "0", null],
      [null, "2026-03-01", "EUR", "company", 0, 1, 1, "3", "45", "15", 15, 15, 0, "0", null],
      ["V1", "2026-03-01", null, "unknown", 0, 1, 1, "200", "5800", "29", 29, 29, 0, "0", null],
    ]);
  });

  test("a discount was missed or can be had only where the dates and the payment say so", async () => {
    expect(
      await warehouse.lines(
        "discounts",
        "_company, vendor_id, month, currency_code, standing",
        `vendor_id, month, standing, discount_status, currency_code, invoice_count, invoice_amount, discount_amount,
        without_discount_amount_count, capturable_amount, next_deadline, unclear_count`,
      ),
    ).toEqual([
      ["V1", "2025-12-01", "none offered", null, "EUR", 1, "6", "0", 0, "0", null, 0],
      ["V1", "2026-01-01", "none offered", null, "EUR", 2, "10", "0", 0, "0", null, 0],
      // its day has passed, and yet the service says 0.5 can be had
      ["V1", "2026-01-01", "not known", null, "EUR", 1, "25.5", "0", 1, "0.5", null, 0],
      ["V1", "2026-02-01", "missed", null, "EUR", 1, "50", "1", 0, "0", null, 0],
      ["V1", "2026-02-01", "no last day", null, "EUR", 1, "8", "3", 0, "0", null, 0],
      ["V1", "2026-02-01", "none offered", null, "EUR", 1, "4", "0", 0, "0", null, 1],
      ["V1", "2026-02-01", "not known", null, "EUR", 1, "500", "10", 0, "0", null, 0],
      ["V1", "2026-02-01", "paid in time", null, "EUR", 1, "1000", "20", 0, "0", null, 0],
      ["V1", "2026-02-01", "to be had", null, "EUR", 1, "100", "2", 0, "2", "2026-03-20", 0],
      ["V1", "2026-03-01", "to be had", null, "EUR", 1, "40", "0", 1, "4", "2026-03-15", 0],
      ["V1", "2026-03-01", "none offered", null, "USD", 1, "70", "0", 0, "0", null, 0],
      ["V1", null, "none offered", null, "EUR", 1, "7", "0", 0, "0", null, 0],
      // 9 + 11 + 12: whether the first two are paid is not known, and of the third the service says that none is left
      ["V2", "2026-03-01", "not known", null, "EUR", 3, "32", "2", 1, "0", null, 0],
      ["V3", "2026-03-01", "no last day", null, "EUR", 1, "0", "0", 1, "0", null, 0],
      [null, "2026-03-01", "none offered", null, "EUR", 1, "3", "0", 0, "0", null, 0],
      ["V1", "2026-03-01", "none offered", "s-1", null, 1, "200", "0", 0, "0", null, 0],
    ]);
  });

  test("in the reporting currency what is open goes by today's rate, the rest by that of the invoice", async () => {
    const dollars = async (model: string, columns: string) =>
      (await warehouse.query(`select ${columns} from procurement_analytics.${model} where currency_code = 'USD'`))[0];
    expect(await dollars("payables_ageing", "open_amount_reported, vendor_open_amount_reported")).toEqual({
      ...{ open_amount_reported: "17.5", vendor_open_amount_reported: "17.5" },
    });
    expect(await dollars("days_payable", "dated_amount_reported, unconverted_count")).toEqual({
      ...{ dated_amount_reported: "35", unconverted_count: 0 },
    });
    expect(await dollars("discounts", "invoice_amount_reported, discount_amount_reported, unconverted_count")).toEqual({
      ...{ invoice_amount_reported: "35", discount_amount_reported: null, unconverted_count: 0 },
    });
    const [lacking] = await warehouse.query(
      `select sum(unconverted_count) as n, count(invoice_amount_reported) as reported from procurement_analytics.discounts
      where currency_code is null`,
    );
    expect([Number(lacking!["n"]), lacking!["reported"]]).toEqual([1, 0]);
  });
});

describe.each(modelWarehouses)("payables where nothing says what is paid, in $name", ({ make }) => {
  test("no invoice is taken to be open or paid, and no discount to be missed or taken", async () => {
    const warehouse = await passing(make({ rows: rowsOf(personalities[0]!) }));
    const paid = "select paid, sum(invoice_count) as n from procurement_analytics.payables_ageing group by paid";
    expect((await warehouse.query(paid)).map(({ paid, n }) => [paid, Number(n)])).toEqual([["not known", 19]]);
    const standings = await warehouse.query("select distinct standing from procurement_analytics.discounts order by 1");
    expect(standings.map(({ standing }) => standing)).toEqual([
      "no last day",
      "none offered",
      "not known",
      "to be had",
    ]);
  });
});
