import type { Company } from "../company/company.ts";

/** How many rows each list of the domain begins with; none of a company that has no orders. */
export interface SourcingSizes {
  readonly contracts: number;
  readonly budgets: number;
  readonly rateCards: number;
  readonly claims: number;
  readonly dieselPrices: number;
  readonly authorizations: number;
  readonly requisitions: number;
  readonly rfqs: number;
  readonly sites: number;
  readonly appointments: number;
  readonly doors: number;
}

export function sourcingSizes({ sizes: { orders } }: Company): SourcingSizes {
  const oneIn = (share: number, most: number): number =>
    orders === 0 ? 0 : Math.min(most, Math.max(3, Math.ceil(orders / share)));
  return {
    contracts: oneIn(20, 300),
    budgets: oneIn(50, 60),
    rateCards: oneIn(40, 150),
    claims: oneIn(25, 300),
    dieselPrices: orders === 0 ? 0 : 104,
    authorizations: oneIn(30, 200),
    requisitions: oneIn(10, 400),
    rfqs: oneIn(25, 200),
    sites: orders === 0 ? 0 : 5,
    appointments: oneIn(15, 300),
    doors: oneIn(40, 24),
  };
}
