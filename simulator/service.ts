import { Collection } from "./collection.ts";
import { type Chosen, type Company, companyOf, PURPOSE } from "./company/company.ts";
import { accountRoutes } from "./endpoints/account.ts";
import { contractCount, contractFamily, contractRoutes } from "./endpoints/contracts.ts";
import { findingsByTheirId } from "./endpoints/finding_details.ts";
import { findingFamily, findingRoutes } from "./endpoints/findings.ts";
import { ingestedFamily, ingestedRoutes } from "./endpoints/ingested.ts";
import { invoiceFamily, invoiceRoutes } from "./endpoints/invoices.ts";
import { itemRecordRoutes } from "./endpoints/item_records.ts";
import { itemFamily, itemRoutes } from "./endpoints/items.ts";
import { orderFamily, orderRoutes } from "./endpoints/orders.ts";
import { generatedEndpoints } from "./generated/routes.ts";
import { documentFamily, documentRoutes } from "./intake/document_routes.ts";
import { listedDocuments } from "./intake/documents.ts";
import { Uploads } from "./intake/uploads.ts";
import type { PagingMode } from "./paging.ts";
import { hash } from "./random.ts";
import type { Route } from "./routes.ts";
import { type Family, type Source, sourceOf } from "./source.ts";

/** The core streams by their names, every other list by its path. */
export type StreamName = string;

/** One company and its rows, behind its endpoints; knows nothing of HTTP. */
export interface Service {
  readonly company: Company;
  readonly sources: Readonly<Record<StreamName, Source>>;
  readonly routes: readonly Route[];
  readonly uploads: Uploads;
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
    contracts: source(contractFamily(company), contractCount(company)),
    documents: source(
      documentFamily(company, id => uploads.numberOf(id)),
      listedDocuments(company),
    ),
  };
  const uploads = new Uploads(company, sources, clock);
  const written = [
    ...accountRoutes(company),
    ...orderRoutes(company, sources.purchase_orders, mode),
    ...invoiceRoutes(company, sources.invoices, mode),
    ...itemRoutes(company, sources.items, mode),
    ...itemRecordRoutes(company, sources.items),
    ...findingRoutes(company, sources.findings, mode, clock),
    ...ingestedRoutes(company, sources.ingested, mode),
    ...contractRoutes(company, sources.contracts, mode),
    ...documentRoutes(company, sources.documents, mode),
  ];
  const named = { ...sources, findings_by_id: findingsByTheirId(company, sources.findings) };
  const generated = generatedEndpoints({ company, mode, sources: named, source }, written);
  return {
    company,
    sources: { ...sources, ...generated.sources },
    routes: [...written, ...generated.routes],
    uploads,
  };
}
