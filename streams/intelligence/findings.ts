import { anomaly } from "../../schemas/intelligence/anomaly.ts";
import { findingDraft } from "../../schemas/intelligence/finding_draft.ts";
import { findingLineage } from "../../schemas/intelligence/finding_lineage.ts";
import { findingStats } from "../../schemas/intelligence/finding_stats.ts";
import { issue, issuesSummary } from "../../schemas/intelligence/issue.ts";
import { findingIntel } from "../../schemas/intelligence/procurement_intel.ts";
import { defineStream, detail, feed, scan, snapshot } from "../../src/catalog/stream.ts";

const pace = { fullScanPages: 100, fullScanEveryDays: 7, lookbackDays: 7 };

export const issues = defineStream({
  name: "issues",
  path: "/issues",
  mode: feed({
    rows: "issues",
    highWaterColumn: "created_at",
    narrow: { by: "dates", from: "date_from", to: "date_to" },
    ...pace,
  }),
  row: issue,
  key: ["id"],
  preset: "standard",
});

// Measured from a request of its own: a page narrowed by a filter counts only what it shows.
export const issueSummaries = defineStream({
  name: "issues_summary",
  path: "/issues",
  query: { limit: "1" },
  mode: snapshot({ omit: ["issues"] }),
  row: issuesSummary,
  key: ["observed_on"],
  preset: "standard",
});

export const anomalies = defineStream({
  name: "anomalies",
  path: "/anomalies",
  mode: scan({ rows: "anomalies", absence: "left" }),
  row: anomaly,
  key: ["id"],
  preset: "standard",
});

export const findingStatistics = defineStream({
  name: "finding_stats",
  path: "/findings/stats",
  mode: snapshot(),
  row: findingStats,
  key: ["observed_on"],
  preset: "standard",
});

export const findingLineages = defineStream({
  name: "finding_lineage",
  path: "/lineage/finding/{id}",
  mode: detail({ of: "findings", by: "finding_id" }),
  row: findingLineage,
  key: ["finding_id"],
  preset: "all",
});

export const findingDrafts = defineStream({
  name: "finding_drafts",
  path: "/findings/{finding_id}/draft",
  mode: detail({ of: "findings", by: "finding_id" }),
  row: findingDraft,
  key: ["finding_id"],
  preset: "all",
});

export const findingIntelligence = defineStream({
  name: "finding_intel",
  path: "/procurement-intel/{finding_id}",
  mode: detail({ of: "findings", by: "finding_id" }),
  row: findingIntel,
  key: ["finding_id"],
  preset: "all",
});
