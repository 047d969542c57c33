import { carrierProfile } from "../../schemas/sourcing/carrier_profile.ts";
import { rateCard } from "../../schemas/sourcing/rate_card.ts";
import { rateCardDetail } from "../../schemas/sourcing/rate_card_detail.ts";
import { rateCardStats } from "../../schemas/sourcing/rate_card_stats.ts";
import { defineStream, detail, scan, snapshot } from "../../src/catalog/stream.ts";

export const rateCards = defineStream({
  name: "rate_cards",
  path: "/rate-cards",
  mode: scan({ rows: "rate_cards", confirm: "/rate-cards/{rate_card_id}" }),
  row: rateCard,
  key: ["rate_card_id"],
  preset: "standard",
});

export const rateCardDetails = defineStream({
  name: "rate_card_details",
  path: "/rate-cards/{id}",
  mode: detail({ of: "rate_cards", param: { id: "rate_card_id" } }),
  row: rateCardDetail,
  key: ["rate_card_id"],
  preset: "standard",
});

export const rateCardCounts = defineStream({
  name: "rate_card_stats",
  path: "/rate-cards/stats",
  mode: snapshot(),
  row: rateCardStats,
  key: ["observed_on"],
  preset: "standard",
});

export const carrierProfiles = defineStream({
  name: "carrier_profiles",
  path: "/carriers/{vendorId}/profile",
  mode: detail({ of: "rate_cards", by: "carrier_vendor_id", everyDays: 7 }),
  row: carrierProfile,
  key: ["vendor_id"],
  preset: "standard",
});
