import { describe, expect, test } from "vitest";
import { gone, inFeed, profile } from "./rows.ts";
import { toldTo } from "./tellings.ts";
import { modelWarehouses, type Row, suiteWarehouse } from "./warehouse.ts";

const invoice = (
  doc_id: string,
  document_number: string | null,
  document_date: string | null,
  total_amount: string | null,
  more: Row = {},
): Row => ({ doc_id, document_number, document_date, total_amount, vendor_id: "V1", doc_type: "Invoice", ...more });

const rows = {
  company_profile: [profile("EUR")],
  ingested: [inFeed("G1", "USD")],
  invoices: [
    invoice("A1", "INV-001", "2026-01-05", "100", { vendor_name: "Vogel" }),
    invoice("A2", " inv 001", "2026-01-08", "100", { payment_status: "paid" }),
    invoice("A3", "Inv/001", "2026-03-01", "90", { payment_status: "open" }),
    invoice("B1", "X-7", "2026-01-10", "100"),
    // five days apart, then six
    invoice("C1", "N1", "2026-02-01", "55"),
    invoice("C2", null, "2026-02-06", "55"),
    invoice("C3", "N3", "2026-02-12", "55"),
    invoice("D1", "D", "2026-02-20", "30"),
    invoice("D2", "D", "2026-02-20", "-30", { doc_type: "Credit memo" }),
    invoice("E1", "0042", null, "10"),
    invoice("E2", "42", null, "10"),
    invoice("F1", "Z9", "2026-04-01", "7"),
    invoice("F2", "Z9", "2026-04-01", "7", { vendor_id: "V2" }),
    invoice("F3", "Z9", "2026-04-01", "7", { vendor_id: null }),
    invoice("F4", "Z9", "2026-04-01", "7", { vendor_id: null }),
    invoice("G1", "g1", "2026-04-10", "77"),
    invoice("G2", "g2", "2026-04-10", "77"),
    invoice("H1", "h1", "2026-04-20", "0"),
    invoice("H2", "h2", "2026-04-20", "0"),
    invoice("K1", "K", "2026-05-01", "20"),
    invoice("K2", "K", "2026-05-02", "21"),
    invoice("K3", "K", "2026-05-20", null),
    // 000 and - are no numbers
    invoice("L1", "000", "2026-05-25", "1"),
    invoice("L2", "-", "2026-08-25", "1"),
    invoice("M1", "m", "2026-06-20", "5", { _deleted_at: gone }),
    invoice("M2", "m", "2026-06-20", "5"),
    invoice("U1", "u", "2026-06-01", null, { doc_type: null }),
    invoice("U2", "u", "2026-06-01", "5"),
    invoice("A1", "INV-001", "2026-01-05", "100", { _company: "beta" }),
  ],
} satisfies Record<string, Row[]>;

/** The answers, worked out by hand from the rows above. */
describe.each(modelWarehouses)("duplicate invoices in $name", ({ name, make }) => {
  const warehouse = suiteWarehouse(() => make(toldTo(name, rows)));

  test("groups have one number, or one amount within days of each other; all but one of a group is at stake", async () => {
    const columns = `group_id, doc_id, reason, score, group_size, member_number, days_apart, at_stake_amount, is_unclear`;
    expect(await warehouse.lines("duplicate_invoices", "group_id, member_number", columns)).toEqual([
      // the second is at stake already, for its number
      ["amount/A1", "A1", "amount and date", 2, 3, 1, null, "0", false],
      ["amount/A1", "A2", "amount and date", 2, 3, 2, 3, "0", false],
      ["amount/A1", "B1", "amount and date", 2, 3, 3, 2, "100", false],
      ["amount/C1", "C1", "amount and date", 2, 2, 1, null, "0", false],
      ["amount/C1", "C2", "amount and date", 2, 2, 2, 5, "55", false],
      ["number/A1", "A1", "number, amount and date", 3, 3, 1, null, "0", false],
      ["number/A1", "A2", "number, amount and date", 3, 3, 2, 3, "100", false],
      // 23 days of January, 28 and 1
      ["number/A1", "A3", "number", 1, 3, 3, 52, "90", false],
      ["number/E1", "E1", "number and amount", 2, 2, 1, null, "0", false],
      ["number/E1", "E2", "number and amount", 2, 2, 2, null, "10", false],
      ["number/K1", "K1", "number and date", 2, 3, 1, null, "0", false],
      ["number/K1", "K2", "number and date", 2, 3, 2, 1, "21", false],
      ["number/K1", "K3", "number", 1, 3, 3, 18, null, false],
      ["number/U2", "U2", "number and date", 2, 2, 1, 0, "0", false],
      ["number/U2", "U1", "number and date", 2, 2, 2, null, null, true],
    ]);
  });

  test("each row carries its invoice", async () => {
    const [, first, second] = await warehouse.model("duplicate_invoices", "grouped_by desc, doc_id");
    expect([first!["paid"], first!["doc_id"], second!["paid"]]).toEqual(["paid", "A2", "not paid"]);
    expect(first).toMatchObject({
      _company: "acme",
      grouped_by: "number",
      vendor_id: "V1",
      vendor_name: "Vogel",
      document_number: " inv 001",
      document_date: "2026-01-08",
      total_amount: "100",
      currency_code: "EUR",
      currency_source: "company",
    });
  });
});
