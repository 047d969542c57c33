import { DAY_MS } from "../calendar.ts";
import type { Company } from "../company/company.ts";
import { invoiceFacts, invoiceKey, invoiceNumber } from "../company/invoices.ts";
import { orderKey } from "../company/orders.ts";
import type { MakeDomain } from "../domain.ts";
import type { Family } from "../source.ts";
import { DRAWN, lockGroupOf, sizeOf, timeOf, wholeList } from "./family.ts";

/** Every fourth invoice that waits needs two approvals, so its document stands twice in the list. */
function placeOf(number: number): number {
  return number - Math.floor(number / 5);
}

function firstAt(place: number): number {
  return place + Math.floor((place - 1) / 4);
}

function pendingFamily(company: Company): Family {
  const { invoices } = company.sizes;
  const documentAt = (number: number): number => Math.max(1, invoices + 1 - placeOf(number));
  const family = lockGroupOf(company, {
    path: "/approvals/pending",
    keyField: "doc_id",
    prefix: "DOC-",
    drawn: DRAWN.approval,
    row: ({ number, revision, insertedAt }, v) => {
      const facts = invoiceFacts(company, { number: documentAt(number), revision: 0, insertedAt: undefined });
      const at = insertedAt ?? facts.uploadedAt + 3_600_000;
      return {
        action_id: v.maybe(`APR-${number}`),
        doc_id: invoiceKey(documentAt(number)),
        action_type: v.maybe(v.pick(["approve_invoice", "release_hold"])),
        approval_status: v.maybe("pending"),
        assigned_to: v.maybe(v.pick(["ana@buyer.example", "jörg@buyer.example"])),
        due_date: v.date(Math.floor(at / DAY_MS) + 3 + (facts.value % 9)),
        invoice: { document_number: `RE-${facts.number}`, vendor_id: facts.vendor.id, reminder: revision },
        match: { status: facts.status, po_number: facts.order === null ? null : orderKey(facts.order.number) },
        rule: { id: `APP-${1 + (facts.value % 3)}`, over: 5000 },
        vendor_risk_score: v.decimal(facts.value % 1001, 3),
        notes: v.maybe('Bitte prüfen: "Preis?"'),
        created_by: v.maybe("system"),
        created_at: v.maybe(v.moment(at)),
      };
    },
  });
  return {
    ...family,
    key: number => invoiceKey(documentAt(number)),
    number: key => {
      const place = invoices + 1 - invoiceNumber(key);
      return place >= 1 ? firstAt(place) : Number.NaN;
    },
  };
}

function ruleFamily(company: Company): Family {
  return lockGroupOf(company, {
    path: "/approvals/rules",
    keyField: "id",
    prefix: "APP-",
    drawn: DRAWN.approvalRule,
    row: (entry, v) => {
      const { number, revision } = entry;
      const at = timeOf(company, entry, 20, 600);
      return {
        id: `APP-${number}`,
        rule_name: revision > 0 ? `Über ${number * 5000} – edited ${revision}` : `Über ${number * 5000}`,
        rule_type: v.pick(["amount", "vendor", "mismatch"]),
        conditions: v.maybe({ min_total: number * 5000, currency: company.currency }),
        approver_role: v.maybe(v.pick(["head_of_purchasing", "controller"])),
        approver_user_id: v.maybe(`USR-${1 + (number % 4)}`),
        approver_email: v.maybe("freigabe@buyer.example"),
        priority: number * 10,
        is_active: v.chance(0.8),
        created_at: v.maybe(v.moment(at)),
        updated_at: v.maybe(v.moment(at + DAY_MS)),
      };
    },
  });
}

/** /approvals/pending and /approvals/rules. */
export const approvals: MakeDomain = ({ company, source }) => {
  const pending = source(pendingFamily(company), sizeOf(company.sizes.invoices, 10, 1, 150));
  const rules = source(ruleFamily(company), sizeOf(company.sizes.orders, 60, 3, 20));
  return {
    sources: { pending_approvals: pending, approval_rules: rules },
    routes: [wholeList(pending, "pending_approvals"), wholeList(rules, "rules")],
  };
};
