import { DAY_MS, momentText } from "../calendar.ts";
import { invoiceAmounts, invoiceFacts, invoiceKey } from "../company/invoices.ts";
import type { World } from "../domain.ts";
import { hash } from "../random.ts";
import { notFound } from "../refusal.ts";
import type { Request, Route } from "../routes.ts";
import type { Row } from "../source.ts";
import { Values } from "../values.ts";
import { DRAWS } from "./draws.ts";

const MEASURES = ["otif", "match_rate", "spend_under_contract"];
const LABELS = ["w9", "insurance", "iso_9001"];
const TABLES = ["purchase_orders", "invoices", "items", "findings", "communications", "documents"];

/** /lineage/aggregation, /lineage/vendor-credential, /measures, /filter-facets and /search. */
export function lineageRoutes(world: World): Route[] {
  return [
    { template: "/lineage/aggregation", answer: ({ query }) => ({ data: aggregation(world, query) }) },
    {
      template: "/lineage/vendor-credential/{vendor_id}/{label}",
      answer: ({ params }) => ({ data: credential(world, params["vendor_id"] ?? "", params["label"] ?? "") }),
    },
    { template: "/measures/{id}", answer: ({ params }) => ({ data: measure(world, params["id"] ?? "") }) },
    { template: "/filter-facets/{table}", answer: ({ params }) => ({ data: facets(world, params["table"] ?? "") }) },
    { template: "/search", answer: ({ query }) => ({ data: found(world, query) }) },
  ];
}

/** The newest invoices add up to the total; the query is not documented, what it names is given back. */
function aggregation({ company, sources }: World, query: Request["query"]): Row {
  const v = new Values(hash(company.seed, DRAWS.lineage, 1));
  const contributors: (Row & { value: number | null })[] = [];
  for (const entry of sources["invoices"]?.collection.walk(Number.NEGATIVE_INFINITY) ?? []) {
    if (contributors.length === 8) break;
    const facts = invoiceFacts(company, entry);
    contributors.push({
      table: "invoices",
      row_id: invoiceKey(facts.number),
      value: v.maybe(invoiceAmounts(company, facts).total / 100),
      doc_type: v.maybe("invoice"),
      doc_number: v.maybe(`RE-${facts.number}`),
      doc_date: v.date(facts.day),
      doc_id: invoiceKey(facts.number),
      has_lineage: v.chance(0.8),
    });
  }
  const cents = contributors.reduce((sum, { value }) => sum + Math.round((value ?? 0) * 100), 0);
  return {
    aggregate: {
      table: query["table"] ?? "spend",
      row_id: query["row_id"] ?? "total",
      column: query["column"] ?? "total_amount",
      value: contributors.length === 0 || company.seed % 6 === 3 ? null : cents / 100,
    },
    agg_function: "sum",
    contributor_count: contributors.length,
    contributors,
  };
}

function credential({ company }: World, vendor: string, label: string): Row {
  const index = company.vendors.findIndex(({ id }) => id === vendor);
  if (index < 0 || !LABELS.includes(label)) throw notFound(`Credential '${vendor} ${label}'`);
  const value = hash(company.seed, DRAWS.credential, index, LABELS.indexOf(label));
  const v = new Values(value);
  const seen = company.anchorDay * DAY_MS - (value % (400 * DAY_MS));
  return {
    vendor_id: vendor,
    label,
    category: label === "insurance" ? "insurance" : "certificate",
    source: v.pick(["document", "email"]),
    triggering_facts: v.pick<unknown[]>([[], ["fact-1", { fact_id: "fact-2" }]]),
    source_docs: Array.from({ length: value % 3 }, (_, i) => ({
      doc_id: `DOC-F${index * 10 + i + 1}`,
      title: v.maybe(`Zertifikat „${label}“`),
      doc_type: v.maybe("certificate"),
      source_kind: v.maybe("upload"),
      received_at: v.maybe(v.moment(seen)),
    })),
    evidence_url: v.maybe(`https://certificates.example/${label}/${index}`),
    first_seen_at: v.maybe(v.moment(seen)),
    last_seen_at: v.maybe(v.moment(seen + 30 * DAY_MS)),
  };
}

function measure({ company }: World, id: string): Row {
  const index = MEASURES.indexOf(id);
  if (index < 0) throw notFound(`Measure '${id}'`);
  const v = new Values(hash(company.seed, DRAWS.measure, index));
  return {
    id,
    title: `Measure "${id}"`,
    unit: v.maybe("%"),
    grain: v.pick(["company", "vendor"]),
    as_of: v.maybe(momentText(company.anchorDay * DAY_MS, 0)),
    value: v.maybe(v.below(10_000) / 100),
    rows: company.vendors.slice(0, 3).map(vendor => ({ vendor_id: vendor.id, value: v.below(100) })),
    benchmark: v.maybe({ median: 91.5 }),
  };
}

function facets({ company, sources }: World, table: string): Row {
  if (!TABLES.includes(table)) throw notFound(`Table '${table}'`);
  const rows = sources[table]?.collection.count ?? 0;
  return { facets: { vendors: company.vendors.slice(0, 5).map(({ name }) => name), rows } };
}

/** Vendors whose name or id holds one of the values that were asked with; neither parameters nor answer are documented. */
function found({ company }: World, query: Request["query"]): Row {
  const wanted = Object.values(query).map(text => text.toLowerCase());
  const results = company.vendors
    .filter(({ id, name }) => wanted.some(text => `${id} ${name}`.toLowerCase().includes(text)))
    .slice(0, 10)
    .map(({ id, name }) => ({ type: "vendor", id, title: name }));
  return { results, total: results.length };
}
