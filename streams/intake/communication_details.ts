import { communicationAction } from "../../schemas/intake/communication_action.ts";
import { communicationDetail } from "../../schemas/intake/communication_detail.ts";
import { communicationFact } from "../../schemas/intake/communication_fact.ts";
import { communicationLinkSuggestion } from "../../schemas/intake/communication_link_suggestion.ts";
import { communicationMessage } from "../../schemas/intake/communication_message.ts";
import { communicationThread as thread } from "../../schemas/intake/communication_thread.ts";
import { factLink } from "../../schemas/intake/fact_link.ts";
import { defineStream, detail, type PageColumn } from "../../src/catalog/stream.ts";

const ofCommunication = { of: "communications", open: "action_required", newest: "received_at" };

const emailIngestId: PageColumn = {
  name: "email_ingest_id",
  kind: "id",
  field: "email_ingest_id",
  description: "E-mail intake record of the message, assumed to be ingested.id.",
};

export const communicationDetails = defineStream({
  name: "communication_details",
  path: "/communications/{id}",
  mode: detail(ofCommunication),
  row: communicationDetail,
  key: ["id"],
  preset: "all",
});

export const communicationActions = defineStream({
  name: "communication_actions",
  path: "/communications/{id}/actions",
  mode: detail({ ...ofCommunication, rows: "actions" }),
  row: communicationAction,
  key: ["id", "id_"],
  preset: "all",
});

export const communicationFacts = defineStream({
  name: "communication_facts",
  path: "/communications/{id}/facts",
  mode: detail({ ...ofCommunication, rows: "facts", pageColumns: [emailIngestId] }),
  row: communicationFact,
  key: ["id", "fact_id"],
  preset: "all",
});

// A document may be suggested for more than one reason.
export const communicationLinkSuggestions = defineStream({
  name: "communication_link_suggestions",
  path: "/communications/{id}/link-suggestions",
  mode: detail({ ...ofCommunication, rows: "suggestions" }),
  row: communicationLinkSuggestion,
  key: ["id", "_index"],
  preset: "all",
});

export const communicationThread = defineStream({
  name: "communication_thread",
  path: "/communications/{id}/thread",
  mode: detail({ ...ofCommunication, rows: "thread" }),
  row: communicationMessage,
  key: ["id", "id_"],
  preset: "all",
});

export const communicationThreads = defineStream({
  name: "communication_threads",
  path: "/communications/{id}/threads",
  mode: detail({ ...ofCommunication, rows: "threads" }),
  row: thread,
  key: ["id", "thread_id"],
  preset: "all",
});

export const factLineage = defineStream({
  name: "fact_lineage",
  path: "/lineage/fact/{id}",
  mode: detail({ of: "communication_facts", by: "fact_id", rows: "chain" }),
  row: factLink,
  key: ["fact_id", "_index"],
  preset: "all",
});
