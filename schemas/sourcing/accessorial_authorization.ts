import { id, moment, money, notGiven, personal, record, text } from "../fields.ts";

/** An authorization: `GET /accessorial-authorizations`. */
export const accessorialAuthorization = record(
  "Accessorial charges that somebody allowed for a shipment: one row an authorization.",
  {
    id: id().describe("Identifier of the authorization."),
    pro_number: text().describe("Carrier's progressive number of the shipment."),
    charge_code: text().describe(
      "Code of the charge that is allowed; assumed to match rate_card_accessorials.charge_code.",
    ),
    authorized_by: personal(text()).nullable().describe("Who allowed the charge; null where that is not known."),
    authorized_at: moment().nullable().describe("When the charge was allowed; null where that is not known."),
    authorized_amount_max: money(notGiven).nullable().describe("Most that may be charged; null where no limit is set."),
    authorization_expires_at: moment().nullable().describe("Until when the charge is allowed; null without an end."),
    source: text().describe("Which way the authorization came, as the service names it; values not documented."),
    notes: text().nullable().describe("Remarks made on the authorization; null without any."),
    created_at: moment().nullable().describe("When the service first recorded it; null where it does not say."),
    updated_at: moment().nullable().describe("When the service last changed it; null where it does not say."),
  },
);
