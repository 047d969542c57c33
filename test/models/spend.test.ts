import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { streams } from "../../streams/index.ts";
import { spendRows } from "./spend_data.ts";
import { modelWarehouses, suiteWarehouse } from "./warehouse.ts";

/** The answers, worked out by hand from spend_data.ts. */
describe.each(modelWarehouses)("spend, vendors and payments in $name", ({ make }) => {
  const warehouse = suiteWarehouse(() => make({ rows: spendRows }));

  test("a vendor is a company's vendor id, named by the label most rows bear, or of the most frequent the one that changed last", async () => {
    expect(
      await warehouse.lines(
        "dim_vendors",
        "_company, vendor_id",
        "_company, vendor_id, vendor_name, other_names, vendor_website, seen_in, row_count, order_count, invoice_count, finding_count, contract_count",
      ),
    ).toEqual([
      // Vogel GmbH: 1 invoice and 2 orders; Vogel: 2 invoices, for those without a vendor id don't count.
      ["acme", "V1", "Vogel GmbH", 1, "vogel.example", "invoices, purchase_orders", 12, 2, 10, 0, 0],
      ["acme", "V2", null, 0, null, "invoices, rfqs", 2, 0, 1, 0, 0],
      ["acme", "V3", "Zander AG", 1, null, "contracts", 2, 0, 0, 0, 2],
      ["acme", "V4", "Spedition", 0, null, "rate_cards", 1, 0, 0, 0, 0],
      ["beta", "V1", "Otter", 0, null, "invoices", 1, 0, 1, 0, 0],
    ]);
  });

  test("spend is invoices by month of their date, never across currencies, with credits beside", async () => {
    expect(
      await warehouse.lines("spend_by_vendor_month", "_company, vendor_id, month, currency_code, currency_source", "*"),
    ).toEqual([
      // 100 + 50.5 + one without a total; the credits of -30 and 8 beside, and one that nothing says anything of.
      ["acme", "V1", "Vogel GmbH", "2026-01-01", "EUR", "feed", 3, "150.5", "20", "5", 1, 2, "-22", 1, "0"],
      ["acme", "V1", "Vogel GmbH", "2026-01-01", "EUR", "order", 1, "10", "0", "0", 0, 0, "0", 0, "0"],
      ["acme", "V1", "Vogel GmbH", "2026-01-01", "USD", "feed", 1, "9", "0", "0", 0, 0, "0", 0, "0"],
      ["acme", "V1", "Vogel GmbH", "2026-01-01", null, "unknown", 1, "7", "0", "0", 0, 0, "0", 0, "0"],
      ["acme", "V1", "Vogel GmbH", "2026-02-01", "EUR", "feed", 1, "70", "0", "0", 0, 0, "0", 0, "0"],
      ["acme", "V2", null, null, "EUR", "feed", 1, "3", "0", "0", 0, 0, "0", 0, "0"],
      // 11 + 12: without a vendor's id there is no vendor, whatever the label says.
      ["acme", null, null, "2026-01-01", "EUR", "feed", 2, "23", "0", "0", 0, 0, "0", 0, "0"],
      ["beta", "V1", "Otter", "2026-01-01", "EUR", "feed", 1, "200", "0", "0", 0, 0, "0", 0, "0"],
    ]);
  });

  test("cash is needed by the week of the due date, what is overdue and what has no due date apart", async () => {
    expect(
      await warehouse.written(
        "cash_requirements",
        "_company, payment_status, due_group, due_week, currency_code, currency_source",
        "*",
      ),
    ).toEqual([
      // a1 of 100 and one without a total, due on 03-01; the credits beside.
      "acme | open | - | not known | overdue | - | - | EUR | feed | 2 | 100 | 1 | 0 | 0 | 2 | 2026-03-01 | 2 | -22 | 1 | 0",
      // a2 is due today.
      "acme | open | - | not known | week | 2026-03-09 | 0 | EUR | feed | 1 | 50.5 | 0 | 0 | 0 | 0 | 2026-03-15 | 0 | 0 | 0 | 0",
      // a3 on Monday, on hold; the others of that week in another currency, or in one found elsewhere, by themselves.
      "acme | open | - | not known | week | 2026-03-16 | 1 | EUR | feed | 1 | 70 | 0 | 1 | 70 | 1.4 | 2026-03-16 | 0 | 0 | 0 | 0",
      "acme | open | - | not known | week | 2026-03-16 | 1 | EUR | order | 1 | 10 | 0 | 0 | 0 | 0 | 2026-03-22 | 0 | 0 | 0 | 0",
      "acme | open | - | not known | week | 2026-03-16 | 1 | USD | feed | 1 | 9 | 0 | 0 | 0 | 0 | 2026-03-22 | 0 | 0 | 0 | 0",
      "acme | open | - | not known | week | 2026-03-16 | 1 | - | unknown | 1 | 7 | 0 | 0 | 0 | 0 | 2026-03-16 | 0 | 0 | 0 | 0",
      "acme | paid | settled | not known | no due date | - | - | EUR | feed | 1 | 11 | 0 | 0 | 0 | 0 | - | 0 | 0 | 0 | 0",
      // 12 + 3
      "acme | - | - | not known | no due date | - | - | EUR | feed | 2 | 15 | 0 | 0 | 0 | 0 | - | 0 | 0 | 0 | 0",
      // 03-30 is a Monday, three after 03-09.
      "beta | - | - | not known | week | 2026-03-30 | 3 | EUR | feed | 1 | 200 | 0 | 0 | 0 | 0 | 2026-03-30 | 0 | 0 | 0 | 0",
    ]);
  });
});

/** Details whose list names the same vendor, and tables that are asked for by vendors that others name. */
const repeating = [
  "rate_card_details",
  "freight_claim_details",
  "requisition_details",
  "rfq_details",
  "automation_execution_details",
  "carrier_profile_credentials",
  "carrier_profile_insurance",
  "carrier_profile_contacts",
  "vendor_missed_labels",
  "vendor_orders_as_of",
  "vendor_credential_lineage",
  "vendor_credential_lineage_source_docs",
  "findings_summary",
];

test("dim_vendors asks every table that names a vendor", () => {
  const text = readFileSync(join(import.meta.dirname, "../../models/dim_vendors.sql"), "utf8");
  const asked = [...text.matchAll(/from procurement_analytics\.(\w+) where (\w+) <> ''/g)].map(
    ([, table, column]) => `${table}.${column}`,
  );
  const naming = streams
    .flatMap(({ tables }) => [tables.main, ...tables.children])
    .flatMap(({ name, columns }) =>
      columns
        .filter(column => /(^|_)vendor_id$/.test(column.name) && !repeating.includes(name))
        .map(column => `${name}.${column.name}`),
    );
  expect(asked.sort()).toEqual(naming.sort());
});
