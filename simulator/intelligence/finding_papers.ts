import { DAY_MS } from "../calendar.ts";
import type { Entry } from "../collection.ts";
import type { Company } from "../company/company.ts";
import { findingFacts, findingRow } from "../company/findings.ts";
import type { Row } from "../source.ts";
import { agentModeOf, agentRunOf } from "./agent_runs.ts";
import { DRAWN, valuesOf } from "./family.ts";
import { findingIdOf } from "./finding_ids.ts";

/** What was drafted for a finding, if anything. */
export function findingDraft(company: Company, entry: Entry): Row {
  const { number, value, document, order, vendor } = findingFacts(company, entry);
  const v = valuesOf(company, DRAWN.draft, number);
  const exists = value % 3 !== 0;
  const links = [
    ...(document === null ? [] : [{ kind: "document", id: document, url: `/documents/${document}`, label: "Invoice" }]),
    ...(order === null
      ? []
      : [{ kind: "purchase_order", id: order, url: `/po/${encodeURIComponent(order)}`, label: null }]),
  ];
  return {
    action_id: exists ? v.maybe(`ACT-F${number}`) : null,
    status: exists ? v.maybe(entry.revision > 0 ? "revised" : "queued_for_approval") : null,
    draft: exists
      ? v.maybe({ to: vendor.contact, subject: "Gutschrift, bitte", body: `Guten Tag,\n"${vendor.name}" …` })
      : null,
    evidence_links: links,
    draftable_kind: v.maybe(v.pick(["email", "credit_request"])),
    already_exists: exists,
  };
}

/** What the procurement agent worked out about a finding. */
export function findingIntel(company: Company, entry: Entry): Row {
  const { number, value, category, cents, createdAt, vendor, order } = findingFacts(company, entry);
  const row = findingRow(company, entry);
  const v = valuesOf(company, DRAWN.intel, number);
  const reviewed = v.chance(0.5);
  return {
    finding_id: findingIdOf(company, number),
    agent_mode: v.maybe(agentModeOf(number)),
    finding_type: v.maybe(category.types[value % category.types.length] ?? null),
    title: row["title"],
    summary: row["summary"],
    findings: v.maybe(["Price is above the order", { lines: value % 9 }].slice(0, value % 3)),
    recommendations: v.maybe([{ text: "Gutschrift anfordern" }, "Check the next invoice"].slice(0, 1 + (value % 2))),
    entity_refs: v.maybe(v.pick<unknown>([{ vendor_id: vendor.id, po_number: order }, [vendor.id], vendor.id])),
    confidence_score: v.decimal(4000 + (value % 6001), 4),
    estimated_savings_usd: v.money(cents),
    priority: v.count(1 + (value % 5)),
    sensor_sources: v.maybe(v.pick<unknown>([["price_sensor"], "price_sensor"])),
    status: v.maybe(entry.revision > 0 ? `reviewed (${entry.revision})` : "new"),
    run_id: v.maybe(agentRunOf(company, number)),
    created_at: v.maybe(v.moment(createdAt + 60_000)),
    supporting_data: v.maybe(v.pick<unknown>([{ samples: 12 }, [1, 2], 7])),
    expires_at: v.maybe(v.moment(createdAt + 90 * DAY_MS)),
    reviewed_at: reviewed ? v.maybe(v.moment(createdAt + DAY_MS)) : null,
    reviewed_by: reviewed ? v.maybe("ana@buyer.example") : null,
  };
}
