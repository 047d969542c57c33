import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { streams } from "../../streams/index.ts";
import { passing } from "../support/warehouse.ts";
import { gone } from "./rows.ts";
import { modelWarehouses, type Row, suiteWarehouse } from "./warehouse.ts";

const later = "2026-03-15T07:00:00Z";

const requisition = (id: string, more: Row): Row => ({
  id,
  pr_number: id,
  title: "t",
  status: "s",
  llm_parsed: false,
  ...more,
});
const request = { vendor_count: 0, response_count: 0, line_count: 0, lane_count: 0 };
const wish = (id: string, _index: number, more: Row): Row => ({
  ...{ id, _index, id_: `${id}-${_index}`, requisition_id: id, line_no: "1", description: "wish", unit: "pc", ...more },
});

/** Items, sites and dates of two companies, as tables name them; today is 2026-03-15. */
const rows = {
  items: [
    { item_id: "7", description: "Bolt", category: "fasteners", subcategory: "m8", sku: "B-1", mpn: "M-1", uom: "pc" },
    { item_id: "8", description: " ", _deleted_at: gone },
  ],
  requisitions: [
    requisition("R1", { delivery_site_id: "S1", delivery_site_name: "Plant one", needed_by_date: "2027-05-01" }),
    requisition("R2", { delivery_site_id: "", delivery_site_name: "Yard" }),
    requisition("R3", { delivery_site_id: "S9", delivery_site_name: "Far away" }),
  ],
  requisition_details: [],
  requisition_lines: [
    wish("R1", 0, { item_id: "7", item_name: "Bolts, all of them" }),
    wish("R1", 1, { item_id: "7", item_name: "Bolts, all of them" }),
    wish("R1", 2, { item_id: "9", item_name: "Nut" }),
    wish("R1", 3, { vendor_part_number: "VP-0" }),
  ],
  rfqs: [{ id: "Q1", delivery_site_id: "S2", ...request }],
  rfq_details: [],
  rfq_lines: [{ id: "Q1", _index: 0, id_: "Q1-0", item_id: "9", description: "Nuts", delivery_site_id: "S1" }],
  delivery_sites: [
    { site_id: "S1", site_name: "Werk 1", address: "Road 1", city: "Ulm", state: "BW", zip_code: "89073" },
    { site_id: "S3", site_name: "Twin" },
    { site_id: "S4", site_name: " Twin" },
    { site_id: "S5" },
    { site_id: "S6", site_name: "Yard", _company: "beta" },
  ],
  purchase_orders: [
    { po_number: "PO1", is_open: true, vendor_id: "V1", delivery_site_name: " Werk 1 ", po_date: "2024-05-05" },
    { po_number: "PO2", is_open: true, delivery_site_name: "Werk 1", po_date: "1825-01-01" },
    { po_number: "PO3", is_open: true, delivery_site_name: "Twin" },
    { po_number: "PO4", is_open: true, delivery_site_name: "Yard", _company: "beta" },
    { po_number: "PO5", is_open: true, delivery_site_name: "Gone", _deleted_at: gone },
  ],
  purchase_order_details: [],
  purchase_order_line_items: [
    { po_number: "PO1", _index: 0, part_number: "P-1", description: "Bolt, long" },
    { po_number: "PO1", _index: 1, vendor_part_number: "VP-1", description: "Washer" },
    { po_number: "PO2", _index: 0, vendor_part_number: "VP-1" },
    { po_number: "PO5", _index: 0, part_number: "P-9" },
  ],
  invoices: [
    { doc_id: "I1", vendor_id: "V1", document_date: "2025-01-01", due_date: "9999-12-31" },
    { doc_id: "I2", vendor_id: "V2" },
    { doc_id: "I3", _deleted_at: gone },
  ],
  invoice_matches: [],
  invoice_line_items: [
    { doc_id: "I1", _index: 0, buyer_part_number: " P-1", vendor_part_number: "VP-1", description: "Bolt" },
    { doc_id: "I1", _index: 1, vendor_part_number: "VP-1", description: "Washers", _changed_at: later },
    { doc_id: "I2", _index: 0, vendor_part_number: "VP-1", manufacturer_part_number: "M-1" },
    { doc_id: "I2", _index: 1, manufacturer_part_number: "M-1", description: "Motor" },
    { doc_id: "I2", _index: 2, description: "Freight" },
    { doc_id: "I2", _index: 3 },
    { doc_id: "I3", _index: 0, buyer_part_number: "P-1" },
  ],
} satisfies Record<string, Row[]>;

