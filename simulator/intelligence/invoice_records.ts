import { DAY_MS } from "../calendar.ts";
import type { Entry } from "../collection.ts";
import type { Company } from "../company/company.ts";
import { invoiceMatch } from "../company/invoice_lines.ts";
import { type InvoiceFacts, invoiceFacts, invoiceKey, invoiceLine, invoiceRow } from "../company/invoices.ts";
import { itemFacts } from "../company/items.ts";
import type { Row } from "../source.ts";
import { DRAWN, valuesOf } from "./family.ts";

const ACTIONS = ["received", "matched", "hold", "release", "approve"] as const;

/** The accounts that the lines are booked to, the same as in the invoice's match. */
export function glCoding(company: Company, entry: Entry): Row {
  const facts = invoiceFacts(company, entry);
  const match = invoiceMatch(company, entry);
  const coded = match["line_items"] as readonly Row[];
  const rows = coded.map((line, i) => {
    const billed = invoiceLine(company, facts, i);
    const confidence = line["gl_confidence"];
    return {
      line_id: i % 2 === 0 ? facts.number * 1000 + i : String(facts.number * 1000 + i),
      line_no: i + 1,
      description: itemFacts(company, billed.item).description,
      line_total: billed.cents / 100,
      gl_account_code: line["gl_account_code"],
      gl_cost_center: line["gl_cost_center"],
      gl_confidence: typeof confidence === "string" ? Number(confidence) : confidence,
      gl_coded_by: line["gl_coded_by"],
    };
  });
  const done = rows.filter(row => row.gl_account_code !== null).length;
  return {
    rows,
    summary: { coded_lines: done, total_lines: rows.length, all_coded: done === rows.length },
    payment_status: invoiceRow(company, entry)["payment_status"],
  };
}

function steps(facts: InvoiceFacts): { action: (typeof ACTIONS)[number]; at: number }[] {
  const count = Math.min(ACTIONS.length, 1 + (facts.value % 4) + facts.revision);
  return ACTIONS.slice(0, count).map((action, i) => ({ action, at: facts.uploadedAt + i * 7_200_000 }));
}

/** What was done with the invoice; a change of it adds a step. */
export function statusHistory(company: Company, entry: Entry): Row {
  const facts = invoiceFacts(company, entry);
  const v = valuesOf(company, DRAWN.invoiceStatus, facts.number);
  const taken = steps(facts);
  return {
    doc_id: invoiceKey(facts.number),
    current_status: String(invoiceRow(company, entry)["current_status"] ?? "open"),
    status_changed_by: v.pick(["system", "Zoë Čapková"]),
    status_changed_at: v.moment(taken.at(-1)?.at ?? facts.uploadedAt),
    history: taken.map(({ action, at }, i) => ({
      id: facts.number * 100 + i,
      action_type: action,
      notes: v.maybe("Geprüft,\nsee mail"),
      hold_reason: action === "hold" ? v.maybe("Price differs from order") : null,
      created_by: v.pick(["system", "ana@buyer.example"]),
      created_at: v.moment(at),
    })),
  };
}

/** The same steps as one course of events, with the upload before them. */
export function invoiceTimeline(company: Company, entry: Entry): Row {
  const facts = invoiceFacts(company, entry);
  const v = valuesOf(company, DRAWN.invoiceStatus, facts.number);
  const upload = { type: "upload", action: null, user: v.maybe("ingest"), ts: v.moment(facts.uploadedAt - 60_000) };
  return {
    timeline: [
      { ...upload, notes: v.maybe("By e-mail ✉"), hold_reason: null },
      ...steps(facts).map(({ action, at }) => ({
        type: "status",
        action: v.maybe(action),
        user: v.maybe(v.pick(["system", "ana@buyer.example"])),
        ts: v.moment(at),
        notes: v.maybe("Geprüft"),
        hold_reason: action === "hold" ? v.maybe("Price differs from order") : null,
      })),
    ],
  };
}

/** The service's account of an invoice. */
export function invoiceIntelligence(company: Company, entry: Entry): Row {
  const facts = invoiceFacts(company, entry);
  const v = valuesOf(company, DRAWN.invoiceIntelligence, facts.number);
  const points =
    facts.status === "matched" ? [] : ["Price above order", "No receipt yet"].slice(0, 1 + (facts.value % 2));
  const acknowledged = facts.value % 3 === 0 ? ["Freight not on order"] : [];
  return {
    doc_id: invoiceKey(facts.number),
    generated_at: v.moment(facts.uploadedAt + DAY_MS / 2),
    severity: v.maybe(points.length === 0 ? "low" : "high"),
    summary: v.maybe(`${points.length} points – "${facts.vendor.name}"`),
    findings: points.map(title => ({
      title,
      description: `${title}: bitte mit ${facts.vendor.contact} klären`,
      severity: v.maybe(v.pick(["low", "high"])),
    })),
    acknowledged_findings: acknowledged.map(title => ({
      title,
      user_id: v.maybe(`USR-${facts.value % 40}`),
      user_email: v.maybe("ana@buyer.example"),
      acknowledged_at: v.maybe(v.moment(facts.uploadedAt + DAY_MS)),
      note: v.maybe("Agreed by phone ☎"),
    })),
    stale: facts.revision > 0,
  };
}
