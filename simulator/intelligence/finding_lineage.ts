import { DAY_MS } from "../calendar.ts";
import type { Entry } from "../collection.ts";
import type { Company } from "../company/company.ts";
import { findingFacts, findingRow, isClosed } from "../company/findings.ts";
import type { Row } from "../source.ts";
import { someContract } from "../sourcing/contracts.ts";
import { DRAWN, valuesOf } from "./family.ts";
import { contributors, evidenceWalk, sourceDocs, timeline, triggeringFacts } from "./finding_evidence.ts";
import { findingIdOf } from "./finding_ids.ts";

/** Where a finding comes from. What it shares with its list row is taken from that row, so the two never disagree. */
export function findingLineage(company: Company, entry: Entry): Row {
  const facts = findingFacts(company, entry);
  const row = findingRow(company, entry);
  const { number, value, cents, vendor, order, document } = facts;
  const v = valuesOf(company, DRAWN.lineage, number);
  const closed = isClosed(facts.status);
  const dismissed = facts.status === "dismissed";
  const field = v.maybe(v.pick(["unit_price", "quantity", "delivery_date"]));
  const related = [
    { kind: "vendor", id: vendor.id, label: v.maybe(vendor.name) },
    ...(order === null ? [] : [{ kind: "purchase_order", id: order, label: v.maybe(`Order ${order}`) }]),
    ...(document === null ? [] : [{ kind: "document", id: document, label: v.maybe(`Rechnung ${document}`) }]),
  ];
  return {
    finding_id: findingIdOf(company, number),
    finding_type: facts.category.types[value % facts.category.types.length] ?? "unclassified",
    category: row["category"],
    title: row["title"],
    summary: row["summary"],
    claim: row["claim"],
    verification_status: row["verification_status"],
    verified_amount: closed ? v.money(cents) : null,
    severity: row["severity"],
    status: row["status"],
    resolved_at: closed ? v.maybe(v.moment(facts.createdAt + 3 * DAY_MS)) : null,
    resolution_notes: row["resolution_notes"],
    dismiss_reason: row["dismiss_reason"],
    dismissed_at: dismissed ? v.maybe(v.moment(facts.createdAt + 3 * DAY_MS)) : null,
    resolved_by: row["resolved_by"],
    superseded_by_finding_id: value % 11 === 3 && number > 1 ? findingIdOf(company, number - 1) : null,
    assigned_to: v.maybe(v.pick(["ana@buyer.example", "Zoë Čapková"])),
    field_name: field,
    current_value: v.decimal(1250 + (value % 5000), 2),
    expected_value: v.decimal(1250, 2),
    doc_id: document,
    vendor_id: row["vendor_id"],
    po_number: row["po_number"],
    invoice_number: document === null ? null : v.maybe(`RE-${document.slice(4)}`),
    contract_id: value % 4 === 1 ? v.maybe(someContract(company, value)) : null,
    potential_savings_usd: row["surfaceable_savings_usd"],
    details: v.maybe({ rule: `R-${value % 90}`, tolerance_pct: 2.5, revision: entry.revision }),
    related_entities: related,
    contributors: contributors(facts, v),
    evidence_walk: evidenceWalk(facts, v),
    aggregate: v.maybe({ function: "sum", value: cents === null ? null : cents / 100 }),
    comparison: v.maybe({ left: "order", right: "invoice", by: field }),
    payment: closed ? v.maybe({ paid: true, on: "2026-01-15" }) : null,
    triggering_facts: triggeringFacts(facts, v),
    source_docs: sourceDocs(facts, v),
    timeline: timeline(company, facts, v),
    reference: v.maybe({ kind: "policy", name: "3-way match" }),
    recovery: dismissed ? null : v.maybe({ state: closed ? "recovered" : "open" }),
    source_fact_id: row["source_fact_id"],
    source_comm_id: row["source_comm_id"],
  };
}
