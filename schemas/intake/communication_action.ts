import { id, moment, named, personal, record, text } from "../fields.ts";

/** A row of `GET /communications/{id}/actions`. Its own id gives way to the message's. */
export const communicationAction = record("What was done about each message: notes, snoozes, links to orders.", {
  id: named("id_", id().describe("Identifier of the action itself; the column id names the message.")),
  action_type: text().nullable().describe("What was done, as the service names it; values not documented."),
  notes: text().nullable().describe("Remarks on the action; null where there are none."),
  snooze_until: moment().nullable().describe("Until when the message was put off; null for other actions."),
  link_po_number: id().nullable().describe("Order that the message was linked to; null for other actions."),
  created_by: personal(text()).nullable().describe("Who took the action; null where that is not known."),
  created_at: moment().nullable().describe("When the action was taken; null where that is not known."),
});
