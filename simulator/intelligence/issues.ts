import { DAY_MS } from "../calendar.ts";
import type { Entry } from "../collection.ts";
import type { Company } from "../company/company.ts";
import { invoiceAmounts, invoiceFacts, invoiceKey, invoiceRow } from "../company/invoices.ts";
import { parentOf } from "../company/relations.ts";
import type { World } from "../domain.ts";
import { answerOf, search } from "../endpoints/lists.ts";
import { perVersion } from "../endpoints/tally.ts";
import { pageOf } from "../paging.ts";
import { hash } from "../random.ts";
import type { Request, Route } from "../routes.ts";
import type { Row, Source } from "../source.ts";
import type { Values } from "../values.ts";
import { baseEntry, DRAWN, lockGroupOf, sizeOf, timeOf } from "./family.ts";

const STATES = ["active", "resolved", "active", "dismissed"] as const;
const TYPES = ["missing_field", "price_mismatch", "duplicate_document", "unreadable_total"] as const;
const FIELDS = ["total_amount", "document_date", "unit_price", "vendor_name"] as const;

type State = (typeof STATES)[number];

function stateOf(company: Company, { number, revision }: Entry): State {
  return STATES[(hash(company.seed, DRAWN.issue, number, 1) + revision) % STATES.length] ?? "active";
}

/** /issues: about the company's invoices. */
export function issues(world: World): { source: Source; route: Route } {
  const { company, mode } = world;
  const size = sizeOf(company.sizes.invoices, 3, 400);
  const family = lockGroupOf(company, {
    path: "/issues",
    keyField: "id",
    prefix: "ISS-",
    drawn: DRAWN.issue,
    row: (entry, v) => issueRow(company, entry, size, v),
  });
  const source = world.source(family, size);
  const counts = perVersion(source.collection, () => {
    const tally: Record<State | "total", number> = { active: 0, dismissed: 0, resolved: 0, total: 0 };
    for (const entry of source.collection.walk(Number.NEGATIVE_INFINITY)) {
      tally[stateOf(company, entry)] += 1;
      tally.total += 1;
    }
    return tally;
  });
  const answer: Route["answer"] = request => {
    const page = pageOf(source, request, mode, { keep: row => wanted(row, request.query) });
    return answerOf({ issues: page.rows, counts: { ...counts() } }, page);
  };
  return { source, route: { template: "/issues", answer } };
}

function issueRow(company: Company, entry: Entry, size: number, v: Values): Row {
  const { number, revision } = entry;
  const { invoices } = company.sizes;
  const value = hash(company.seed, DRAWN.issue, number, 2);
  const invoice = number <= size ? parentOf(number, size, invoices) : 1 + (value % Math.max(1, invoices));
  const facts = invoiceFacts(company, baseEntry(invoice, invoices));
  const document = invoiceRow(company, baseEntry(invoice, invoices));
  const createdAt = timeOf(company, entry, size, company.historyDays);
  const state = stateOf(company, entry);
  const done = state !== "active";
  const fields = FIELDS.slice(0, value % FIELDS.length);
  const words = v.maybe(`About "${facts.vendor.name}",\nsee the document`);
  const type = TYPES[(value >>> 6) % TYPES.length] ?? TYPES[0];
  return {
    id: `ISS-${number}`,
    issue_id: `issue-${value.toString(16)}-${number}`,
    source: v.pick(["extraction", "matching"]),
    type,
    severity: v.pick(["critical", "high", "medium", "low"]),
    affected_count: fields.length,
    affected_fields: fields,
    current_value: v.maybe(String(value % 1000)),
    expected_value: v.maybe((value % 997).toFixed(2)),
    deviation_score: v.maybe((value % 1000) / 100),
    description: revision > 0 ? `Looked at again (${revision})` : words,
    status: state,
    actioned_by: done ? v.maybe("ana@buyer.example") : null,
    actioned_at: done ? v.maybe(v.moment(createdAt + 3_600_000 * (1 + revision))) : null,
    resolution_notes: done ? v.maybe("Geprüft, erledigt ✔") : null,
    created_at: v.maybe(v.moment(createdAt)),
    doc_id: v.maybe(invoiceKey(invoice)),
    file_name: document["file_name"],
    document_number: document["document_number"],
    total_amount: v.maybe(invoiceAmounts(company, facts).total / 100),
    vendor_name: v.maybe(facts.vendor.name),
    vendor_id: document["vendor_id"],
  };
}

function wanted(row: Row, query: Request["query"]): boolean {
  for (const name of ["status", "severity", "type"] as const)
    if (query[name] !== undefined && row[name] !== query[name]) return false;
  const { date_from: from, date_to: to, type_prefix: prefix, vendor } = query;
  if (prefix !== undefined && !String(row["type"]).startsWith(prefix)) return false;
  if (vendor !== undefined && row["vendor_id"] !== vendor && row["vendor_name"] !== vendor) return false;
  if (from !== undefined || to !== undefined) {
    const at = row["created_at"] === null ? Number.NaN : Date.parse(String(row["created_at"]));
    if (from !== undefined && !(at >= Date.parse(from))) return false;
    if (to !== undefined && !(at < Date.parse(to) + (to.length === 10 ? DAY_MS : 1))) return false;
  }
  return search(row, query["search"], ["description", "document_number", "vendor_name"]);
}
