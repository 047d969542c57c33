import type { Entry } from "../collection.ts";
import { type Company, vendorFor } from "../company/company.ts";
import { orderFacts, orderKey } from "../company/orders.ts";
import { parentOf } from "../company/relations.ts";
import type { Vendor } from "../company/vendors.ts";
import { hash } from "../random.ts";
import type { Family, Row } from "../source.ts";
import { Values } from "../values.ts";
import { ACTIONS, type RuleFacts, ruleCount, ruleFacts } from "./automation_rules.ts";
import { DRAWN, lockGroupOf, sizeOf, timeOf } from "./family.ts";

const STATUSES = ["completed", "failed", "completed", "waiting_approval", "running"] as const;

/** What an execution is, apart from how it is written. */
export interface ExecutionFacts {
  readonly id: string;
  readonly number: number;
  readonly revision: number;
  readonly value: number;
  readonly rule: RuleFacts;
  readonly order: string;
  readonly vendor: Vendor;
  readonly status: string;
  /** UNIX milliseconds. */
  readonly at: number;
}

export function executionCount(company: Company): number {
  return sizeOf(company.sizes.orders, 4, 5, 300);
}

export function executionFacts(
  company: Company,
  entry: Pick<Entry, "number" | "revision" | "insertedAt">,
): ExecutionFacts {
  const { number, revision } = entry;
  const value = hash(company.seed, DRAWN.execution, number, 1);
  const { orders } = company.sizes;
  const order = parentOf(number, executionCount(company), orders);
  const known = orders > 0;
  return {
    id: `EXE-${number}`,
    number,
    revision,
    value,
    rule: ruleFacts(company, 1 + (value % Math.max(1, ruleCount(company)))),
    order: orderKey(order),
    vendor: known
      ? orderFacts(company, { number: order, revision: 0, insertedAt: undefined }).vendor
      : vendorFor(company, value),
    status: STATUSES[(value + revision) % STATUSES.length] ?? "completed",
    at: timeOf(company, entry, executionCount(company), 120),
  };
}

export function executionFamily(company: Company): Family {
  return lockGroupOf(company, {
    path: "/automations/executions",
    keyField: "id",
    prefix: "EXE-",
    drawn: DRAWN.execution,
    row: (entry, v) => executionRow(company, executionFacts(company, entry), v),
  });
}

function executionRow(company: Company, facts: ExecutionFacts, v: Values): Row {
  const { rule, status, revision, at, vendor } = facts;
  const done = status === "completed" || status === "failed";
  const resolved = v.chance(0.9);
  const edited = v.chance(0.25);
  return {
    id: facts.id,
    company_id: v.maybe(company.id),
    rule_id: rule.id,
    rule_name: v.maybe(rule.name),
    trigger_event: v.maybe(rule.template.trigger),
    trigger_data: { po_number: facts.order, vendor_id: vendor.id, attempt: revision },
    status,
    engine_workflow_id: v.maybe(`wf-${facts.value.toString(16)}`),
    vendor_id: resolved ? vendor.id : null,
    vendor_name: v.maybe(vendor.name),
    result: done ? v.maybe({ emails: 1, replied: facts.value % 2 === 0 }) : null,
    started_at: v.maybe(v.moment(at)),
    completed_at: done ? v.maybe(v.moment(at + 1000 + (facts.value % 90_000))) : null,
    error: status === "failed" ? v.maybe('Mailbox "purchasing" refused the message') : null,
    edited_subject: edited ? v.maybe(`Nachfrage zu ${facts.order}`) : null,
    edited_body: edited ? v.maybe(`Hello,\n\nplease see ${facts.order}.\n`) : null,
  };
}

/** What was done and written in an execution; `execution` is its row of the list. */
export function executionDetail(company: Company, entry: Entry, execution: Row): Row {
  const facts = executionFacts(company, entry);
  const v = new Values(hash(company.seed, DRAWN.executionDetail, facts.number));
  const { id, at, vendor, rule } = facts;
  const action_logs = Array.from({ length: v.below(4) }, (_, i) => ({
    id: `LOG-${facts.number}-${i + 1}`,
    execution_id: id,
    action_type: v.maybe(ACTIONS[(facts.value + i) % ACTIONS.length] ?? "send_email"),
    action_data: { step: i + 1, revision: facts.revision },
    result: v.maybe(v.pick(["ok", "skipped", "failed"])),
    created_at: v.maybe(v.moment(at + i * 5000)),
  }));
  const emails = Array.from({ length: v.below(3) }, (_, i) => ({
    id: `AML-${facts.number}-${i + 1}`,
    execution_id: id,
    direction: i === 0 ? "outbound" : "inbound",
    sender: v.maybe(i === 0 ? "purchasing@buyer.example" : `verkauf@${vendor.domain}`),
    recipient: v.maybe(i === 0 ? `verkauf@${vendor.domain}` : "purchasing@buyer.example"),
    subject: v.maybe(`${i === 0 ? "" : "AW: "}${rule.template.name} – ${facts.order}`),
    body_html: v.maybe(`<p>${rule.template.name}: <b>${facts.order}</b></p>`),
    body_text: v.maybe(`${rule.template.name}: ${facts.order}\n`),
    mailer_message_id: v.maybe(`<${facts.value.toString(36)}.${i}@mail.example>`),
    created_at: v.maybe(v.moment(at + i * DAY_AND_A_BIT)),
  }));
  return { execution, action_logs, emails };
}

const DAY_AND_A_BIT = 90_000_000;

/** The e-mail that an execution would send. */
export function executionPreview(company: Company, entry: Entry): Row {
  const facts = executionFacts(company, entry);
  const v = new Values(hash(company.seed, DRAWN.executionDetail, facts.number, 1));
  const { rule, vendor } = facts;
  const edited = v.chance(0.25) || facts.revision > 0;
  return {
    subject: v.maybe(`${rule.template.name} – ${facts.order}`),
    body_html: v.maybe(`<p>${rule.template.name}: <b>${facts.order}</b></p>`),
    recipient_email: v.maybe(`verkauf@${vendor.domain}`),
    trigger_data: { po_number: facts.order, vendor_id: vendor.id, attempt: facts.revision },
    trigger_event: v.maybe(rule.template.trigger),
    vendor_name: v.maybe(vendor.name),
    rule_name: v.maybe(rule.name),
    is_edited: edited,
  };
}
