import { describe, expect, test } from "vitest";
import { seenMeanings } from "../../src/operations/meanings.ts";
import { streams } from "../../streams/index.ts";
import { meanings } from "../../streams/meanings.ts";
import { modelWarehouses, type Row, suiteWarehouse, usualMeanings } from "../models/warehouse.ts";

const invoice = (doc_id: string, more: Row = {}): Row => ({ doc_id, ...more });
const finding = (finding_item_id: string, more: Row = {}): Row => ({
  ...{ finding_item_id, finding_id: finding_item_id, kind: "finding", amount_declared: true },
  ...more,
});

const rows = {
  invoices: [
    invoice("I-1", { total_amount: "100", doc_type: " Rechnung" }),
    invoice("I-2", { total_amount: "50.5", doc_type: "GUTSCHRIFT" }),
    invoice("I-3", { total_amount: "7", doc_type: "gutschrift" }),
    invoice("I-4", { total_amount: "-3", doc_type: "Rechnung" }),
    invoice("I-5"),
    invoice("I-6", { _company: "beta", total_amount: "-1" }),
  ],
  findings: [
    finding("F-1", { resolved_by: "Ana", status: "zu" }),
    finding("F-2", { _deleted_at: "2026-03-01T00:00:00Z", status: "ZU" }),
    finding("F-3"),
  ],
  finding_lineage: [{ finding_id: "F-2", finding_type: "t", resolved_at: "2026-03-01T00:00:00Z" }],
};

describe.each(modelWarehouses)("the values that meanings are read from, in $name", ({ make }) => {
  const warehouse = suiteWarehouse(() => make({ rows }));
  const order = (...names: readonly string[]) => ({
    meanings: meanings.filter(({ name }) => names.includes(name)),
    catalogue: streams,
    tests: usualMeanings,
    companies: ["acme"],
  });

  test("each line says how many rows it touches, each value how many bear it and what they are taken for", async () => {
    expect(await seenMeanings(warehouse.reading, order("credit", "late"))).toEqual([
      {
        meaning: "credit",
        table: "invoices",
        taken_for: "credits",
        left_out_of: "spend, cash requirements and prices paid",
        ...{ rows: 5, yes: 1, no: 3, not_known: 1 },
        rules: [
          { line: "meanings.credit.total_amount: negative", touched: 1 },
          { line: 'meanings.credit.doc_type: ["*credit*"]', touched: 0 },
        ],
        columns: [
          {
            column: "doc_type",
            values: [
              { value: "gutschrift", rows: 2, yes: 0 },
              { value: "rechnung", rows: 2, yes: 1 },
              { value: null, rows: 1, yes: 0 },
            ],
            more: false,
          },
        ],
      },
    ]);
  });

  test("rows that the service dropped count where the model counts them, and names of people are not shown", async () => {
    const [seen] = await seenMeanings(warehouse.reading, order("resolved"));
    expect(seen).toMatchObject({ rows: 3, yes: 2, no: 1, not_known: 0 });
    expect(seen!.rules.map(({ touched }) => touched)).toEqual([1, 0, 1]);
    expect(seen!.columns.map(({ column }) => column)).toEqual(["resolution_notes", "status", "verification_status"]);
    expect(seen!.columns[1]!.values).toEqual([
      { value: "zu", rows: 2, yes: 2 },
      { value: null, rows: 1, yes: 0 },
    ]);
  });
});
