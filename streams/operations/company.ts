import { billingUsageItem, billingUsage as usage } from "../../schemas/operations/billing.ts";
import {
  featureFlags as flags,
  companyProfile as profile,
  bootstrap as session,
  companySettings as settings,
} from "../../schemas/operations/company.ts";
import { defineStream, list, type PageColumn, snapshot } from "../../src/catalog/stream.ts";

export const companySettings = defineStream({
  name: "company_settings",
  path: "/company-settings",
  mode: snapshot(),
  row: settings,
  key: ["observed_on"],
  preset: "standard",
});

export const companyProfile = defineStream({
  name: "company_profile",
  path: "/auth/company-settings",
  mode: snapshot({ omit: ["webhook_secret"] }),
  row: profile,
  key: ["observed_on"],
  preset: "standard",
});

export const featureFlags = defineStream({
  name: "feature_flags",
  path: "/feature-flags",
  mode: snapshot(),
  row: flags,
  key: ["observed_on"],
  preset: "standard",
});

export const bootstrap = defineStream({
  name: "bootstrap",
  path: "/bootstrap",
  mode: snapshot(),
  row: session,
  key: ["observed_on"],
  preset: "standard",
});

export const billingUsage = defineStream({
  name: "billing_usage",
  path: "/billing/usage",
  mode: snapshot(),
  row: usage,
  key: ["observed_on"],
  preset: "standard",
});

const cutShort: PageColumn = {
  name: "truncated",
  kind: "flag",
  field: "truncated",
  description: "Whether the service had cut its list short when it last listed the item.",
};

export const billingUsageHistory = defineStream({
  name: "billing_usage_history",
  path: "/billing/usage-history",
  mode: list({ rows: "items", absence: "kept", pageColumns: [cutShort] }),
  row: billingUsageItem,
  key: ["id"],
  preset: "standard",
});
