import type { PageColumn } from "../src/catalog/stream.ts";

/** The currency that a list names beside its rows. */
export const listCurrency: PageColumn = {
  name: "list_currency_code",
  kind: "text",
  field: "currency_code",
  description: "Currency that the list as a whole names, as last read; not documented to be the row's own.",
};
