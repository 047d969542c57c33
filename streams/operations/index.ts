import type { StreamGroup } from "../../src/catalog/stream.ts";
import { chartOfAccounts, customFields, glCategoryMappings } from "./accounting.ts";
import {
  agentActionReasoning,
  agentActionStats,
  approvalRules,
  dateDriftAlerts,
  dateDriftCounts,
  pendingAgentActions,
  pendingApprovals,
} from "./approvals.ts";
import {
  automationActions,
  automationAgentHistory,
  automationEvents,
  automationExecutionDetails,
  automationExecutionPreviews,
  automationExecutions,
  automationHistory,
  automationHistoryStats,
  automationRules,
  automationStats,
  automationTemplates,
  automationTriggers,
} from "./automations.ts";
import {
  billingUsage,
  billingUsageHistory,
  bootstrap,
  companyProfile,
  companySettings,
  featureFlags,
} from "./company.ts";
import { erpConnections, erpFieldMappings, erpMappings, erpSyncLogs, erpUnmappedColumns } from "./erp.ts";
import { erpImportConnections, erpImportRows, erpImportRuns } from "./erp_imports.ts";
import { chatChannels, notificationConfigs, notificationPreferences, notificationTypes } from "./notifications.ts";

/** In run order: lists before the details that hang on them. */
export const operations: readonly StreamGroup[] = [
  {
    title: "Agent, approvals and alerts",
    streams: [
      pendingApprovals,
      approvalRules,
      dateDriftAlerts,
      dateDriftCounts,
      pendingAgentActions,
      agentActionStats,
      agentActionReasoning,
    ],
  },
  {
    title: "Automations",
    streams: [
      automationRules,
      automationTemplates,
      automationActions,
      automationTriggers,
      automationEvents,
      automationExecutions,
      automationHistory,
      automationHistoryStats,
      automationStats,
      automationExecutionDetails,
      automationExecutionPreviews,
      automationAgentHistory,
    ],
  },
  { title: "Accounting", streams: [chartOfAccounts, glCategoryMappings, customFields] },
  {
    title: "ERP",
    streams: [
      erpConnections,
      erpFieldMappings,
      erpMappings,
      erpSyncLogs,
      erpUnmappedColumns,
      erpImportConnections,
      erpImportRuns,
      erpImportRows,
    ],
  },
  {
    title: "Company and notifications",
    streams: [
      companySettings,
      companyProfile,
      featureFlags,
      bootstrap,
      billingUsage,
      billingUsageHistory,
      notificationConfigs,
      notificationPreferences,
      notificationTypes,
      chatChannels,
    ],
  },
];
