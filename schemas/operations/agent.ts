import { id, json, list, moment, quantity, record, score, text } from "../fields.ts";

/** A row of `GET /agent/pending-approvals`. */
export const pendingAgentAction = record("Actions the agent wants to take and that wait for somebody's approval.", {
  id: id().describe("Identifier of the action, unique within the company."),
  action: text().describe("What the agent wants to do, as the service names it; values not documented."),
  tool_id: id().describe("Tool that the agent would use for it."),
  reason: text().describe("Why the agent may not act without approval, in the service's words."),
  trust_level: text().describe("How far the agent is trusted with it, as the service names it; values not documented."),
  description: text().nullable().describe("What the action would do, in words; null where nothing is said."),
  context: json().nullable().describe("What the action rests on; content not documented, kept as JSON."),
  created_at: moment().nullable().describe("When the action was put up for approval; null where that is not known."),
});

/** `GET /agent-actions/{action_id}/reasoning`. */
export const agentActionReasoning = record("Why the agent wants to take each of its pending actions.", {
  action_id: id().describe("Action that is explained, as the answer itself names it."),
  tool_id: id().describe("Tool that the agent uses for the action."),
  tool_description: text().nullable().describe("What that tool does; null where nothing is said about it."),
  status: text().describe("Where the action stands, as the service names it; values not documented."),
  confidence: score().nullable().describe("How sure the agent is of it; the scale is not documented."),
  reasoning_summary: text().nullable().describe("The agent's reasons in short; null where it gives none."),
  source_signals: list().nullable().describe("What the agent went by, a list not documented, kept as JSON."),
  source_kind: text().nullable().describe("Kind of thing the agent went by, as the service names it."),
  entity_refs: list().nullable().describe("What the action is about, a list not documented, kept as JSON."),
  created_at: moment().describe("When the agent came up with the action."),
  expires_at: moment().nullable().describe("When the action lapses unless somebody decides; null where it never does."),
  agent_principal_id: id().describe("Identity under which the agent acts."),
});

/** `GET /agent-actions/stats`. */
export const agentActionStats = record("What the agent did within a day and what waits for approval, measured daily.", {
  queued_for_approval: quantity().describe("How many actions wait for approval."),
  executed_last_24h: quantity().describe("How many actions were carried out in the last 24 hours."),
  dismissed_last_24h: quantity().describe("How many actions were turned down in the last 24 hours."),
  failed_last_24h: quantity().describe("How many actions failed in the last 24 hours."),
  observations_executed_last_24h: quantity().describe(
    "How many mere observations were carried out in the last 24 hours.",
  ),
  by_tool: json().describe("The figures by tool; content not documented, kept as JSON."),
});
