import { z } from "zod";
import {
  anyJson,
  count,
  id,
  json,
  lineId,
  list,
  moment,
  money,
  notGiven,
  record,
  table,
  text,
  volatile,
} from "../fields.ts";

const talkingPoints = table(
  "negotiation_brief_talking_points",
  "Arguments that each brief puts into the buyer's hand.",
  {
    topic: text().describe("What the argument is about."),
    fact: text().describe("The fact that the argument rests on, in words."),
    dollar_impact: money(notGiven)
      .nullable()
      .describe("What the argument is worth, by its name in dollars; null where nothing."),
    detail: anyJson().nullable().describe("Particulars of the argument; any JSON value, content not documented."),
  },
);

const counterProposals = table(
  "negotiation_brief_counter_proposals",
  "Prices that each brief proposes in return, item by item.",
  {
    item_id: lineId(id())
      .nullable()
      .describe("Item that the proposal is for, assumed to be items.item_id; null where it is for none."),
    part_number: text().nullable().describe("Number of the part that the proposal is for; null where there is none."),
    current_unit_price: money(notGiven)
      .nullable()
      .describe("Price of one unit as it stands; null where none is known."),
    counter_unit_price: money(notGiven)
      .nullable()
      .describe("Price of one unit to propose instead; null where none is proposed."),
    justification: text().describe("Why the proposed price is fair, in words."),
    source_urls: list().describe("Addresses that bear the proposal out, a list kept as JSON."),
    alt_vendor_count: count().describe("How many other vendors could deliver instead."),
  },
);

/** The brief for one negotiation: `GET /negotiations/{id}/brief-v2`. */
export const negotiationBrief = record(
  "Briefs that prepare the buyer for the negotiations named in the configuration.",
  {
    negotiation_id: id().describe("Negotiation that the brief is for, the same as negotiation_details.id."),
    vendor_id: id().describe("Vendor that is negotiated with."),
    vendor_name: text().describe("Vendor's name as a label, never to be joined on."),
    accusation_audit: z.object({
      claims: list().describe("Claims the vendor may raise against the buyer, a list kept as JSON."),
      findings: list().describe("What the service found on those claims, a list kept as JSON."),
    }),
    talking_points: talkingPoints,
    talking_points_raw: anyJson()
      .nullable()
      .describe("The arguments as first worked out; any JSON value, content not documented."),
    counter_proposals: counterProposals,
    anchoring: z.object({
      anchor_price: money(notGiven).nullable().describe("Price to open with; null where the service proposes none."),
      anchor_basis: text().describe("What the opening price rests on, in the service's words."),
      citation: text().describe("Source that the opening price is cited from."),
      historical_low: money(notGiven).nullable().describe("Lowest price paid so far; null where none is known."),
      best_alternative: money(notGiven)
        .nullable()
        .describe("Best price to be had elsewhere; null where none is known."),
      observation_count: count().describe("How many observed prices stand behind the opening price."),
    }),
    synthesis: json().nullable().describe("The brief drawn together; content not documented, kept as JSON."),
    generated_at: volatile(moment()).describe(
      "When the brief was made; a new time alone does not mark the row as changed.",
    ),
  },
);
