import { catalog, template } from "../message.ts";

export const meaningMessages = catalog("meanings", {
  unknown_column: template(
    {
      key: "meanings.paid.paid_att",
      tables: ["bills"] as readonly string[],
      column: "paid_att",
      near: "paid_at" as string | undefined,
    },
    ({ key, tables, column, near }) =>
      `${key}: expected a column of ${tables.join(" or ")}, got ${column}${near === undefined ? "" : `; did you mean ${near}?`}`,
  ),
  unfit_test: template(
    { key: "meanings.paid.paid_at", expected: ["filled"] as readonly string[], kind: "moment", got: "negative" },
    ({ key, expected, kind, got }) =>
      `${key}: expected ${expected.join(" or ")}, for the column holds ${kind} values, got ${got}`,
  ),
});

export const currencyMessages = catalog("currency", {
  no_columns: template(
    { got: "day,code,value" },
    ({ got }) =>
      `currency.rates: expected a first line with date, currency and rate, or with Date and a column for each currency, got ${JSON.stringify(got)}`,
  ),
  invalid_line: template(
    { line: 7, expected: "a date such as 2026-03-31", got: "31.03.2026" },
    ({ line, expected, got }) => `currency.rates, line ${line}: expected ${expected}, got ${JSON.stringify(got)}`,
  ),
  no_rates: template(
    { report: "CHF", found: ["GBP", "USD"] as readonly string[], base: "EUR" },
    ({ report, found, base }) =>
      `currency: expected rates of ${report}, got those of ${found.join(", ") || "nothing"} for one ${base}`,
  ),
});