/** The answers, worked out by hand from the rows above. */
describe.each(modelWarehouses)("dimensions in $name", ({ make }) => {
  const warehouse = suiteWarehouse(() => make({ rows }));

  test("an item is the service's, or a part number as lines name it, of a vendor where it is the vendor's", async () => {
    const items = [
      // the first of its numbers is what an invoice's line is known by
      ["buyer_part_number:P-1", "Bolt", 0, null, null, "invoice_line_items", 1],
      ["description:Freight", "Freight", 0, null, null, "invoice_line_items", 1],
      // the list of items says what it is, though more lines say something else
      ["item_id:7", "Bolt", 1, "fasteners", "B-1", "items, requisition_lines", 3],
      // one as often as the other, and as late: the first by its letters
      ["item_id:9", "Nut", 1, null, null, "requisition_lines, rfq_lines", 2],
      ["manufacturer_part_number:M-1", "Motor", 0, null, null, "invoice_line_items", 1],
      ["part_number:P-1", "Bolt, long", 0, null, null, "purchase_order_line_items", 1],
      ["vendor_part_number::VP-1", null, 0, null, null, "purchase_order_line_items", 1],
      // an order's line, and an invoice's, which changed later
      ["vendor_part_number:V1:VP-1", "Washers", 1, null, null, "invoice_line_items, purchase_order_line_items", 2],
      ["vendor_part_number:V2:VP-1", null, 0, null, null, "invoice_line_items", 1],
    ];
    const columns = "item_key, item_description, other_descriptions, category, sku, seen_in, row_count";
    expect(await warehouse.lines("dim_items", 'item_key collate "C"', columns)).toEqual(items);
    const parts = await warehouse.lines("dim_items", 'item_key collate "C"', "item_kind, vendor_id, item");
    expect(parts.slice(-2)).toEqual([
      ["vendor_part_number", "V1", "VP-1"],
      ["vendor_part_number", "V2", "VP-1"],
    ]);
    expect(parts[0]).toEqual(["buyer_part_number", null, "P-1"]);
  });

  test("a site is one by its identifier, or by the name that an order gives it", async () => {
    expect(
      await warehouse.lines(
        "dim_sites",
        '_company, site_key collate "C"',
        "_company, site_key, site_kind, site_id, site_name, city, listed_site_id, seen_in, row_count, order_count",
      ),
    ).toEqual([
      // two listed sites are called so
      ["acme", "name:Twin", "name", null, "Twin", null, null, "purchase_orders", 1, 1],
      ["acme", "name:Werk 1", "name", null, "Werk 1", null, "S1", "purchase_orders", 2, 2],
      // beta's site of that name is none of acme's
      ["acme", "name:Yard", "name", null, "Yard", null, null, "requisitions", 1, 0],
      ["acme", "site_id:S1", "site_id", "S1", "Werk 1", "Ulm", null, "delivery_sites, requisitions, rfq_lines", 3, 0],
      ["acme", "site_id:S2", "site_id", "S2", null, null, null, "rfqs", 1, 0],
      ["acme", "site_id:S3", "site_id", "S3", "Twin", null, null, "delivery_sites", 1, 0],
      ["acme", "site_id:S4", "site_id", "S4", "Twin", null, null, "delivery_sites", 1, 0],
      ["acme", "site_id:S5", "site_id", "S5", null, null, null, "delivery_sites", 1, 0],
      ["acme", "site_id:S9", "site_id", "S9", "Far away", null, null, "requisitions", 1, 0],
      ["beta", "name:Yard", "name", null, "Yard", null, "S6", "purchase_orders", 1, 1],
      ["beta", "site_id:S6", "site_id", "S6", "Yard", null, null, "delivery_sites", 1, 0],
    ]);
  });

  test("days are those of the documents' years and the next, whatever a misread date says", async () => {
    const [span] = await warehouse.query(
      `select cast(min(day) as text) as first, cast(max(day) as text) as last, count(*) as days, count(distinct month) as months
      from procurement_analytics.dim_dates`,
    );
    // 2024 is a leap year: 366 + 3 * 365
    expect(span).toEqual({ first: "2024-01-01", last: "2027-12-31", days: 1461, months: 48 });
    expect(
      await warehouse.lines("dim_dates", "day", "*").then(all => all.filter((_, at) => [0, 59, 365, 804].includes(at))),
    ).toEqual([
      ...[
        ["2024-01-01", 2024, 1, "2024-Q1", "2024-01-01", "2024-01-01", 1, "2024-01", false],
        ["2024-02-29", 2024, 1, "2024-Q1", "2024-01-01", "2024-02-01", 2, "2024-02", true],
        ["2024-12-31", 2024, 4, "2024-Q4", "2024-10-01", "2024-12-01", 12, "2024-12", true],
        ["2026-03-15", 2026, 1, "2026-Q1", "2026-01-01", "2026-03-01", 3, "2026-03", false],
      ].map((row, at) => [
        ...row,
        ...[
          [2024, 1, "2024-W01", "2024-01-01", 1, -804],
          [2024, 9, "2024-W09", "2024-02-26", 4, -745],
          // a Tuesday of the first week of the year to come
          [2025, 1, "2025-W01", "2024-12-30", 2, -439],
          [2026, 11, "2026-W11", "2026-03-09", 7, 0],
        ][at]!,
      ]),
    ]);
  });
});

