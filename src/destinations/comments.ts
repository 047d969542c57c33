import type { Column, Currency } from "../columns.ts";

/** What the engine's own columns are, for people who browse the tables. */
export const engineComments = {
  _company: "The company of the configuration whose key read this row.",
  _extra: "JSON of the fields that the service's documents don't name; NULL when there are none.",
  _problems:
    "JSON, field to raw value and reason, of values that did not fit their column and are NULL there; NULL when there are none.",
  _first_seen_at: "When a publish first brought this row.",
  _changed_at:
    "When a publish brought the row's present values, its deletion or its return. Columns that change by themselves every day don't move it.",
  _deleted_at: "When a publish first missed the row: the service no longer lists it. NULL while it does.",
} as const;

/** Description, currency, what moves `_changed_at`, and where the API has it. */
export function columnComment(column: Column): string {
  return [
    sentence(column.description),
    column.kind === "money" && column.currency !== undefined ? currencySentence(column.currency) : "",
    column.volatile && column.source === "row" ? "Changes by itself: alone it does not move _changed_at." : "",
    sourceSentence(column),
  ]
    .filter(part => part !== "")
    .join(" ");
}

function currencySentence(currency: Currency): string {
  switch (currency.in) {
    case "row":
      return `Currency: ${currency.column} of the same row.`;
    case "table":
      return `Currency: ${currency.table}.${currency.column} by ${currency.by}.`;
    case "name":
      return "Currency: as the column's name says.";
    case "unknown":
      return "Currency: not given by the service.";
  }
}

function sourceSentence({ source, path }: Column): string {
  if (source === "row") return `API: ${path.join(".")}`;
  return source === "page" ? `API: ${path.join(".")}, beside the rows of the list.` : "";
}

function sentence(text: string): string {
  const trimmed = text.trim();
  return trimmed === "" || /[.!?…]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}
