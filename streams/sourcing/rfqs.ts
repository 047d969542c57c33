import { rfq } from "../../schemas/sourcing/rfq.ts";
import { rfqDetail } from "../../schemas/sourcing/rfq_detail.ts";
import { defineStream, detail, scan } from "../../src/catalog/stream.ts";

// The answer holds the same list twice, as `data` and as `rfqs`; one of them is read.
export const rfqs = defineStream({
  name: "rfqs",
  path: "/rfqs",
  mode: scan({ rows: "data", total: "total", confirm: "/rfqs/{id}" }),
  row: rfq,
  key: ["id"],
  preset: "standard",
});

export const rfqDetails = defineStream({
  name: "rfq_details",
  path: "/rfqs/{id}",
  mode: detail({ of: "rfqs", newest: "created_at" }),
  row: rfqDetail,
  key: ["id"],
  preset: "standard",
});
