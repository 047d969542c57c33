import {
  automationExecution,
  automationExecutionDetail,
  automationExecutionPreview,
} from "../../schemas/operations/automation_execution.ts";
import {
  automationAgentHistoryEntry,
  automationEvent,
  automationHistoryEntry,
  automationHistoryStats as historyStats,
} from "../../schemas/operations/automation_log.ts";
import {
  automationAction,
  automationRule,
  automationTemplate,
  automationTrigger,
  automationStats as keyFigures,
} from "../../schemas/operations/automation_rule.ts";
import { defineStream, detail, list, scan, snapshot } from "../../src/catalog/stream.ts";

export const automationEvents = defineStream({
  name: "automation_events",
  path: "/automations/events",
  mode: scan({ rows: "events", absence: "kept" }),
  row: automationEvent,
  key: ["id"],
  preset: "standard",
});

export const automationHistory = defineStream({
  name: "automation_history",
  path: "/automations/history",
  mode: scan({ rows: "", absence: "kept" }),
  row: automationHistoryEntry,
  key: ["id"],
  preset: "standard",
});

export const automationAgentHistory = defineStream({
  name: "automation_agent_history",
  path: "/automations/history/agent/{id}",
  mode: detail({ of: "automation_history", only: { column: "source", value: "agent" }, newest: "occurred_at" }),
  row: automationAgentHistoryEntry,
  key: ["id"],
  preset: "all",
});

export const automationHistoryStats = defineStream({
  name: "automation_history_stats",
  path: "/automations/history/stats",
  mode: snapshot(),
  row: historyStats,
  key: ["observed_on"],
  preset: "standard",
});

export const automationExecutions = defineStream({
  name: "automation_executions",
  path: "/automations/executions",
  mode: list({ rows: "executions", absence: "kept" }),
  row: automationExecution,
  key: ["id"],
  preset: "standard",
});

export const automationExecutionDetails = defineStream({
  name: "automation_execution_details",
  path: "/automations/executions/{id}",
  mode: detail({ of: "automation_executions", newest: "started_at" }),
  row: automationExecutionDetail,
  key: ["id"],
  preset: "all",
});

export const automationExecutionPreviews = defineStream({
  name: "automation_execution_previews",
  path: "/automations/executions/{id}/preview",
  mode: detail({ of: "automation_executions", newest: "started_at" }),
  row: automationExecutionPreview,
  key: ["id"],
  preset: "all",
});

export const automationRules = defineStream({
  name: "automation_rules",
  path: "/automations/rules",
  mode: list({ rows: "rules" }),
  row: automationRule,
  key: ["id"],
  preset: "standard",
});

export const automationTemplates = defineStream({
  name: "automation_templates",
  path: "/automations/templates",
  mode: list({ rows: "templates" }),
  row: automationTemplate,
  key: ["id"],
  preset: "standard",
});

export const automationActions = defineStream({
  name: "automation_actions",
  path: "/automations/actions",
  mode: list({ rows: "actions" }),
  row: automationAction,
  key: ["name"],
  preset: "standard",
});

export const automationTriggers = defineStream({
  name: "automation_triggers",
  path: "/automations/triggers",
  mode: list({ rows: "triggers" }),
  row: automationTrigger,
  key: ["name"],
  preset: "standard",
});

export const automationStats = defineStream({
  name: "automation_stats",
  path: "/automations/stats",
  mode: snapshot(),
  row: keyFigures,
  key: ["observed_on"],
  preset: "standard",
});
