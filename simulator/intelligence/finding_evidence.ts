import { DAY_MS, dayText } from "../calendar.ts";
import type { Company } from "../company/company.ts";
import type { FindingFacts } from "../company/findings.ts";
import type { Row } from "../source.ts";
import { someContract } from "../sourcing/contracts.ts";
import type { Values } from "../values.ts";

/*
 * What bears a finding out. The documents are those the finding cites; the facts are numbered after it.
 */

/** The document lines behind a finding; one without a document has none. */
export function contributors({ value, cents, document }: FindingFacts, v: Values): Row[] {
  if (document === null) return [];
  return Array.from({ length: 1 + (value % 3) }, (_, i) => {
    const quoted = v.chance(0.7);
    return {
      line_no: v.count(i + 1),
      part_number: v.maybe(`B-${(value + i) % 500}`),
      field: v.maybe("unit_price"),
      observed_value: v.decimal(105_000 + i, 4),
      expected_value: v.decimal(100_000 + i, 4),
      quantity: v.decimal(2500 * (i + 1), 3),
      line_overcharge: v.money(cents === null ? null : Math.floor(cents / (i + 2))),
      fact_id: v.maybe(`fact-${(value + i) % 100_000}`),
      evidence_quote: quoted ? v.maybe('"Einzelpreis 10,50 €"') : null,
      char_start: quoted ? v.count(100 + i) : null,
      char_end: quoted ? v.count(121 + i) : null,
      walkable: quoted,
      resolved: value % 2 === 0,
    };
  });
}

/** Both sides of the comparison, step by step. Values are texts, numbers and truth values. */
export function evidenceWalk({ value, document, number }: FindingFacts, v: Values): Row[] {
  const sides = value % 4 === 0 ? [] : ["expected", "observed", "context"].slice(0, 1 + (value % 3));
  return sides.map((side, i) => ({
    side,
    label: `${side} value`,
    field: v.maybe("unit_price"),
    value: v.maybe(v.pick<unknown>([10.5, "10.50", true, "Werk Süd"])),
    doc_id: document === null ? null : v.maybe(document),
    line_no: v.count(i + 1),
    fact_id: v.maybe(`fact-${(value + i) % 100_000}`),
    quote: v.maybe("laut Auftrag;\n10,50 € / Stk."),
    source_kind: v.maybe(v.pick(["document", "email"])),
    source_table: v.maybe("line_items"),
    source_row_key: v.maybe(`${number}:${i}`),
    ref: v.maybe(`#/lines/${i}`),
    walkable: v.chance(0.6),
  }));
}

export function triggeringFacts({ value, document }: FindingFacts, v: Values): Row[] {
  return Array.from({ length: value % 3 }, (_, i) => {
    const page = 1 + (value % 5);
    return {
      fact_id: `fact-${(value + i) % 100_000}`,
      evidence_quote: v.maybe(`"Liefertermin" 第${i + 1}行`),
      doc_id: document === null ? null : v.maybe(document),
      page_start: v.count(page),
      page_end: v.count(page),
      char_start: v.count(40 * i),
      char_end: v.count(40 * i + 22),
      parser_version: v.maybe("p-2026.1"),
    };
  });
}

export function sourceDocs({ value, document, vendor }: FindingFacts, v: Values): Row[] {
  const documents = document === null ? [] : [document, ...(value % 3 === 0 ? [`DOC-P${value % 1000}`] : [])];
  return documents.map((doc, i) => ({
    doc_id: doc,
    doc_title: v.maybe(`Rechnung von ${vendor.name}`),
    filename: v.maybe(`${doc} „Kopie“.pdf`),
    document_number: v.maybe(doc.slice(4)),
    source_kind: v.maybe(v.pick(["upload", "email"])),
    primary: i === 0,
  }));
}

/** What came before the finding: its order, its document, a mail, now and then a contract. */
export function timeline(company: Company, { value, order, document, createdAt }: FindingFacts, v: Values): Row[] {
  const kinds = ["order", "document", "communication", "contract"].slice(0, 1 + (value % 4));
  const day = Math.floor(createdAt / DAY_MS);
  return kinds.map((kind, i) => {
    const contract = kind === "contract";
    const mail = kind === "communication";
    return {
      kind,
      date: dayText(day - 40 + 5 * i),
      contract_id: contract ? v.maybe(someContract(company, value)) : null,
      contract_number: contract ? v.maybe(`RV/${value % 900}`) : null,
      expiration_date: contract ? v.date(day + 200) : null,
      po_number: kind === "order" ? order : null,
      doc_id: kind === "document" ? document : null,
      doc_type: kind === "document" ? v.maybe("invoice") : null,
      primary: i === 0,
      label: v.maybe(`${kind} ⏱`),
      communication_id: mail ? v.maybe(`EML-${value % 1000}`) : null,
      subject: mail ? v.maybe('Re: Rechnung, "final"') : null,
      specifics: v.maybe({ step: i + 1 }),
    };
  });
}
