import { contract, contractsSummary } from "../../schemas/sourcing/contract.ts";
import { contractPricing } from "../../schemas/sourcing/contract_pricing.ts";
import { defineStream, lookup, scan, snapshot } from "../../src/catalog/stream.ts";
import { bothWays } from "../both_ways.ts";

export const contracts = defineStream({
  name: "contracts",
  path: "/contracts",
  mode: scan({ rows: "contracts", orders: bothWays }),
  row: contract,
  key: ["contract_id"],
  preset: "standard",
});

// Measured from a request of its own: a page narrowed by a filter counts only what it shows.
export const contractSummaries = defineStream({
  name: "contracts_summary",
  path: "/contracts",
  query: { limit: "1" },
  mode: snapshot({ omit: ["contracts"] }),
  row: contractsSummary,
  key: ["observed_on"],
  preset: "standard",
});

export const contractPrices = defineStream({
  name: "contract_pricing",
  path: "/requisitions/contract-pricing",
  mode: lookup({ passes: true }),
  row: contractPricing,
  key: ["asked_with"],
  preset: "lookup",
});
