import { z } from "zod";
import {
  count,
  date,
  flag,
  id,
  json,
  lineId,
  list,
  money,
  notGiven,
  personal,
  quantity,
  record,
  score,
  table,
  text,
} from "../fields.ts";

const credentials = table("carrier_profile_credentials", "Licences and registrations of each carrier: one row each.", {
  credential_type: text().describe("Kind of licence or registration, as the service names it; values not documented."),
  credential_number: text().nullable().describe("Number of the licence or registration; null where it is not known."),
  status: text().nullable().describe("Whether it is in force, as the service names it; values not documented."),
  expiration_date: date().nullable().describe("Day on which it runs out; null where that is not known."),
});

const insurance = table("carrier_profile_insurance", "Insurance that each carrier holds: one row a policy.", {
  insurance_type: text().describe("What the policy insures, as the service names it; values not documented."),
  insurer_name: text().nullable().describe("Company that insures the carrier; null where it is not known."),
  coverage_amount: money(notGiven).nullable().describe("Sum that the policy covers; null where it is not known."),
  expiration_date: date().nullable().describe("Day on which the policy runs out; null where that is not known."),
  status: text().nullable().describe("Whether the policy is in force, as the service names it; values not documented."),
});

const contacts = table("carrier_profile_contacts", "People to reach at each carrier: one row a contact.", {
  id: lineId(id()).nullable().describe("Identifier of the contact; null where the service gives it none."),
  role: text().nullable().describe("What the contact does at the carrier; null where that is not known."),
  contact_name: personal(text()).nullable().describe("Name of the person or desk; null where it is not known."),
  email: personal(text()).nullable().describe("E-mail address of the contact; null where it is not known."),
  phone: personal(text()).nullable().describe("Telephone number of the contact; null where it is not known."),
  is_primary: flag().nullable().describe("Whether it is the carrier's main contact; null where that is not said."),
});

/** One carrier: `GET /carriers/{vendorId}/profile`. The answer does not carry the vendor's id. */
export const carrierProfile = record("What the service knows about each carrier that a rate card names.", {
  credentials,
  insurance,
  contacts,
  equipment_types: list().describe("Kinds of equipment that the carrier runs, a list of names kept as JSON."),
  rate_card_summary: z.object({
    total_cards: quantity().nullable().describe("How many rate cards the carrier has; null where it is not counted."),
    active_cards: quantity()
      .nullable()
      .describe("How many of the carrier's rate cards are active; null where it is not counted."),
    mode_count: count().nullable().describe("How many modes of transport the carrier's rate cards cover."),
    modes: list().nullable().describe("Modes of transport that the rate cards cover, a list of names kept as JSON."),
    earliest_rate: text()
      .nullable()
      .describe("The earliest rate of the carrier's cards, as the service writes it; its form is not documented."),
    latest_expiry: date()
      .nullable()
      .describe("Day on which the last of the carrier's cards runs out; null where that is not known."),
  }),
  performance: json().nullable().describe("How the carrier has performed; content not documented, kept as JSON."),
  compliance_score: score()
    .nullable()
    .describe("The service's score of the carrier's papers; the scale is not documented."),
});
