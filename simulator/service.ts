import { analyticsDomain } from "./analytics/domain.ts";
import { Collection } from "./collection.ts";
import { type Chosen, type Company, companyOf, PURPOSE } from "./company/company.ts";
import type { MakeDomain } from "./domain.ts";
import { accountRoutes } from "./endpoints/account.ts";
import { findingFamily, findingRoutes } from "./endpoints/findings.ts";
import { ingestedFamily, ingestedRoutes } from "./endpoints/ingested.ts";
import { invoiceFamily, invoiceRoutes } from "./endpoints/invoices.ts";
import { itemFamily, itemRoutes } from "./endpoints/items.ts";
import { orderFamily, orderRoutes } from "./endpoints/orders.ts";
import { intakeDomain } from "./intake/domain.ts";
import type { Uploads } from "./intake/uploads.ts";
import { intelligenceDomain } from "./intelligence/domain.ts";
import { operationsDomain } from "./operations/domain.ts";
import type { PagingMode } from "./paging.ts";
import { hash } from "./random.ts";
import type { Route } from "./routes.ts";
import { type Family, type Source, sourceOf } from "./source.ts";
import { sourcingDomain } from "./sourcing/domain.ts";

/** The domains beside the core lists, in the order in which they build on each other. */
const domains: readonly MakeDomain[] = [
  intelligenceDomain,
  sourcingDomain,
  intakeDomain,
  operationsDomain,
  analyticsDomain,
];

export type StreamName = string;

/** One company and its rows, behind its endpoints; knows nothing of HTTP. */
export interface Service {
  readonly company: Company;
  readonly sources: Readonly<Record<StreamName, Source>>;
  readonly routes: readonly Route[];
  readonly uploads: Uploads | undefined;
}

export function serviceOf(chosen: Chosen, clock: () => Date, mode: PagingMode): Service {
  const { seed, sizes, vocabulary } = chosen;
  const company = companyOf(chosen, clock);
  const source = (family: Family, size: number): Source => {
    const collection = new Collection(size, hash(seed, PURPOSE.account, size));
    return sourceOf(family, collection, family.ordered ? undefined : vocabulary.order(collection, seed));
  };
  const sources = {
    purchase_orders: source(orderFamily(company), sizes.orders),
    invoices: source(invoiceFamily(company), sizes.invoices),
    items: source(itemFamily(company), sizes.items),
    findings: source(findingFamily(company), sizes.findings),
    ingested: source(ingestedFamily(company), sizes.ingested),
  };
  const all: Record<string, Source> = { ...sources };
  const further: Route[] = [];
  let uploads: Uploads | undefined;
  for (const make of domains) {
    const domain = make({ company, mode, clock, sources: all, source });
    Object.assign(all, domain.sources);
    further.push(...domain.routes);
    uploads ??= domain.uploads;
  }
  const routes = [
    ...accountRoutes(company),
    ...orderRoutes(company, sources.purchase_orders, mode),
    ...invoiceRoutes(company, sources.invoices, mode),
    ...itemRoutes(company, sources.items, mode),
    ...findingRoutes(company, sources.findings, mode, clock),
    ...ingestedRoutes(company, sources.ingested, mode),
    ...further,
  ];
  return { company, sources: all, routes, uploads };
}
