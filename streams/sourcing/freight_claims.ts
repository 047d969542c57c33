import { freightClaim, freightClaimDetail } from "../../schemas/sourcing/freight_claim.ts";
import { freightClaimStats } from "../../schemas/sourcing/freight_claim_stats.ts";
import { defineStream, detail, scan, snapshot } from "../../src/catalog/stream.ts";
import { bothWays } from "../both_ways.ts";

export const freightClaims = defineStream({
  name: "freight_claims",
  path: "/freight-claims",
  mode: scan({ rows: "items", confirm: "/freight-claims/{id}", orders: bothWays }),
  row: freightClaim,
  key: ["id"],
  preset: "standard",
});

export const freightClaimDetails = defineStream({
  name: "freight_claim_details",
  path: "/freight-claims/{id}",
  mode: detail({ of: "freight_claims", newest: "created_at" }),
  row: freightClaimDetail,
  key: ["id"],
  preset: "all",
});

export const freightClaimCounts = defineStream({
  name: "freight_claim_stats",
  path: "/freight-claims/stats",
  mode: snapshot(),
  row: freightClaimStats,
  key: ["observed_on"],
  preset: "standard",
});
