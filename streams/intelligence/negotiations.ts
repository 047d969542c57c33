import { negotiationDetail, negotiationStats } from "../../schemas/intelligence/negotiation.ts";
import { negotiationBrief } from "../../schemas/intelligence/negotiation_brief.ts";
import { defineStream, lookup, snapshot } from "../../src/catalog/stream.ts";

export const negotiationStatistics = defineStream({
  name: "negotiation_stats",
  path: "/negotiations/stats",
  mode: snapshot(),
  row: negotiationStats,
  key: ["observed_on"],
  preset: "standard",
});

export const negotiationDetails = defineStream({
  name: "negotiation_details",
  path: "/negotiations/{id}",
  mode: lookup(),
  row: negotiationDetail,
  key: ["id"],
  preset: "lookup",
});

export const negotiationBriefs = defineStream({
  name: "negotiation_briefs",
  path: "/negotiations/{id}/brief-v2",
  mode: lookup(),
  row: negotiationBrief,
  key: ["id"],
  preset: "lookup",
});
