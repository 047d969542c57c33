import { z } from "zod";
import {
  count,
  flag,
  id,
  json,
  lineId,
  money,
  notGiven,
  percent,
  quantity,
  record,
  score,
  table,
  text,
} from "../fields.ts";

const amount = () => money(notGiven).nullable();

const recommendations = table("lane_intelligence_recommendations", "Carriers that the service recommends for a lane.", {
  carrier_name: text().describe("Carrier's name as a label, never to be joined on."),
  carrier_vendor_id: lineId(id())
    .nullable()
    .describe("Vendor that the carrier is; null where the service resolved none."),
  shipment_count: count().nullable().describe("How many shipments the carrier took along the lane."),
  avg_cost: amount().describe("Average cost of the carrier's shipments."),
  median_cost: amount().describe("Median cost of the carrier's shipments."),
  min_cost: amount().describe("Lowest cost of the carrier's shipments."),
  max_cost: amount().describe("Highest cost of the carrier's shipments."),
  otif_pct: percent()
    .nullable()
    .describe("Share of deliveries on time and in full, in the service's own percentage unit."),
  on_time_pct: percent()
    .nullable()
    .describe("Share of deliveries that came on time, in the service's own percentage unit."),
  avg_days_variance: quantity().nullable().describe("Average distance of deliveries from their date, in days."),
  has_rate_card: flag().nullable().describe("Whether there is a rate card of the carrier for the lane."),
  rate_card_rate: amount().describe("Rate on the rate card; rate_type says what it is per."),
  rate_type: text().nullable().describe("What the rate is per, as the service names it; values not documented."),
  cost_score: score()
    .nullable()
    .describe("How cheap the carrier is on the lane in the service's judgement; the scale is not documented."),
  otif_score: score()
    .nullable()
    .describe(
      "How punctual and complete the carrier delivers in the service's judgement; the scale is not documented.",
    ),
  volume_score: score().nullable().describe("Score for experience on the lane; the scale is not documented."),
  composite_score: score().nullable().describe("Overall score of the recommendation; the scale is not documented."),
  acceptance_rate_pct: percent()
    .nullable()
    .describe("Share of offered loads that the carrier took, in the service's own percentage unit."),
  avg_acceptance_lag_hours: quantity()
    .nullable()
    .describe("Average time until the carrier took an offered load, in hours."),
  tenders_sent: quantity().nullable().describe("Loads that were offered to the carrier in the acceptance month."),
  tenders_accepted: quantity().nullable().describe("Offered loads that the carrier took."),
  acceptance_month_bucket: text().nullable().describe("Month that the tender figures are of, as the service names it."),
});

const rateCards = table(
  "lane_intelligence_rate_cards",
  "What carriers ask on the lane by their agreements: discounts, prices by weight or mile, minimum charges.",
  {
    carrier_name: text().describe("Carrier's name as a label, never to be joined on."),
    scac_code: text().nullable().describe("Carrier's standard alpha code; null where not known."),
    discount_pct: percent()
      .nullable()
      .describe("Discount on the carrier's tariff, in the service's own percentage unit."),
    rate_per_cwt: amount().describe("Price for each hundredweight."),
    flat_rate: amount().describe("Price for the whole shipment."),
    rate_per_mile: amount().describe("Price for each mile of the way."),
    minimum_charge: amount().describe("The least that a shipment costs."),
    freight_class: text().nullable().describe("Freight class that the rates are for; null where they are for any."),
    weight_break_min: quantity().nullable().describe("Weight from which the rates hold; the unit is not documented."),
    weight_break_max: quantity().nullable().describe("Weight up to which the rates hold; the unit is not documented."),
  },
);

/** `GET /analytics/lane-intelligence`. */
export const laneIntelligence = record("What the service knows of a freight lane that was asked for.", {
  lane: z.object({
    origin_zip: text().describe("Postal code where the lane begins, as the answer has it."),
    dest_zip: text().describe("Postal code where the lane ends, as the answer has it."),
    mode: text().describe("Mode of transport, as the answer has it."),
    lane_id: id().nullable().describe("Identifier of the lane; null where the service knows none."),
    origin_country: text().nullable().describe("Country where the lane begins; null where not known."),
    dest_country: text().nullable().describe("Country where the lane ends; null where not known."),
    haversine_km: quantity().nullable().describe("Distance as the crow flies, in kilometres; null where not known."),
    region_pair: text().nullable().describe("The two regions that the lane connects, as the service names them."),
    transit_prediction: json().nullable().describe("Expected time in transit; content not documented, kept as JSON."),
  }),
  recommendations,
  lane_stats: z.object({
    total_shipments: quantity().nullable().describe("How many shipments went along the lane."),
    carrier_count: count().nullable().describe("How many carriers serve the lane."),
    avg_cost: amount().describe("Average cost of a shipment along the lane."),
    median_cost: amount().describe("Median cost of a shipment along the lane."),
  }),
  rate_cards: rateCards,
});
