import type { MakeDomain } from "../domain.ts";
import type { Source } from "../source.ts";
import { budgetFamily, budgetRoutes } from "./budgets.ts";
import { carrierRoutes } from "./carriers.ts";
import { contractPriceRoutes } from "./contract_prices.ts";
import { contractFamily, contractRoutes } from "./contracts.ts";
import { appointmentFamily, dockRoutes, doorFamily } from "./docks.ts";
import { claimFamily, claimRoutes } from "./freight_claims.ts";
import { authorizationFamily, dieselFamily, freightRateRoutes } from "./freight_rates.ts";
import { cardRoutes } from "./rate_card_routes.ts";
import { cardFamily } from "./rate_cards.ts";
import { requisitionRoutes } from "./requisition_routes.ts";
import { requisitionFamily } from "./requisitions.ts";
import { rfqRoutes } from "./rfq_routes.ts";
import { rfqFamily } from "./rfqs.ts";
import { siteFamily, siteRoutes } from "./sites.ts";
import { sourcingSizes } from "./sizes.ts";

/** Contracts, budgets, freight, requisitions, RFQs, sites and docks. */
export const sourcingDomain: MakeDomain = world => {
  const { company, source } = world;
  const sizes = sourcingSizes(company);
  const requisitions: Source = source(
    requisitionFamily(company, () => requisitions.collection.count),
    sizes.requisitions,
  );
  const sources = {
    contracts: source(contractFamily(company), sizes.contracts),
    budgets: source(budgetFamily(company, sizes.budgets), sizes.budgets),
    rate_cards: source(cardFamily(company), sizes.rateCards),
    freight_claims: source(claimFamily(company), sizes.claims),
    diesel_prices: source(dieselFamily(company, sizes.dieselPrices), sizes.dieselPrices),
    accessorial_authorizations: source(authorizationFamily(company), sizes.authorizations),
    requisitions,
    rfqs: source(rfqFamily(company), sizes.rfqs),
    delivery_sites: source(siteFamily(company), sizes.sites),
    dock_appointments: source(appointmentFamily(company), sizes.appointments),
    dock_doors: source(doorFamily(company), sizes.doors),
  };
  const routes = [
    ...contractRoutes(world, sources.contracts),
    ...contractPriceRoutes(company),
    ...budgetRoutes(world, sources.budgets),
    ...cardRoutes(world, sources.rate_cards),
    ...carrierRoutes(company, sources.rate_cards),
    ...claimRoutes(world, sources.freight_claims),
    ...freightRateRoutes(sources.diesel_prices, sources.accessorial_authorizations),
    ...requisitionRoutes(world, requisitions),
    ...rfqRoutes(world, sources.rfqs),
    ...siteRoutes(sources.delivery_sites),
    ...dockRoutes(company, sources.dock_appointments, sources.dock_doors),
  ];
  return { sources, routes };
};
