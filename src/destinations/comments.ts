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

/** What a row ledger's columns beside the key are. */
export const ledgerComments = {
  hash: "Fingerprint of the row as the service sent it, without what changes by itself every day; 0 where none was taken.",
  vhash: "Fingerprint of the columns that change by themselves every day; 0 where none was taken.",
  stamp: "Which columns the fingerprints cover: under another stamp the next full scan compares column by column.",
  first_seen_at: "When a publish first brought the row, as in its _first_seen_at.",
  missing_since:
    "Since when complete scans have not seen the row without proof that it is gone; NULL while they see it.",
  deleted_at: "When the row was marked as no longer listed, as in its _deleted_at; NULL while it is listed.",
} as const;

/** Description, currency, what moves `_changed_at`, and where the API has it. */
export function columnComment(column: Column): string {
  return [
    sentence(column.description),
    column.nullable && column.source !== "context" && !/\bnull\b/i.test(column.description)
      ? "NULL where the service gives none."
      : "",
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
  if (source === "row") return path.length === 0 ? "API: the whole row." : `API: ${path.join(".")}`;
  return source === "page" ? `API: ${path.join(".")}, beside the rows of the list.` : "";
}

function sentence(text: string): string {
  const trimmed = text.trim();
  return trimmed === "" || /[.!?…]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}
