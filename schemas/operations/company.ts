import { flag, id, json, list, personal, record, text, whole } from "../fields.ts";

/** `GET /bootstrap`; the documents don't show its fields. */
export const bootstrap = record("What a client of the service is given at the start of a session, kept once a day.", {
  data: whole().describe("The answer as it came: user, company, modules, feature flags and plan, kept as JSON."),
});

/** `GET /feature-flags`. */
export const featureFlags = record("Which features of the service are switched on for the company, once a day.", {
  flags: json().describe("State of each feature flag; their names are not documented, kept as JSON."),
});

/** `GET /company-settings`. */
export const companySettings = record("The company's settings for procurement, as they stood on each day.", {
  settings: json().describe(
    "The company's choices for procurement in one object; its contents are not documented, kept as JSON.",
  ),
});

/** `GET /auth/company-settings` without the webhook's secret. */
export const companyProfile = record("The company's own particulars with the service, as they stood on each day.", {
  company_id: id().describe("The service's identifier of the company."),
  company_name: text().describe("Buying company's name as it is registered with the service."),
  company_name_is_placeholder: flag()
    .nullable()
    .describe("Whether company_name was filled in by the service and nobody has set the real one yet."),
  email: personal(text()).nullable().describe("E-mail address of the company; null where none is set."),
  ingest_email: personal(text())
    .nullable()
    .describe("Address to which documents can be mailed; null where there is none."),
  webhook_url: text().nullable().describe("Address that is told when a document is processed; null where none is set."),
  webhook_enabled: flag().nullable().describe("Whether that address is told; null where none is set."),
  extraction_config: json().nullable().describe("How documents are read; content not documented, kept as JSON."),
  model_tier: text().nullable().describe("Class of models that read documents, as the service names it."),
  enabled_modules: json().nullable().describe("Modules that are switched on; content not documented, kept as JSON."),
  has_email_ingests: flag().nullable().describe("Whether documents have come in by e-mail; null where not known."),
  erp_connections: list().nullable().describe("Connected ERP systems, a list not documented, kept as JSON."),
  email_preferences: json().nullable().describe("Which e-mails are wanted; content not documented, kept as JSON."),
  company_address: text().nullable().describe("Street and number of the company; null where not set."),
  company_city: text().nullable().describe("City of the company; null where not set."),
  company_state: text().nullable().describe("State or province of the company; null where not set."),
  company_zip_code: text().nullable().describe("Postal code of the company; null where not set."),
  company_phone: personal(text()).nullable().describe("Telephone number of the company; null where not set."),
  logo_storage_key: text().nullable().describe("Where the service keeps the company's logo; null where it has none."),
  default_payment_terms: text().nullable().describe("Payment terms of new orders; null where none are set."),
  default_po_notes: text().nullable().describe("Notes that new orders bear; null where none are set."),
  base_currency: text().nullable().describe("Currency the company reckons in; null where none is set."),
});
