import { contract } from "../../schemas/sourcing/contract.ts";
import { contractPricing } from "../../schemas/sourcing/contract_pricing.ts";
import { defineStream, lookup, scan } from "../../src/catalog/stream.ts";

export const contracts = defineStream({
  name: "contracts",
  path: "/contracts",
  mode: scan({ rows: "contracts" }),
  row: contract,
  key: ["contract_id"],
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
