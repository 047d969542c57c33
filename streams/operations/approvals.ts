import {
  agentActionStats as agentFigures,
  pendingAgentAction,
  agentActionReasoning as reasoning,
} from "../../schemas/operations/agent.ts";
import { approvalRule, pendingApproval } from "../../schemas/operations/approval.ts";
import { dateDriftAlert, dateDriftCounts as driftCounts } from "../../schemas/operations/date_drift.ts";
import { defineStream, detail, list, snapshot } from "../../src/catalog/stream.ts";

export const pendingAgentActions = defineStream({
  name: "pending_agent_actions",
  path: "/agent/pending-approvals",
  mode: list({ rows: "actions", absence: "left" }),
  row: pendingAgentAction,
  key: ["id"],
  preset: "standard",
});

export const agentActionReasoning = defineStream({
  name: "agent_action_reasoning",
  path: "/agent-actions/{action_id}/reasoning",
  mode: detail({ of: "pending_agent_actions", param: { action_id: "id" }, newest: "created_at" }),
  row: reasoning,
  key: ["id"],
  preset: "all",
});

export const agentActionStats = defineStream({
  name: "agent_action_stats",
  path: "/agent-actions/stats",
  mode: snapshot(),
  row: agentFigures,
  key: ["observed_on"],
  preset: "standard",
});

export const dateDriftAlerts = defineStream({
  name: "date_drift_alerts",
  path: "/alerts/date-drift",
  mode: list({ rows: "alerts", absence: "left" }),
  row: dateDriftAlert,
  key: ["alert_id"],
  preset: "standard",
});

export const dateDriftCounts = defineStream({
  name: "date_drift_counts",
  path: "/alerts/date-drift/count",
  mode: snapshot(),
  row: driftCounts,
  key: ["observed_on"],
  preset: "standard",
});

export const pendingApprovals = defineStream({
  name: "pending_approvals",
  path: "/approvals/pending",
  mode: list({ rows: "pending_approvals", absence: "left" }),
  row: pendingApproval,
  key: ["doc_id", "_index"],
  preset: "standard",
});

export const approvalRules = defineStream({
  name: "approval_rules",
  path: "/approvals/rules",
  mode: list({ rows: "rules" }),
  row: approvalRule,
  key: ["id"],
  preset: "standard",
});
