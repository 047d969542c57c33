import { DAY_MS } from "../calendar.ts";
import type { Entry } from "../collection.ts";
import type { Company } from "../company/company.ts";
import { invoiceKey } from "../company/invoices.ts";
import type { World } from "../domain.ts";
import { answerOf } from "../endpoints/lists.ts";
import { pageOf } from "../paging.ts";
import { hash } from "../random.ts";
import { notFound } from "../refusal.ts";
import type { Route } from "../routes.ts";
import type { Row, Source } from "../source.ts";
import type { Values } from "../values.ts";
import { DRAWN, lockGroupOf, numberBehind, sizeOf, timeOf, valuesOf } from "./family.ts";

export const INSIGHT_CATEGORIES = ["spend", "delivery", "contracts", "tail_spend"] as const;
const TRIAGES = ["kept", "merged", "snoozed"] as const;
/** A generation run brings so many insights. */
const PER_RUN = 6;

/** The category and the savings (cents) of an insight. */
export function insightFacts(company: Company, number: number): { category: string; cents: number; isNew: boolean } {
  const value = hash(company.seed, DRAWN.insight, number, 1);
  const category = INSIGHT_CATEGORIES[value % INSIGHT_CATEGORIES.length] ?? INSIGHT_CATEGORIES[0];
  return { category, cents: (value >>> 3) % 9_000_000, isNew: value % 3 === 0 };
}

/** /insights, /insights/history and /insights/runs/{run_id}. */
export function insights(world: World): { current: Source; past: Source; routes: Route[] } {
  const { company, mode } = world;
  const size = sizeOf(company.sizes.findings, 2, 300);
  const pastSize = sizeOf(company.sizes.findings, 1, 400);
  const current = world.source(
    lockGroupOf(company, {
      path: "/insights",
      keyField: "insight_id",
      prefix: "INS-",
      drawn: DRAWN.insight,
      row: (entry, v) => insightRow(company, entry, entry.number, size, v),
    }),
    size,
  );
  // An insight comes back in the history: three of its rows tell of two insights.
  const past = world.source(
    lockGroupOf(company, {
      path: "/insights/history",
      keyField: "insight_id",
      prefix: "INSH-",
      drawn: DRAWN.pastInsight,
      row: (entry, v) => insightRow(company, entry, Math.ceil((entry.number * 2) / 3), pastSize, v),
    }),
    pastSize,
  );
  return {
    current,
    past,
    routes: [
      {
        template: "/insights",
        answer: request => {
          const page = pageOf(current, request, mode);
          return answerOf({ currency_code: company.currency, insights: page.rows }, page);
        },
      },
      {
        template: "/insights/history",
        answer: request => {
          const page = pageOf(past, request, mode);
          const { count } = past.collection;
          const limit = Number(request.query["limit"] ?? 25);
          const beside = valuesOf(company, DRAWN.insightFigures, count);
          const numbers = {
            total: beside.count(count),
            page: beside.count(1),
            pages: beside.count(Math.ceil(count / limit)),
          };
          return answerOf({ currency_code: company.currency, insights: page.rows, ...numbers }, page);
        },
      },
      { template: "/insights/runs/{run_id}", answer: ({ params }) => ({ data: runRow(params["run_id"] ?? "") }) },
    ],
  };

  function runRow(id: string): Row {
    const number = numberBehind("RUN-", id);
    if (!(number <= runOf(size + current.collection.insertions))) throw notFound(`Insight run '${id}'`);
    const v = valuesOf(company, DRAWN.insightRun, number);
    const failed = v.chance(0.15);
    const startedAt = (company.anchorDay - 3 * Math.max(0, runOf(size) - number)) * DAY_MS - 3_600_000;
    return {
      run_id: id,
      status: failed ? "failed" : "completed",
      insights_generated: failed ? null : v.count(PER_RUN),
      llm_cost_usd: failed ? null : v.decimal(v.between(100, 90_000), 4),
      error_message: failed ? v.maybe("The model gave no answer") : null,
      started_at: v.maybe(v.moment(startedAt)),
      completed_at: failed ? null : v.maybe(v.moment(startedAt + 240_000)),
    };
  }
}

function runOf(number: number): number {
  return Math.ceil(number / PER_RUN);
}

function insightRow(company: Company, entry: Entry, number: number, size: number, v: Values): Row {
  const { revision } = entry;
  const { category, cents } = insightFacts(company, number);
  const at = timeOf(company, entry, size, Math.min(365, company.historyDays));
  const triaged = v.chance(0.5);
  const assigned = v.chance(0.4);
  const reviewed = v.chance(0.4);
  const status = v.maybe(v.pick(["new", "actioned", "dismissed"]));
  const title = v.maybe(`${category.replaceAll("_", " ")}: bundle orders – Bündelung möglich 📦`);
  return {
    insight_id: `INS-${number}`,
    analysis_type: v.maybe(v.pick(["consolidation", "price_benchmark"])),
    category: v.maybe(category),
    title: revision > 0 ? `Reworked (${revision}): ${category}` : title,
    summary: v.maybe(`Worth about ${cents / 100};\n"${category}"`),
    findings: v.maybe(["Two vendors, one part", { share: 0.4, vendors: 2 }].slice(0, number % 3)),
    recommendations: v.maybe([{ step: 1, text: "Ask for a quote" }, "Bundle orders"].slice(0, 1 + (number % 2))),
    supporting_data: v.maybe({ doc_id: invoiceKey(Math.max(1, number)), samples: 12 }),
    confidence_score: v.decimal(v.between(3000, 10_000), 4),
    potential_savings_usd: v.money(cents),
    verification_status: v.maybe(v.pick(["verified", "unverified"])),
    priority: v.count(1 + (number % 5)),
    sensor_source: v.maybe(["price_sensor", "spend_sensor"].slice(0, number % 3)),
    status,
    run_id: v.maybe(`RUN-${runOf(number)}`),
    recurrence_count: v.count(1 + (number % 4)),
    first_seen_at: v.maybe(v.moment(at - 20 * DAY_MS)),
    created_at: v.maybe(v.moment(at)),
    auto_triaged_at: triaged ? v.maybe(v.moment(at + 60_000)) : null,
    auto_triage_action: triaged ? v.maybe(TRIAGES[number % TRIAGES.length] ?? null) : null,
    triage_trace_id: triaged ? v.maybe(`trace-${number}`) : null,
    triage_reason: triaged ? v.maybe("Seen before") : null,
    provenance: v.maybe({ run: runOf(number) }),
    metric_backing: v.maybe({ rows: number % 9, basis: "invoices" }),
    assigned_to: assigned ? v.maybe("Zoë Čapková") : null,
    assigned_at: assigned ? v.maybe(v.moment(at + DAY_MS)) : null,
    dismiss_reason: status === "dismissed" ? v.maybe("not material") : null,
    action_notes: status === "actioned" ? v.maybe("Angebot eingeholt") : null,
    reviewed_at: reviewed ? v.maybe(v.moment(at + 2 * DAY_MS)) : null,
    reviewed_by: reviewed ? v.maybe('Robert "Bob" Hale') : null,
  };
}
