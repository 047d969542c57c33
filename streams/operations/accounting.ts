import { account, customField, glCategoryMapping } from "../../schemas/operations/accounting.ts";
import { defineStream, list } from "../../src/catalog/stream.ts";

export const chartOfAccounts = defineStream({
  name: "chart_of_accounts",
  path: "/chart-of-accounts",
  mode: list({ rows: "accounts" }),
  row: account,
  key: ["account_code"],
  preset: "standard",
});

export const glCategoryMappings = defineStream({
  name: "gl_category_mappings",
  path: "/gl-category-mappings",
  mode: list({ rows: "mappings" }),
  row: glCategoryMapping,
  key: ["id"],
  preset: "standard",
});

const scopes = {
  column: "scope",
  description: "Whether the field stands on documents as a whole (header) or on their lines (line).",
  of: { header: "header_fields", line: "line_fields" },
};

export const customFields = defineStream({
  name: "custom_fields",
  path: "/custom-fields/discovered",
  mode: list({ rows: scopes }),
  row: customField,
  key: ["scope", "field_key"],
  preset: "standard",
});
