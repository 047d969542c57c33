import { dayOf } from "../calendar.ts";
import type { Entry } from "../collection.ts";
import { hash } from "../random.ts";
import { Values } from "../values.ts";
import { type Company, PURPOSE, vendorFor } from "./company.ts";
import { type Branch, branchOf, feedTime, invoiceOfRow } from "./feed.ts";
import { type InvoiceFacts, invoiceAmounts, invoiceFacts, invoiceKey } from "./invoices.ts";
import { orderKey } from "./orders.ts";
import type { Vendor } from "./vendors.ts";

/** What a feed row is, apart from how it is written. */
export interface FeedFacts {
  readonly number: number;
  readonly value: number;
  readonly branch: Branch;
  readonly id: string;
  /** UNIX milliseconds. */
  readonly at: number;
  readonly invoice: InvoiceFacts | null;
  readonly vendor: Vendor;
  /** Noise mail, filed away: not listed unless asked for. */
  readonly filed: boolean;
}

export const NOISE = ["vendor_marketing", "auto_reply", "system_notification"] as const;
const KINDS = ["purchase_order", "quote", "packing_slip", "order_confirmation", "certificate"] as const;
const SUBJECTS = [
  "AW: Lieferverzug – Auftrag",
  'Re: Your order, "urgent"',
  "ご注文の確認",
  "Price change effective 1 Jan 📈",
  "Out of office: Zoë Čapková",
];
const STATUSES = ["processed", "processed", "review", "processing", "failed"];

function feedId(number: number, branch: Branch): string {
  return branch === "email" ? `EML-${number}` : branch === "import" ? `IMP-${number}` : `DOC-F${number}`;
}

/** The number behind a feed id; a document that is an invoice bears the invoice's id. */
export function feedNumber(id: string, rowOf: (invoice: number) => number | undefined): number {
  const number = Number(/^(?:EML-|IMP-|DOC-F)([1-9]\d{0,14})$/.exec(id)?.[1] ?? Number.NaN);
  if (!Number.isNaN(number)) return feedId(number, branchOf(number)) === id ? number : Number.NaN;
  const invoice = Number(/^DOC-([1-9]\d{0,14})$/.exec(id)?.[1] ?? Number.NaN);
  return rowOf(invoice) ?? Number.NaN;
}

/** The feed id at a number, whatever was or wasn't inserted. */
export function feedKey(company: Company, number: number): string {
  const branch = branchOf(number);
  const invoice = branch === "document" && number <= company.sizes.ingested ? invoiceOfRow(company, number) : undefined;
  return invoice === undefined ? feedId(number, branch) : invoiceKey(invoice);
}

export function feedFacts(company: Company, entry: Entry): FeedFacts {
  const { number } = entry;
  const fresh = entry.insertedAt !== undefined;
  const value = hash(company.seed, PURPOSE.ingestedFacts, number);
  const branch = branchOf(number);
  const paired = branch === "document" && !fresh ? invoiceOfRow(company, number) : undefined;
  const invoice =
    paired === undefined ? null : invoiceFacts(company, { number: paired, revision: 0, insertedAt: undefined });
  return {
    number,
    value,
    branch,
    id: paired === undefined ? feedId(number, branch) : invoiceKey(paired),
    at: entry.insertedAt ?? feedTime(company, number),
    invoice,
    vendor: invoice?.vendor ?? vendorFor(company, value >>> 4),
    filed: branch === "email" && value % 6 === 0,
  };
}

/** One row of the feed, all documented fields present; what a branch doesn't have is null. */
export function feedRow(company: Company, entry: Entry): Record<string, unknown> {
  const facts = feedFacts(company, entry);
  const { number, value, branch, vendor, filed, invoice } = facts;
  const { revision } = entry;
  const v = new Values(hash(company.seed, PURPOSE.ingestedRow, number));
  const mail = branch === "email";
  const doc = branch === "document";
  const rows = 10 + (value % 5000);
  const failed = value % 4 === 0 ? value % 9 : 0;
  const cents =
    invoice === null ? (value % 3 === 0 ? null : value % 9_000_000) : invoiceAmounts(company, invoice).total;
  const subject = `${SUBJECTS[value % SUBJECTS.length] ?? ""} ${number}`;
  const resolved = v.chance(0.85);
  const type = mail
    ? "email"
    : doc
      ? invoice === null
        ? (KINDS[value % KINDS.length] ?? "quote")
        : "invoice"
      : "workbook";
  const summary = v.maybe(`${type} from ${vendor.name}, ${dayOf(facts.at) % 30} pages?\nReceived without errors`);
  const status = v.maybe(STATUSES[value % STATUSES.length] ?? null);
  return {
    row_type: branch,
    id: facts.id,
    source: mail ? "email" : value % 2 === 0 ? "upload" : "email",
    type,
    party: v.maybe(vendor.name),
    title: v.maybe(mail ? subject : `${type} ${facts.id}.${doc ? "pdf" : "xlsx"}`),
    ts: v.maybe(v.moment(facts.at)),
    status: revision > 0 ? `processed again (${revision})` : status,
    size_bytes: v.count(1000 + (value % 4_000_000)),
    page_count: doc ? v.count(1 + (value % 12)) : null,
    parent_email_id: doc && value % 2 === 1 && number > 1 ? v.maybe(`EML-${number - 1}`) : null,
    subject: mail ? v.maybe(subject) : null,
    sender_email: mail ? v.maybe(`verkauf@${vendor.domain}`) : null,
    body_preview: mail ? v.maybe(`Sehr geehrte Damen und Herren,\n\n"${subject}" …`) : null,
    summary: revision > 0 ? `${type}, read again (${revision})` : summary,
    vendor_id: resolved ? vendor.id : null,
    vendor_name: v.maybe(vendor.name),
    vendor_resolved: v.maybe(resolved),
    vendor_website: resolved ? v.maybe(vendor.website) : null,
    document_number: doc ? v.maybe(invoice === null ? `D-${number}` : `RE-${invoice.number}`) : null,
    buyer_po_number: invoice?.order == null ? null : v.maybe(orderKey(invoice.order.number)),
    total_amount: doc ? v.money(cents) : null,
    currency_code: doc ? v.maybe(vendor.currency) : null,
    amount_basis: doc ? (cents === null ? "none" : "document_total") : "none",
    email_direction: mail ? v.maybe(value % 4 === 0 ? "outbound" : "inbound") : null,
    email_class: mail ? (filed ? (NOISE[value % 3] ?? NOISE[0]) : v.maybe("vendor_message")) : null,
    filed_reason: filed ? v.maybe("Newsletter, nothing to do") : null,
    filed_summary: filed ? v.maybe("Werbung") : null,
    thread_message_count: mail ? v.count(1 + (value % 7)) : null,
    attachments:
      mail && value % 3 === 0
        ? [{ doc_id: `DOC-F${number + 1}`, file_name: `Anlage "${number}".pdf`, size: value % 100_000 }]
        : [],
    sheet_count: branch === "import" ? v.count(1 + (value % 4)) : null,
    import_rows_total: branch === "import" ? v.count(rows) : null,
    import_rows_inserted: branch === "import" ? v.count(rows - failed) : null,
    import_rows_errored: branch === "import" ? v.count(failed) : null,
  };
}
