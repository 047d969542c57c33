import type { Entry } from "../collection.ts";
import { type Company, vendorFor } from "../company/company.ts";
import { invoiceKey } from "../company/invoices.ts";
import { orderKey } from "../company/orders.ts";
import { parentOf } from "../company/relations.ts";
import { hash } from "../random.ts";
import type { Family, Row } from "../source.ts";
import type { Values } from "../values.ts";
import { executionCount, executionFacts } from "./automation_executions.ts";
import { DRAWN, lockGroupOf, sizeOf, timeOf } from "./family.ts";

export const TOOLS: readonly [string, ...string[]] = ["email_vendor", "update_promise", "file_document", "open_claim"];

export function eventCount(company: Company): number {
  return sizeOf(company.sizes.orders, 2, 10, 500);
}

export function eventFamily(company: Company): Family {
  return lockGroupOf(company, {
    path: "/automations/events",
    keyField: "id",
    prefix: "EVT-",
    drawn: DRAWN.event,
    row: (entry, v) => {
      const { number, revision } = entry;
      const { orders, invoices } = company.sizes;
      const ofInvoice = invoices > 0 && number % 3 === 0;
      const size = eventCount(company);
      const entity = ofInvoice
        ? invoiceKey(parentOf(number, size, invoices))
        : orderKey(parentOf(number, size, Math.max(1, orders)));
      const at = timeOf(company, entry, size, 90);
      return {
        id: `EVT-${number}`,
        event_type: v.maybe(ofInvoice ? "invoice.unmatched" : v.pick(["po.unconfirmed", "po.past_due"])),
        source: v.maybe(v.pick(["poller", "ingest", "user"])),
        entity_id: v.maybe(entity),
        entity_type: v.maybe(ofInvoice ? "invoice" : "purchase_order"),
        payload: { entity, attempt: revision, note: 'Größe "L"' },
        processed_at: v.chance(0.8) ? v.moment(at + 1500) : null,
        created_at: v.maybe(v.moment(at)),
      };
    },
  });
}

/** Odd entries tell of an execution, even ones of the agent. */
export function historyCount(company: Company): number {
  return 2 * executionCount(company);
}

export const isAgents = (number: number): boolean => number % 2 === 0;

export function historyFamily(company: Company): Family {
  return lockGroupOf(company, {
    path: "/automations/history",
    keyField: "id",
    prefix: "HIS-",
    drawn: DRAWN.history,
    row: (entry, v) => (isAgents(entry.number) ? agentEntry(company, entry, v) : executionEntry(company, entry, v)),
  });
}

function executionEntry(company: Company, entry: Entry, v: Values): Row {
  const facts = executionFacts(company, {
    number: (entry.number + 1) / 2,
    revision: entry.revision,
    insertedAt: entry.insertedAt,
  });
  return {
    id: `HIS-${entry.number}`,
    record_id: facts.id,
    source: "automation",
    status: facts.status,
    occurred_at: v.moment(facts.at),
    rule_id: v.maybe(facts.rule.id),
    rule_name: v.maybe(facts.rule.name),
    tool_id: null,
    vendor_name: v.maybe(facts.vendor.name),
    reasoning_summary: null,
    entity_refs: v.maybe([{ type: "purchase_order", id: facts.order }]),
    execution_action_id: v.maybe(`LOG-${facts.number}-1`),
  };
}

function agentEntry(company: Company, entry: Entry, v: Values): Row {
  const { number, revision } = entry;
  const value = hash(company.seed, DRAWN.history, number, 1);
  const statuses = ["executed", "dismissed", "failed"] as const;
  // Now and then the agent acts within an execution of a rule.
  const within = v.chance(0.2)
    ? executionFacts(company, { number: number / 2, revision: 0, insertedAt: undefined })
    : null;
  const order = orderKey(parentOf(number, historyCount(company), Math.max(1, company.sizes.orders)));
  return {
    id: `HIS-${number}`,
    record_id: `DEC-${number / 2}`,
    source: "agent",
    status: statuses[(value + revision) % 3] ?? "executed",
    occurred_at: v.moment(timeOf(company, entry, historyCount(company), 120)),
    rule_id: within === null ? null : v.maybe(within.rule.id),
    rule_name: within === null ? null : v.maybe(within.rule.name),
    tool_id: v.maybe(v.pick(TOOLS)),
    vendor_name: v.maybe(vendorFor(company, value >>> 4).name),
    reasoning_summary: v.maybe(`Lieferung zu ${order} ist überfällig; "asked twice"`),
    entity_refs: v.maybe([{ type: "purchase_order", id: order }, { type: "tool" }]),
    execution_action_id: within === null ? null : v.maybe(`LOG-${within.number}-1`),
  };
}
