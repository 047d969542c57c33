import type { Domain, MakeDomain } from "../domain.ts";
import { accounting } from "./accounting.ts";
import { agent } from "./agent.ts";
import { approvals } from "./approvals.ts";
import { automations } from "./automations.ts";
import { billing } from "./billing.ts";
import { dateDrift } from "./date_drift.ts";
import { erp } from "./erp.ts";
import { erpImports } from "./erp_imports.ts";
import { notifications } from "./notifications.ts";
import { companySettings } from "./settings.ts";

const parts: readonly MakeDomain[] = [
  automations,
  agent,
  approvals,
  dateDrift,
  accounting,
  erp,
  erpImports,
  billing,
  notifications,
  companySettings,
];

/** What keeps a purchasing department running: automations, approvals, accounts, ERP systems, settings. */
export const operationsDomain: MakeDomain = (world): Domain => {
  const made = parts.map(make => make(world));
  return {
    sources: Object.assign({}, ...made.map(({ sources }) => sources)),
    routes: made.flatMap(({ routes }) => routes),
  };
};
