import { DAY_MS } from "../calendar.ts";
import type { Company } from "../company/company.ts";
import { orderKey } from "../company/orders.ts";
import { hash } from "../random.ts";
import type { Row } from "../source.ts";
import { Values } from "../values.ts";
import { DRAWS } from "./draws.ts";
import type { MailFacts } from "./mails.ts";

const KINDS = ["delivery_promise", "price_statement", "question", "quantity_change"] as const;
const MODELS = ["extractor-2", "extractor-3"] as const;

/** How many facts were read out of a message; each change of it brings one more. */
export function factsOf(facts: MailFacts): number {
  return (facts.value % 4) + Math.min(3, facts.revision);
}

export function factId(mail: number, index: number): string {
  return `FCT-${mail}-${index}`;
}

/** The message and the place behind a fact's id. */
export function factPlace(id: string): { mail: number; index: number } | undefined {
  const match = /^FCT-([1-9]\d{0,14})-(\d{1,3})$/.exec(id);
  return match === null ? undefined : { mail: Number(match[1]), index: Number(match[2]) };
}

/** The facts of a message; the first one is superseded by what a change brought. */
export function mailFactRows(company: Company, facts: MailFacts): Row[] {
  const count = factsOf(facts);
  return Array.from({ length: count }, (_, i) => {
    const v = new Values(hash(company.seed, DRAWS.mailFact, facts.number, i));
    const superseded = i === 0 && facts.revision > 0 && count > 1;
    return {
      fact_id: factId(facts.number, i),
      kind: v.pick(KINDS),
      stated: v.maybe({ week: 1 + v.below(52), text: "KW – „fest“" }),
      act: v.maybe(v.pick(["promise", "ask", "refuse"])),
      topic: v.maybe(v.pick(["delivery", "price", "quality"])),
      speaker: v.maybe(facts.vendor.contact),
      addressee: v.maybe("Einkauf"),
      subject_ref: facts.order === null ? null : v.maybe(`po:${orderKey(facts.order.number)}`),
      in_reply_to: i > 0 ? v.maybe(factId(facts.number, i - 1)) : null,
      valid_from: v.maybe(v.moment(facts.feed.at)),
      condition: v.maybe({ if: "payment before dispatch" }),
      superseded,
      superseded_by_fact_id: superseded ? factId(facts.number, count - 1) : null,
      confidence: v.decimal(v.below(10_001), 4),
      evidence_quote: v.maybe('We will ship "as soon as possible"'),
      display: v.maybe(`${facts.vendor.name}: delivery`),
      po_number: facts.order === null ? null : orderKey(facts.order.number),
      payload: v.maybe({ value: v.below(1000), unit: null }),
      attachment_check: facts.attachment === null ? null : v.maybe({ agrees: v.chance(0.7) }),
      display_fields: v.pick<Row[]>([[], [{ label: "Liefertermin", value: "KW 12" }]]),
    };
  });
}

/** The records that a fact comes from: what was stored, the passage it was read from, the mail itself. */
export function lineageOf(company: Company, facts: MailFacts, index: number): Row[] {
  const tables = ["facts", "source_segments", "email_ingests"].slice(0, 1 + ((facts.value + index) % 3));
  return tables.map((table, step) => {
    const v = new Values(hash(company.seed, DRAWS.lineage, facts.number * 1000 + index, step));
    const from = v.below(500);
    const link = step === 1;
    return {
      table,
      row_id: `${table}-${facts.number}-${index}`,
      evidence_quote: v.maybe('We will ship "as soon as possible"'),
      source_doc_id: v.maybe(facts.feed.id),
      page_start: v.maybe(1),
      page_end: v.maybe(1),
      char_start: v.maybe(from),
      char_end: v.maybe(from + 30),
      parser_version: v.maybe("4.2.0"),
      extraction_run_id: v.maybe(`run-${facts.value % 1000}`),
      llm_call_id: v.maybe(`call-${v.below(100_000)}`),
      fact_kind: v.maybe(v.pick(KINDS)),
      confidence: v.maybe(v.below(1001) / 1000),
      verification_status: v.maybe(v.pick(["verified", "unverified"])),
      source_segment_id: v.maybe(`seg-${v.below(100_000)}`),
      source_segment_type: v.maybe(v.pick(["paragraph", "table_row"])),
      schema_version: v.maybe("7"),
      prompt_version: v.maybe("2026-01"),
      model: v.maybe(v.pick(MODELS)),
      schema_id: v.maybe("mail-fact"),
      canonical_text_sha256: v.maybe(v.next().toString(16).padStart(64, "0")),
      source_channel: v.maybe("email"),
      received_at: v.maybe(v.moment(facts.feed.at)),
      filename: v.maybe(`mail ${facts.number}.eml`),
      document_type: v.maybe("email"),
      source_kind: v.maybe(v.pick(["email", "attachment"])),
      section_tag: v.maybe(v.pick(["body", "signature"])),
      from_type: link ? v.maybe("fact") : null,
      from_id: link ? v.maybe(factId(facts.number, index)) : null,
      to_type: link ? v.maybe("communication") : null,
      to_id: link ? v.maybe(facts.id) : null,
      link_type: link ? v.maybe("read_from") : null,
      match_method: link ? v.maybe("exact") : null,
      action: step === 0 ? v.maybe("confirmed") : null,
      reason: step === 0 ? v.maybe("checked by hand") : null,
      user_id: step === 0 ? v.maybe(`usr-${v.below(20)}`) : null,
      created_at: v.maybe(v.moment(facts.feed.at + v.below(DAY_MS))),
    };
  });
}
