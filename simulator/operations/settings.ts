import type { Company } from "../company/company.ts";
import type { MakeDomain } from "../domain.ts";
import { hash } from "../random.ts";
import type { Row } from "../source.ts";
import { Values } from "../values.ts";
import { DRAWN } from "./family.ts";

function flags(company: Company): Row {
  const v = new Values(hash(company.seed, DRAWN.settings));
  return { agent_actions: v.chance(0.5), dock: v.chance(0.5), "beta/graph-2": false, rollout: { share: 0.25 } };
}

function settings(company: Company): Row {
  const v = new Values(hash(company.seed, DRAWN.settings, 1));
  return {
    approval_threshold: v.pick<unknown>([1000, "2500.00", null]),
    fiscal_year_start: "04-01",
    currency: company.currency,
    tolerance: { price_pct: v.pick([2, 2.5]), quantity_pct: 0 },
  };
}

/** What its documents don't show: user, company, modules, flags and plan, a secret among them. */
function session(company: Company): Row {
  return {
    user: {
      id: "USR-1",
      email: "ana@buyer.example",
      name: "Ana Núñez",
      api_key: `tk_${hash(company.seed, DRAWN.settings, 3)}`,
    },
    company: {
      company_id: company.id,
      company_name: company.name,
      webhook_secret: `whsec_${hash(company.seed, DRAWN.settings, 2)}`,
    },
    enabled_modules: ["reconciliation", "sourcing"],
    feature_flags: flags(company),
    plan: { name: "growth", seats: 12 },
  };
}

/** /bootstrap, /company-settings and /feature-flags. */
export const companySettings: MakeDomain = ({ company }) => ({
  sources: {},
  routes: [
    { template: "/bootstrap", answer: () => ({ data: session(company) }) },
    { template: "/company-settings", answer: () => ({ data: { settings: settings(company) } }) },
    { template: "/feature-flags", answer: () => ({ data: { flags: flags(company) } }) },
  ],
});
