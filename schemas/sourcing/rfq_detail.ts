import { json, record } from "../fields.ts";
import { rfqFields } from "./rfq.ts";
import { rfqLanes } from "./rfq_lanes.ts";
import { rfqLines } from "./rfq_lines.ts";
import { rfqVendors } from "./rfq_vendors.ts";

/** One request for quotation: `GET /rfqs/{id}`. */
export const rfqDetail = record("Each request for quotation in full; its lines, lanes and vendors are child tables.", {
  ...rfqFields,
  lines: rfqLines,
  lanes: rfqLanes,
  vendors: rfqVendors,
  award_summary: json().nullable().describe("How the award came out; content not documented, kept as JSON."),
});
