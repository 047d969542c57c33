import type { Row } from "./warehouse.ts";

/** A row of the feed, which gives the document of this id its currency. */
export const inFeed = (id: string, currency_code: string | null, more: Row = {}): Row => ({
  ...{ row_type: "document", id, source: "s", type: "t", amount_basis: "b", attachments: [], currency_code, ...more },
});

/** The company's own currency. */
export const profile = (base_currency: string | null, more: Row = {}): Row => ({
  ...{ observed_on: "2026-03-14", company_id: "1", company_name: "Acme", base_currency, ...more },
});

/** When a row was deleted. */
export const gone = "2026-03-01T00:00:00Z";
/** More than a product can hold in DuckDB's widest decimal. */
export const huge = "99999999999999999999999999999";