describe.each(modelWarehouses)("dimensions without anything to be of, in $name", ({ make }) => {
  test("there are days of last year, this one and the next, and neither items nor sites", async () => {
    const warehouse = await passing(make({ rows: { company_profile: [] } }));
    const [span] = await warehouse.query(
      "select cast(min(day) as text) as first, cast(max(day) as text) as last from procurement_analytics.dim_dates",
    );
    expect(span).toEqual({ first: "2025-01-01", last: "2027-12-31" });
    expect(await warehouse.model("dim_items", "1")).toEqual([]);
    expect(await warehouse.model("dim_sites", "1")).toEqual([]);
  });
});

/** Details of an item, which name the item that they were asked for. */
const isOfItems = (table: string) => /^item_/.test(table);

test.each([
  ["dim_items", "item_id"],
  ["dim_sites", "site_id"],
])("%s asks every table that has a %s", (model, column) => {
  const text = readFileSync(join(import.meta.dirname, `../../models/${model}.sql`), "utf8");
  const asked = [...text.matchAll(/from procurement_analytics\.(\w+) where (\w+) <> ''/g)].map(
    ([, table, name]) => `${table}.${name}`,
  );
  // What an import's review calls an item is a row of a file; details name what their list does.
  const repeating = ["parked_imports", "requisition_details", "rfq_details"];
  const naming = streams
    .flatMap(({ tables }) => [tables.main, ...tables.children])
    .filter(({ name }) => !repeating.includes(name) && !isOfItems(name))
    .flatMap(({ name, columns }) =>
      columns
        .filter(each => each.name === column || each.name.endsWith(`delivery_${column}`))
        .map(each => `${name}.${each.name}`),
    );
  expect([...new Set(asked)].sort()).toEqual(naming.sort());
});
