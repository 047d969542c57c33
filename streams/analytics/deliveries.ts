import { otif, otifByVendor, otifTrend } from "../../schemas/analytics/otif.ts";
import { defineStream, snapshot } from "../../src/catalog/stream.ts";
import { byPeriod } from "./periods.ts";

export const analyticsOtif = defineStream({
  name: "analytics_otif",
  path: "/analytics/otif",
  mode: byPeriod,
  row: otif,
  key: ["observed_on", "period"],
  preset: "standard",
});

export const analyticsOtifByVendor = defineStream({
  name: "analytics_otif_by_vendor",
  path: "/analytics/otif/by-vendor",
  mode: snapshot(),
  row: otifByVendor,
  key: ["observed_on"],
  preset: "standard",
});

export const analyticsOtifTrend = defineStream({
  name: "analytics_otif_trend",
  path: "/analytics/otif/trend",
  mode: snapshot(),
  row: otifTrend,
  key: ["observed_on"],
  preset: "standard",
});
