import { flag, id, json, list, moment, named, personal, record, text } from "../fields.ts";

/** A row of `GET /communications/{id}/thread`. Its own id gives way to that of the message that was asked for. */
export const communicationMessage = record("The messages of the thread that each message belongs to.", {
  id: named("id_", id().describe("Identifier of the thread's message; the column id names the one asked for.")),
  communication_types: list().describe("Kinds of message that the service sees in it, an array of texts kept as JSON."),
  action_required: flag().describe("Whether somebody has to act on the thread's message."),
  urgency: text().nullable().describe("How pressing it is, as the service names it; values not documented."),
  sender: personal(json()).describe("Who sent the thread's message; content not documented, kept as JSON."),
  subject: personal(text()).nullable().describe("Subject line of the thread's message; null where it has none."),
  received_at: moment().nullable().describe("When the thread's message came in; null where that is not known."),
  direction: text().nullable().describe("Whether the mail came in or went out; values not documented."),
  in_reply_to: text().nullable().describe("Message that this one answers, as the service refers to it; null for none."),
  summary: personal(text()).nullable().describe("What the message says in short, by the service's account."),
  to_recipients: personal(list()).describe("Who the message was sent to, an array of texts kept as JSON."),
  cc_recipients: personal(list()).describe("Who got a copy of the message, an array of texts kept as JSON."),
  sender_domain: text().nullable().describe("Internet domain the mail was sent from; null where not known."),
  body_text: personal(text()).nullable().describe("Plain text of the message; null where it has none."),
  body_html: personal(text()).nullable().describe("Text of the message as HTML; null where it has none."),
  extracted: json().nullable().describe("What the service read out of it; content not documented here, kept as JSON."),
  provenance: list().describe("Where the service read what it knows; content not documented here, kept as JSON."),
});
