import { json, record } from "../fields.ts";

/** `GET /filter-facets/{table}`. */
export const filterFacets = record("Values by which each of the service's tables can be filtered.", {
  facets: json().describe("The table's filters and their values; content not documented, kept as JSON."),
});
