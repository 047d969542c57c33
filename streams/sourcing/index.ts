import type { StreamGroup } from "../../src/catalog/stream.ts";
import { budgetDetails, budgets } from "./budgets.ts";
import { contractPrices, contractSummaries, contracts } from "./contracts.ts";
import { deliverySites, dockAppointmentCounts, dockAppointments, dockDoors } from "./docks.ts";
import { freightClaimCounts, freightClaimDetails, freightClaims } from "./freight_claims.ts";
import { accessorialAuthorizations, dieselPrices } from "./freight_rates.ts";
import { carrierProfiles, rateCardCounts, rateCardDetails, rateCards } from "./rate_cards.ts";
import { requisitionCounts, requisitionDetails, requisitions } from "./requisitions.ts";
import { rfqDetails, rfqs } from "./rfqs.ts";

const freightRates = [rateCards, rateCardDetails, rateCardCounts, carrierProfiles, dieselPrices];
const freightClaiming = [freightClaims, freightClaimDetails, freightClaimCounts, accessorialAuthorizations];

/** In run order: lists before the details that hang on them. */
export const sourcing: readonly StreamGroup[] = [
  { title: "Contracts and budgets", streams: [contracts, contractSummaries, budgets, budgetDetails, contractPrices] },
  { title: "Freight", streams: [...freightRates, ...freightClaiming] },
  {
    title: "Requisitions and RFQs",
    streams: [requisitions, requisitionDetails, requisitionCounts, rfqs, rfqDetails],
  },
  { title: "Sites and docks", streams: [deliverySites, dockAppointments, dockAppointmentCounts, dockDoors] },
];
