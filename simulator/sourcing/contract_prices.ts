import type { Company } from "../company/company.ts";
import { hash } from "../random.ts";
import type { Route } from "../routes.ts";
import { Values } from "../values.ts";
import { someContract } from "./contracts.ts";
import { DRAWN_FOR } from "./purposes.ts";

/** /requisitions/contract-pricing: its parameters are not documented, so every query has an answer of its own. */
export function contractPriceRoutes(company: Company): Route[] {
  return [
    {
      template: "/requisitions/contract-pricing",
      answer: ({ query }) => ({ data: contractPrice(company, drawOf(company, query)) }),
    },
  ];
}

function drawOf({ seed }: Company, query: Readonly<Record<string, string>>): number {
  const asked = Object.keys(query)
    .sort()
    .map(name => `${name}=${query[name]}`);
  let value = hash(seed, DRAWN_FOR.contractPrice);
  for (const char of asked.join("&")) value = hash(value, char.codePointAt(0) ?? 0);
  return value;
}

function contractPrice(company: Company, value: number): Record<string, unknown> {
  const v = new Values(value);
  const contract = value % 4 === 0 ? null : someContract(company, value >>> 3);
  const found = contract !== null;
  const price = 1000 + v.below(900_000);
  const tiers = [1, 10, 100].map((from, i) => ({ min_qty: from, unit_price: (price * (100 - 4 * i)) / 1_000_000 }));
  return {
    found,
    contract_id: contract,
    unit_price: found ? v.decimal(price, 4) : null,
    tier_applied: found ? v.maybe("10+") : null,
    volume_tiers: found && v.chance(0.6) ? tiers : null,
    next_tier: found && v.chance(0.5) ? tiers[2] : null,
    min_qty: found ? v.decimal(10_000, 3) : null,
    max_qty: found ? v.decimal(5_000_000, 3) : null,
    min_qty_warning: found && v.chance(0.3) ? "Mindestmenge 10" : null,
    max_qty_warning: found && v.chance(0.1) ? "More than the contract allows" : null,
    nte_warning: found && v.chance(0.2) ? "Limit nearly used up" : null,
    nte_utilization_pct: found ? v.decimal(v.below(10_001), 2) : null,
    rebate_hint: found && v.chance(0.3) ? "3 % from 100 pieces on" : null,
  };
}
