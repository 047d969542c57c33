import { describe, expect, test } from "vitest";
import { passing } from "../support/warehouse.ts";
import { modelWarehouses, type Row, suiteWarehouse } from "./warehouse.ts";

const finding = (finding_item_id: string, more: Row = {}): Row => ({
  finding_item_id,
  finding_id: `id of ${finding_item_id}`,
  kind: "finding",
  amount_declared: true,
  created_at: "2026-02-13T12:00:00Z",
  ...more,
});

const findings = [
  finding("F-1", {
    surfaceable_savings_usd: "100.5",
    finding_type: "t",
    category: "billing",
    severity: "high",
    title: "Paid twice",
    status: "resolved, says a label",
    verification_status: "v",
    waiting_on: "you",
    vendor_id: "V1",
    vendor_name: "Vogel",
    po_number: "PO-1",
    doc_id: "I-1",
  }),
  finding("F-2", { surfaceable_savings_usd: "50", resolved_by: "ana" }),
  finding("F-3", { surfaceable_savings_usd: "25", resolved_by: "ana", dismiss_reason: "not material" }),
  finding("F-4", {
    surfaceable_savings_usd: "10",
    created_at: "2026-01-30T12:00:00Z",
    _deleted_at: "2026-03-01T12:00:00Z",
  }),
  finding("F-5", { created_at: null, resolved_by: " ", resolution_notes: "" }),
  finding("F-6", { surfaceable_savings_usd: "5", created_at: "2026-01-08T12:00:00Z" }),
  finding("F-7", { surfaceable_savings_usd: "0", finding_id: "id of F-6", resolution_notes: "credited" }),
  finding("F-8", { surfaceable_savings_usd: "3", created_at: "2025-12-14T12:00:00Z" }),
  finding("F-9", { surfaceable_savings_usd: "2", created_at: "2026-01-13T12:00:00Z" }),
  finding("F-10", { finding_id: null, resolved_by: "ana", created_at: "2026-01-30T12:00:00Z" }),
  finding("F-1", { _company: "beta", surfaceable_savings_usd: "7", created_at: "2026-01-14T12:00:00Z" }),
];

const finding_lineage = [
  { finding_id: "id of F-6", finding_type: "t", resolved_at: "2026-03-10T12:00:00Z" },
  { finding_id: "id of F-8", finding_type: "t", superseded_by_finding_id: "id of F-9" },
  { finding_id: "id of F-9", finding_type: "t", dismissed_at: "2026-03-15T12:00:00Z" },
  { finding_id: "id of F-1", finding_type: "t", _company: "beta", resolved_at: "2026-03-15T12:00:00Z" },
];

/** Today is 2026-03-15. */
describe.each(modelWarehouses)("findings_value in $name", ({ make }) => {
  const warehouse = suiteWarehouse(() => make({ rows: { findings, finding_lineage } }));

  test("a finding carries what it is about; its label decides nothing", async () => {
    const [first] = await warehouse.model("findings_value", "_company, finding_item_id");
    expect(first).toEqual({
      _company: "acme",
      finding_item_id: "F-1",
      finding_id: "id of F-1",
      kind: "finding",
      finding_type: "t",
      category: "billing",
      severity: "high",
      title: "Paid twice",
      status: "resolved, says a label",
      verification_status: "v",
      waiting_on: "you",
      vendor_id: "V1",
      vendor_name: "Vogel",
      po_number: "PO-1",
      doc_id: "I-1",
      outcome: "open",
      created_date: "2026-02-13",
      closed_date: null,
      days_open: 30, // 15 days of February + 15
      age_bucket: "0-30 days",
      savings_amount: "100.5",
      recoverable_amount: "100.5",
      resolved_amount: "0",
      currency_code: "USD",
      currency_source: "row",
    });
  });

  test("a finding's outcome decides what its savings count as, and until when it ages", async () => {
    const columns =
      "finding_item_id, outcome, closed_date, days_open, age_bucket, savings_amount, recoverable_amount, resolved_amount";
    const found = await warehouse.model("findings_value", "_company, finding_item_id", columns);
    expect(found.map(Object.values)).toEqual([
      ["F-1", "open", null, 30, "0-30 days", "100.5", "100.5", "0"],
      ["F-10", "resolved", null, null, "no date", null, null, null],
      // resolved, but nobody says when
      ["F-2", "resolved", null, null, "no date", "50", "0", "50"],
      ["F-3", "dismissed", null, null, "no date", "25", "0", "0"],
      // one day of January, 28 of February, one of March
      ["F-4", "no longer listed", "2026-03-01", 30, "0-30 days", "10", "0", "0"],
      ["F-5", "open", null, null, "no date", null, null, null],
      // 23 + 28 + 10
      ["F-6", "resolved", "2026-03-10", 61, "61-90 days", "5", "0", "5"],
      // a second row of the same finding: 15 + 10
      ["F-7", "resolved", "2026-03-10", 25, "0-30 days", "0", "0", "0"],
      ["F-8", "superseded", null, null, "no date", "3", "0", "0"],
      // 18 + 28 + 15
      ["F-9", "dismissed", "2026-03-15", 61, "61-90 days", "2", "0", "0"],
      // 17 + 28 + 15
      ["F-1", "resolved", "2026-03-15", 60, "31-60 days", "7", "0", "7"],
    ]);
  });
});

describe.each(modelWarehouses)("findings_value without lineage in $name", ({ make }) => {
  test("the list alone tells what was resolved", async () => {
    const warehouse = await passing(make({ rows: { findings } }));
    const columns =
      "outcome, count(*) as findings, sum(savings_amount) as savings, sum(recoverable_amount) as recoverable";
    const found = await warehouse.query(
      `select ${columns} from procurement_analytics.findings_value group by outcome order by outcome`,
    );
    expect(found.map(Object.values)).toEqual([
      ["dismissed", 1, "25", "0"],
      ["no longer listed", 1, "10", "0"],
      ["open", 6, "117.5", "117.5"], // F-1, 5, 6, 8, 9 and beta's: 100.5 + 5 + 3 + 2 + 7
      ["resolved", 3, "50", "0"], // F-2, 7, 10
    ]);
  });
});
