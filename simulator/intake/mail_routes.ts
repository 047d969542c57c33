import { DAY_MS } from "../calendar.ts";
import type { Company } from "../company/company.ts";
import { NOISE } from "../company/ingested.ts";
import type { World } from "../domain.ts";
import { answerOf, isOn, search } from "../endpoints/lists.ts";
import { perVersion } from "../endpoints/tally.ts";
import { type Faults, noFaults } from "../faults.ts";
import { pageOf } from "../paging.ts";
import { invalid, notFound } from "../refusal.ts";
import type { Request, Route } from "../routes.ts";
import { atTheHead, type Family, type Row, type Source } from "../source.ts";
import { linkSuggestions, mailActions, mailDetail, mailThread, mailThreads } from "./mail_details.ts";
import { factPlace, factsOf, lineageOf, mailFactRows } from "./mail_facts.ts";
import { mailRow, stateOf } from "./mail_rows.ts";
import { type MailFacts, mailFacts, mailKey, mailNumber } from "./mails.ts";

export function mailFamily(company: Company): Family {
  return {
    path: "/communications",
    keyField: "id",
    key: mailKey,
    number: mailNumber,
    row: entry => mailRow(company, mailFacts(company, entry)),
    ranks: atTheHead,
  };
}

/** /communications with all that hangs on a message, and /lineage/fact. */
export function mailRoutes({ company, mode }: World, source: Source): Route[] {
  const { collection } = source;
  const mailAt = (number: number): MailFacts | undefined => {
    const entry = collection.get(number);
    return entry === undefined ? undefined : mailFacts(company, entry);
  };
  const detail = (below: string, data: (facts: MailFacts) => unknown): Route => ({
    template: `/communications/{id}${below}`,
    answer: ({ params }) => {
      const facts = mailAt(mailNumber(params["id"] ?? ""));
      if (facts === undefined) throw notFound(`Communication '${params["id"]}'`);
      return { data: data(facts) };
    },
  });
  const stats = perVersion(collection, () => statsOf(company, source));
  return [
    {
      template: "/communications",
      answer: request => {
        const keep = selection(request.query);
        const page = pageOf(source, request, mode, { keep });
        return answerOf({ communications: page.rows, total: total(company, source, keep, request.faults) }, page);
      },
    },
    { template: "/communications/stats", answer: () => ({ data: { ...stats() } }) },
    detail("", facts => mailDetail(company, facts)),
    detail("/actions", facts => ({ actions: mailActions(company, facts) })),
    detail("/facts", facts => ({ email_ingest_id: facts.feed.id, facts: mailFactRows(company, facts) })),
    detail("/link-suggestions", facts => ({ suggestions: linkSuggestions(company, facts) })),
    detail("/thread", facts => ({ thread: mailThread(company, facts) })),
    detail("/threads", facts => ({ threads: mailThreads(company, facts) })),
    {
      template: "/lineage/fact/{id}",
      answer: ({ params }) => {
        const id = params["id"] ?? "";
        const place = factPlace(id);
        const facts = place === undefined ? undefined : mailAt(place.mail);
        if (place === undefined || facts === undefined || place.index >= factsOf(facts)) throw notFound(`Fact '${id}'`);
        return { data: { fact_id: id, chain: lineageOf(company, facts, place.index) } };
      },
    },
  ];
}

/** Dates are calendar days in UTC and belong to the window; messages without a time are outside every window. */
function selection(query: Request["query"]): (row: Row) => boolean {
  const from = day(query, "date_from") ?? Number.NEGATIVE_INFINITY;
  const to = (day(query, "date_to") ?? Number.POSITIVE_INFINITY) + DAY_MS;
  const dated = query["date_from"] !== undefined || query["date_to"] !== undefined;
  return row => {
    const noise = (NOISE as readonly unknown[]).includes(row["email_class"]);
    if (noise && !isOn(query["include_filed"])) return false;
    if (query["status"] !== undefined && row["status"] !== query["status"]) return false;
    if (query["direction"] !== undefined && row["email_direction"] !== query["direction"]) return false;
    const at = typeof row["received_at"] === "string" ? Date.parse(row["received_at"]) : Number.NaN;
    if (dated && !(at >= from && at < to)) return false;
    return search(row, query["search"], ["subject", "linked_po", "linked_vendor_name", "body_text"]);
  };
}

function day(query: Request["query"], name: string): number | undefined {
  const text = query[name];
  if (text === undefined) return undefined;
  const at = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(`${text.slice(0, 10)}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(at)) throw invalid(name, `${name} must be a calendar date such as 2026-03-01, got '${text}'`);
  return at;
}

/** Some companies' lists give no total, some as text. */
function total(company: Company, source: Source, keep: (row: Row) => boolean, faults: Faults): number | string | null {
  if (company.seed % 5 === 4) return null;
  let count = 0;
  for (const entry of source.collection.walk(Number.NEGATIVE_INFINITY)) if (keep(source.row(entry, faults))) count += 1;
  return company.seed % 2 === 0 ? count : String(count);
}

function statsOf(company: Company, source: Source): Record<string, number> {
  const tally = { open: 0, resolved: 0, snoozed: 0, action_required: 0, urgent: 0, high: 0 };
  const further = { inbound: 0, outbound: 0, unlinked: 0, awaiting_response: 0 };
  for (const entry of source.collection.walk(Number.NEGATIVE_INFINITY)) {
    const row = source.row(entry, noFaults());
    tally[stateOf(mailFacts(company, entry))] += 1;
    if (row["action_required"] === true) tally.action_required += 1;
    if (row["urgency"] === "urgent") tally.urgent += 1;
    if (row["urgency"] === "high") tally.high += 1;
    if (row["email_direction"] === "outbound") further.outbound += 1;
    else further.inbound += 1;
    if (row["linked_po"] === null) further.unlinked += 1;
    if (row["in_reply_to"] === null && row["status"] === "open") further.awaiting_response += 1;
  }
  return { total: source.collection.count, ...tally, ...further };
}
