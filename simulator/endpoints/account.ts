import { type Company, PURPOSE } from "../company/company.ts";
import { hash } from "../random.ts";
import type { Route } from "../routes.ts";
import { Values } from "../values.ts";

/** /auth/company-settings: whose data it is, and a secret that belongs in no log. */
export function accountRoutes(company: Company): Route[] {
  return [{ template: "/auth/company-settings", answer: () => ({ data: settings(company) }) }];
}

function settings(company: Company): Record<string, unknown> {
  const v = new Values(hash(company.seed, PURPOSE.account, 2));
  const often = <T>(value: T): T | null => (v.chance(0.15) ? null : value);
  const domain = `${company.id.replace("_", "-")}.example`;
  return {
    company_id: company.id,
    company_name: company.name,
    company_name_is_placeholder: often(false),
    email: often(`purchasing@${domain}`),
    ingest_email: often(`${company.id}@ingest.example`),
    webhook_url: often(`https://hooks.${domain}/procurement`),
    webhook_enabled: often(v.chance(0.5)),
    webhook_secret: often(`whsec_${hash(company.seed, 4711).toString(16)}${hash(company.seed, 4712).toString(16)}`),
    extraction_config: often({ languages: ["de", "en"], line_items: true }),
    model_tier: often("standard"),
    enabled_modules: often({ reconciliation: true, freight: false }),
    has_email_ingests: often(true),
    erp_connections: often([{ id: "erp-1", system: "SAP S/4HANA", status: "active" }]),
    email_preferences: often({ digest: "weekly" }),
    company_address: often("Straße des 17. Juni 135"),
    company_city: often("Berlin"),
    company_state: often("BE"),
    company_zip_code: often("10623"),
    company_phone: often("+49 30 5550100"),
    logo_storage_key: often(`logos/${company.id}.png`),
    default_payment_terms: often("2/10 net 30"),
    default_po_notes: often("Please confirm within 2 days.\nDeliveries: 7:00 – 15:00"),
    base_currency: often(company.currency ?? "USD"),
  };
}
