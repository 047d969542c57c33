import { laneIntelligence as laneIntelligenceRow } from "../../schemas/analytics/lane_intelligence.ts";
import { vendorCompleteness as vendorCompletenessRow } from "../../schemas/analytics/vendor_completeness.ts";
import { defineStream, detail, lookup } from "../../src/catalog/stream.ts";

export const laneIntelligence = defineStream({
  name: "lane_intelligence",
  path: "/analytics/lane-intelligence",
  mode: lookup({ ask: ["origin_zip", "dest_zip", "mode"] }),
  row: laneIntelligenceRow,
  key: ["origin_zip", "dest_zip", "mode"],
  preset: "lookup",
});

export const vendorCompleteness = defineStream({
  name: "vendor_completeness",
  path: "/completeness/vendors/{vendorId}",
  mode: detail({ of: "purchase_orders", by: "vendor_id", also: ["invoices.vendor_id"], everyDays: 7 }),
  row: vendorCompletenessRow,
  key: ["vendor_id"],
  preset: "all",
});
