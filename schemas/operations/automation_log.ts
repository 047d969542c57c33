import { count, id, json, lineId, list, moment, record, table, text } from "../fields.ts";

/** A row of `GET /automations/events`. */
export const automationEvent = record("Events in procurement that automations can react to, one row an event.", {
  id: id().describe("Identifier of the event, unique within the company."),
  event_type: text().nullable().describe("What happened, as the service names it; values not documented."),
  source: text().nullable().describe("Where the event comes from, as the service names it; values not documented."),
  entity_id: id().nullable().describe("What the event is about; entity_type says what kind of thing it is."),
  entity_type: text()
    .nullable()
    .describe("Kind of thing that entity_id names, as the service calls it; values not documented."),
  payload: json().describe("What the event carries along; content not documented, kept as JSON."),
  processed_at: moment().nullable().describe("When automations dealt with the event; null as long as they have not."),
  created_at: moment().nullable().describe("When the event was recorded; null where that is not known."),
});

const historyFields = {
  id: id().describe("Identifier of the entry in the history, unique within the company."),
  record_id: id().describe("The record that the entry tells of; of which kind it is, is not documented."),
  source: text().describe(
    "Who acted, an automation rule or the agent, as the service names it; values not documented.",
  ),
  status: text().describe("How the action ended or where it stands, as the service names it; values not documented."),
  occurred_at: moment().describe("When the action took place."),
  rule_id: id().nullable().describe("Automation rule that acted; null where none did."),
  rule_name: text().nullable().describe("Name of that automation rule as a label; null where no rule acted."),
  tool_id: id().nullable().describe("Tool that the agent used; null where it used none."),
  vendor_name: text().nullable().describe("Vendor the action concerned, as a label and never to be joined on."),
  reasoning_summary: text().nullable().describe("Why it was done, in short; null where no reason was given."),
  entity_refs: list()
    .nullable()
    .describe("What the action was about, a list whose content is not documented, kept as JSON."),
  execution_action_id: id()
    .nullable()
    .describe("Action within an execution that the entry stands for; null for others."),
};

/** A row of `GET /automations/history`. */
export const automationHistoryEntry = record(
  "What automation rules and the agent have done, one row an action.",
  historyFields,
);

/** `GET /automations/history/agent/{id}`. */
export const automationAgentHistoryEntry = record(
  "Entries of the automation history that the agent made, each as its own endpoint tells it.",
  historyFields,
);

/** `GET /automations/history/stats`. */
export const automationHistoryStats = record("How many entries the automation history holds, measured once a day.", {
  by_status: table(
    "automation_history_stats_by_status",
    "How many entries of the automation history have each status, on each day it was measured.",
    {
      status: lineId(text()).describe("Status that is counted, as the service names it; values not documented."),
      count: count().describe("How many entries of the history have that status."),
    },
  ),
  total: count().describe("How many entries the history holds altogether."),
});
