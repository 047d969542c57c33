import { DAY_MS } from "../calendar.ts";
import type { Entry } from "../collection.ts";
import type { Company } from "../company/company.ts";
import { findingFacts } from "../company/findings.ts";
import { parentOf } from "../company/relations.ts";
import type { World } from "../domain.ts";
import { answerOf } from "../endpoints/lists.ts";
import { pageOf } from "../paging.ts";
import { hash } from "../random.ts";
import type { Request, Route } from "../routes.ts";
import type { Row, Source } from "../source.ts";
import type { Values } from "../values.ts";
import { baseEntry, DRAWN, lockGroupOf, sizeOf } from "./family.ts";
import { findingIdOf } from "./finding_ids.ts";

/** /anomalies: the findings that are flagged at present, unless another status is asked for. */
export function anomalies(world: World): { source: Source; route: Route } {
  const { company, mode } = world;
  const size = sizeOf(company.sizes.findings, 2, 400);
  const family = lockGroupOf(company, {
    path: "/anomalies",
    keyField: "id",
    prefix: "",
    drawn: DRAWN.anomaly,
    row: (entry, v) => anomalyRow(company, entry, size, v),
  });
  const source = world.source(family, size);
  const answer: Route["answer"] = request => {
    const page = pageOf(source, request, mode, { keep: row => wanted(row, request.query) });
    return answerOf({ anomalies: page.rows }, page);
  };
  return { source, route: { template: "/anomalies", answer } };
}

function anomalyRow(company: Company, entry: Entry, size: number, v: Values): Row {
  const { number, revision, insertedAt } = entry;
  const { findings } = company.sizes;
  const value = hash(company.seed, DRAWN.anomaly, number, 1);
  const finding = number <= size ? parentOf(number, size, findings) : 1 + (value % Math.max(1, findings));
  const facts = findingFacts(company, baseEntry(finding, findings));
  const type = facts.category.types[facts.value % facts.category.types.length] ?? "unclassified";
  const off = (value % 20_000) - 10_000;
  const title = v.maybe(`${type.replaceAll("_", " ")} at ${facts.vendor.name}`);
  return {
    id: value % 3 === 0 ? String(number) : number,
    finding_id: findingIdOf(company, finding),
    anomaly_type: type,
    severity: ["critical", "high", "medium", "low"][facts.value % 4] ?? "low",
    status: value % 5 === 4 ? "dismissed" : "flagged",
    title: revision > 0 ? `Looked at again (${revision}): ${type}` : title,
    summary: v.maybe(`${type} on ${facts.order ?? "an unknown order"}`),
    description: v.maybe(`The document of "${facts.vendor.name}" says otherwise – bitte prüfen`),
    claim: v.maybe({ stated: type, order: facts.order }),
    verification_status: v.maybe(v.pick(["verified", "unverified"])),
    detected_at: v.moment(insertedAt ?? facts.createdAt + (value % DAY_MS) - DAY_MS),
    related_doc_ids: v.maybe(facts.document === null ? [] : [facts.document]),
    field_name: v.maybe(v.pick(["unit_price", "quantity", "tax_amount"])),
    current_value: v.maybe(v.pick<unknown>([12.5, "12.50", { amount: 12.5 }])),
    expected_value: v.maybe(v.pick<unknown>([11, "11.00", [10, 11]])),
    deviation_score: v.decimal(Math.abs(off), 4),
    deviation_percent: v.decimal(off, 2),
    expectation_part_key: v.maybe(`B-${1 + (value % 500)}`),
    provenance: v.maybe({ fact_id: `fact-${facts.value % 100_000}` }),
  };
}

function wanted(row: Row, query: Request["query"]): boolean {
  if (row["status"] !== (query["status"] ?? "flagged")) return false;
  for (const name of ["severity", "anomaly_type"] as const)
    if (query[name] !== undefined && row[name] !== query[name]) return false;
  const document = query["doc_id"];
  const related = row["related_doc_ids"];
  return document === undefined || (Array.isArray(related) && related.includes(document));
}
