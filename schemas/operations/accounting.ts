import { count, flag, id, moment, record, text } from "../fields.ts";

/** A row of `GET /chart-of-accounts`. */
export const account = record("Ledger accounts of the company, one row an account.", {
  account_code: id().describe("Number of the account, unique within the company."),
  account_name: text().describe("Name of the account for display."),
  account_type: text().describe("Kind of account, as the service names it; values not documented."),
  is_active: flag().describe("Whether the account is active, as the service counts it."),
});

/** A row of `GET /gl-category-mappings`. */
export const glCategoryMapping = record("Which ledger account a category of items is posted to, one row a category.", {
  id: id().describe("Identifier of the mapping, unique within the company."),
  category: text().describe("Category of items, by assumption as in items.category."),
  subcategory: text().nullable().describe("Subcategory of items; null where the mapping holds for the whole category."),
  gl_account_code: id().describe("Account to post to, by an assumed join chart_of_accounts.account_code."),
  created_at: moment().nullable().describe("When the mapping was made; null where that is not known."),
  account_name: text().nullable().describe("Name of that account as a label; null where it is not known."),
});

/** An element of `header_fields[]` or `line_fields[]` of `GET /custom-fields/discovered`. */
export const customField = record(
  "Fields beyond the usual ones that the service found on documents, one row a field.",
  {
    field_key: text().describe("The service's name of the field, unique within its scope."),
    document_count: count().describe("How many documents bear the field."),
    line_item_count: count().describe("How many document lines bear the field."),
  },
);
