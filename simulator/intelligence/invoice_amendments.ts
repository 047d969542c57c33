import { DAY_MS } from "../calendar.ts";
import type { Entry } from "../collection.ts";
import type { Company } from "../company/company.ts";
import { invoiceFacts, invoiceKey } from "../company/invoices.ts";
import { notFound } from "../refusal.ts";
import type { Row, Source } from "../source.ts";
import { DRAWN, valuesOf } from "./family.ts";

/** Finds the live invoice that bears a number; the list shows the number now and then as null. */
export function invoiceByNumber(company: Company, invoices: Source, printed: string): Entry {
  const entry = invoices.collection.get(Number(/^RE-([1-9]\d{0,14})\/\d+$/.exec(printed)?.[1] ?? Number.NaN));
  if (entry === undefined || numberOf(company, entry) !== printed) throw notFound(`Invoice '${printed}'`);
  return entry;
}

function numberOf(company: Company, entry: Entry): string {
  return `RE-${entry.number}/${invoiceFacts(company, entry).value % 100}`;
}

/** What was changed on an invoice after it came in; a change of its row adds one. */
export function amendments(company: Company, entry: Entry): Row {
  const facts = invoiceFacts(company, entry);
  const v = valuesOf(company, DRAWN.amendment, facts.number);
  const count = (facts.value % 3) + Math.min(3, facts.revision);
  const rows = Array.from({ length: count }, (_, i) => {
    const onLine = v.chance(0.6);
    const at = facts.uploadedAt + (i + 1) * DAY_MS;
    return {
      id: v.chance(0.5) ? facts.number * 10 + i : `AMD-${facts.number}-${i + 1}`,
      doc_id: v.maybe(invoiceKey(facts.number)),
      invoice_number: numberOf(company, entry),
      vendor_id: v.maybe(facts.vendor.id),
      amendment_type: onLine ? "line" : "header",
      line_number: onLine ? v.maybe(i + 1) : null,
      field_name: v.pick(["unit_price", "due_date", "quantity"]),
      old_value: v.maybe("10.50"),
      new_value: v.pick(["10.20", "2026-04-01"]),
      effective_date: v.date(facts.day + i),
      source: v.pick(["email", "manual"]),
      source_detail: v.maybe(`Mail von ${facts.vendor.contact}`),
      created_at: v.moment(at),
      updated_at: v.moment(at + 60_000),
      provenance: v.maybe({ fact_id: `fact-${facts.value % 100_000}` }),
    };
  });
  return { invoice_number: numberOf(company, entry), amendments: rows, total: rows.length };
}
