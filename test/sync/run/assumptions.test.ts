import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { textsOf } from "../../../src/message.ts";
import { doubtfulAssumptions } from "../../../src/sync/run/assumptions.ts";
import { StreamProgress } from "../../../src/sync/stream_progress.ts";
import type { Destination } from "../../../src/warehouse/destination.ts";
import { streams } from "../../../streams/index.ts";
import { type ModelWarehouse, modelWarehouses, type Row, usualMeanings } from "../../models/warehouse.ts";
import { models } from "../../support/models.ts";

type Tables = Readonly<Record<string, readonly Row[]>>;

const times = (n: number, row: (nth: number) => Row): readonly Row[] => Array.from({ length: n }, (_, nth) => row(nth));
/** Thirty invoices unless told otherwise, the first of them paid. */
const invoices = (row: (nth: number) => Row, n = 30): Tables => ({
  invoices: times(n, nth => ({
    doc_id: `I-${nth}`,
    total_amount: "100",
    doc_type: "RECHNUNG",
    payment_status: nth === 0 ? "Bezahlt" : "offen",
    ...row(nth),
  })),
});
const orders = (is_open: boolean): Tables => ({
  purchase_orders: times(30, nth => ({ po_number: `PO-${nth}`, is_open, total_amount: "5" })),
});
const orderLines = (on_time: (nth: number) => boolean): Tables => ({
  purchase_order_line_items: times(30, nth => ({ po_number: `PO-${nth}`, _index: 0, on_time: on_time(nth) })),
});
const findings = (row: (nth: number) => Row, lineage: readonly Row[] = []): Tables => ({
  findings: times(30, nth => ({
    finding_item_id: `F-${nth}`,
    finding_id: `F-${nth}`,
    kind: "finding",
    amount_declared: true,
    surfaceable_savings_usd: "10",
    ...row(nth),
  })),
  finding_lineage: lineage,
});
const resolvedAt = (finding_id: string): Row => ({
  finding_id,
  finding_type: "t",
  resolved_at: "2026-03-10T12:00:00Z",
});

/** By what is wrong, the line of the configuration that has to be named, and the rows. */
const misreadings: Readonly<Record<string, readonly [line: string, tables: Tables]>> = {
  "every type says credit": ["meanings.credit.doc_type:", invoices(() => ({ doc_type: "Credit terms invoice" }))],
  "what is owed is negative": ["meanings.credit.total_amount:", invoices(() => ({ total_amount: "-100" }))],
  "a third are credits": ["meanings.credit.doc_type:", invoices(nth => (nth % 3 === 0 ? { doc_type: "CREDIT" } : {}))],
  "most of the money is negative": [
    "meanings.credit.total_amount:",
    invoices(nth => (nth === 1 ? { total_amount: "-9000" } : {})),
  ],
  "all are on hold": ["meanings.held.hold_reason:", invoices(() => ({ hold_reason: "none" }))],
  "all are paid": ["meanings.paid.payment_status:", invoices(() => ({ payment_status: "BEZAHLT" }))],
  "none is paid": ["meanings.paid.payment_status:", invoices(() => ({ payment_status: "paid" }))],
  "all lines are late": ["meanings.late.on_time:", orderLines(() => false)],
  "all are dismissed": ["meanings.dismissed.dismiss_reason:", findings(() => ({ dismiss_reason: "n/a" }))],
  "all are resolved": ["meanings.resolved.resolved_by:", findings(() => ({ resolved_by: "system" }))],
  "all have a time of resolution": [
    "meanings.resolved.resolved_at:",
    findings(
      () => ({}),
      times(30, nth => resolvedAt(`F-${nth}`)),
    ),
  ],
};

