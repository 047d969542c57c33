import { requisition } from "../../schemas/sourcing/requisition.ts";
import { requisitionDetail } from "../../schemas/sourcing/requisition_detail.ts";
import { requisitionStats } from "../../schemas/sourcing/requisition_stats.ts";
import { defineStream, detail, scan, snapshot } from "../../src/catalog/stream.ts";

export const requisitions = defineStream({
  name: "requisitions",
  path: "/requisitions",
  mode: scan({ rows: "requisitions", confirm: "/requisitions/{id}" }),
  row: requisition,
  key: ["id"],
  preset: "standard",
});

export const requisitionDetails = defineStream({
  name: "requisition_details",
  path: "/requisitions/{id}",
  mode: detail({ of: "requisitions", newest: "created_at" }),
  row: requisitionDetail,
  key: ["id"],
  preset: "standard",
});

export const requisitionCounts = defineStream({
  name: "requisition_stats",
  path: "/requisitions/stats",
  mode: snapshot(),
  row: requisitionStats,
  key: ["observed_on"],
  preset: "standard",
});
