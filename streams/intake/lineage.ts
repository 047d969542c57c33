import { aggregationLineage as aggregation } from "../../schemas/intake/aggregation_lineage.ts";
import { filterFacets as facets } from "../../schemas/intake/filter_facets.ts";
import { measure } from "../../schemas/intake/measure.ts";
import { searchResult } from "../../schemas/intake/search_result.ts";
import { vendorCredentialLineage as credential } from "../../schemas/intake/vendor_credential_lineage.ts";
import { defineStream, lookup } from "../../src/catalog/stream.ts";

export const aggregationLineage = defineStream({
  name: "aggregation_lineage",
  path: "/lineage/aggregation",
  mode: lookup({ passes: true }),
  row: aggregation,
  key: ["asked_with"],
  preset: "lookup",
});

export const vendorCredentialLineage = defineStream({
  name: "vendor_credential_lineage",
  path: "/lineage/vendor-credential/{vendor_id}/{label}",
  mode: lookup(),
  row: credential,
  key: ["vendor_id", "label"],
  preset: "lookup",
});

export const measures = defineStream({
  name: "measures",
  path: "/measures/{id}",
  mode: lookup(),
  row: measure,
  key: ["id"],
  preset: "lookup",
});

export const filterFacets = defineStream({
  name: "filter_facets",
  path: "/filter-facets/{table}",
  mode: lookup(),
  row: facets,
  key: ["table_"],
  preset: "lookup",
});

export const search = defineStream({
  name: "search",
  path: "/search",
  mode: lookup({ passes: true }),
  row: searchResult,
  key: ["asked_with"],
  preset: "lookup",
});