const harmless: Readonly<Record<string, Tables>> = {
  "links on nearly all": invoices(nth => ({ linked_invoice_doc_id: `I-${nth - 1}`, credit_memo_match_method: "x" })),
  "some credits": invoices(nth => (nth < 3 ? { doc_type: "Credit memo", total_amount: "50" } : {})),
  "some negative totals": invoices(nth => (nth < 3 ? { total_amount: "-10" } : {})),
  "only a few rows": invoices(() => ({ doc_type: "credit" }), 19),
  "nothing said": invoices(nth => ({ total_amount: null, doc_type: nth % 2 === 0 ? null : " " })),
  "most are on hold": invoices(nth => (nth < 20 ? { hold_reason: "price" } : {})),
  "nearly all are paid": invoices(nth => ({ payment_status: nth === 7 ? "offen" : "bezahlt" })),
  "all orders are open": orders(true),
  "all orders are closed": orders(false),
  "most lines are late": orderLines(nth => nth < 5),
  "most are dismissed": findings(nth => (nth < 25 ? { dismiss_reason: "n/a" } : {})),
};

const rowsOf = (cases: readonly (readonly [company: string, tables: Tables])[]): Tables => {
  const held = cases.flatMap(([_company, tables]) =>
    Object.entries(tables).flatMap(([name, rows]) => rows.map(row => ({ name, row: { _company, ...row } }))),
  );
  return Object.fromEntries(
    [...Map.groupBy(held, ({ name }) => name)].map(([name, rows]) => [name, rows.map(each => each.row)]),
  );
};

const meanings = { ...usualMeanings, paid: { payment_status: ["bezahlt"] } };

describe.each(modelWarehouses)("readings that can't be meant, in $name", ({ make }) => {
  let warehouse: ModelWarehouse;
  beforeAll(async () => {
    const planted = Object.entries(misreadings).map(([company, [, tables]]) => [company, tables] as const);
    warehouse = await make({ rows: rowsOf([...planted, ...Object.entries(harmless)]), meanings });
  });
  afterAll(() => warehouse.drop());

  const doubts = async (changed: boolean) => {
    const progress = new StreamProgress("2026-03-15T00:00:00Z");
    if (changed) progress.run.updated = 1;
    const lists = ["invoices", "purchase_orders", "purchase_order_details", "findings"];
    const jobs = streams
      .filter(({ name }) => lists.includes(name))
      .map(stream => ({ company: "acme", stream, progress }));
    const errors: unknown[] = [];
    const order = { models, config: { views: true, meanings } };
    const destination = warehouse.reading as unknown as Destination;
    const told = await doubtfulAssumptions({ order, destination, catalogue: streams, jobs }, errors);
    expect(errors).toEqual([]);
    return textsOf(told);
  };
  const about = (told: readonly string[], company: string) => told.filter(text => text.includes(`(${company})`));

  test("each is a warning with its line of the configuration, and nothing else is one", async () => {
    const told = await doubts(true);
    for (const [company, [line]] of Object.entries(misreadings))
      expect(about(told, company)).toEqual([expect.stringContaining(line)]);
    for (const company of Object.keys(harmless)) expect(about(told, company)).toEqual([]);
    expect(about(told, "every type says credit")).toEqual([
      'meanings.credit.doc_type: ["*credit*"] (every type says credit) takes 100 % of the 30 rows of invoices for credits, which leaves them out of spend, cash requirements and prices paid. See `tributary meanings credit`, and set the line in the configuration to what your service means.',
    ]);
    expect(about(told, "none is paid")).toEqual([
      'meanings.paid.payment_status: ["bezahlt"] (none is paid) is true of none of the 30 rows of invoices: nothing is taken for paid invoices by it. See `tributary meanings paid`, and set the line in the configuration to what your service means.',
    ]);
    // A night in which nothing changed tells the same without asking again.
    expect(await doubts(false)).toEqual(told);
  });

  test("a share that jumps from one run to the next is told once", async () => {
    await doubts(true);
    const company = "most are on hold";
    await warehouse.query(
      `update procurement.invoices set hold_reason = null where _company = '${company}' and doc_id not in ('I-1', 'I-2')`,
    );
    expect(about(await doubts(true), company)).toEqual([
      "meanings.held.hold_reason: filled (most are on hold) takes 6.7 % of the 30 rows of invoices for invoices on hold; in the run before it were 67 %. See `tributary meanings held`, and set the line in the configuration to what your service means.",
    ]);
    expect(about(await doubts(true), company)).toEqual([]);
  });
});
