import type { Column, Currency, Table } from "../../catalog/columns.ts";
import { asOfName } from "./as_of.ts";

/** What the engine's own columns are, for people who browse the tables. */
export const engineComments = {
  _company: "The company of the configuration whose key read this row.",
  _extra: "JSON of the fields that the service's documents don't name; NULL when there are none.",
  _problems:
    "JSON, field to raw value and reason, of values that did not fit their column and are NULL there, or the day alone of a time; NULL when there are none.",
  _first_seen_at: "When a publish first brought this row.",
  _changed_at:
    "When a publish brought the row's present values, its deletion or its return. Columns that change by themselves every day don't move it.",
  _deleted_at: "When a publish first missed the row: the service no longer lists it. NULL while it does.",
  _valid_from: "The moment of the publish that brought these values, or from which on the history of the row is kept.",
  _valid_to:
    "The moment of the publish that brought other values or the row's deletion: they were no longer true from then on. NULL while they are.",
  _is_current: "Whether these are the row's present values: where _valid_to is NULL.",
} as const;

export const rowStateComments = {
  hash: "Fingerprint of the row as the service sent it, without what changes by itself every day; 0 where none was taken.",
  vhash: "Fingerprint of the columns that change by themselves every day; 0 where none was taken.",
  stamp: "Which columns the fingerprints cover: under another stamp the next full scan compares column by column.",
  first_seen_at: "When a publish first brought the row, as in its _first_seen_at.",
  missing_since:
    "Since when complete scans have not seen the row without proof that it is gone; NULL while they see it.",
  deleted_at: "When the row was marked as no longer listed, as in its _deleted_at; NULL while it is listed.",
} as const;

/** Description, currency, what moves `_changed_at`, and where the API has it. `versioned`: as it stands in a table of versions. */
export function columnComment(column: Column, versioned = false): string {
  const aside = versioned
    ? "Changes by itself: its value when the version began."
    : "Changes by itself: alone it does not move _changed_at.";
  return [
    sentence(column.description),
    column.nullable && column.source !== "context" && !/\bnull\b/i.test(column.description)
      ? "NULL where the service gives none."
      : "",
    column.kind === "money" && column.currency !== undefined ? currencySentence(column.currency) : "",
    column.treatment === undefined ? "" : treatments[column.treatment],
    column.volatile && column.source === "row" ? aside : "",
    sourceSentence(column),
  ]
    .filter(part => part !== "")
    .join(" ");
}

export const versionsComment = (table: Table): string =>
  `Every version of each row of ${table.name}: what it said from _valid_from until just before _valid_to. A version begins when a row comes, changes (also in a row of a child table), or returns, and ends when it changes or is no longer listed. ${asOfName(table)}('2026-01-31') answers the rows of that moment. ${table.description}`.trim();

export const asOfComment = (table: string): string =>
  `The rows of ${table} that were live at a moment, as they were then. A date means its first instant in the session's time zone.`;

/** What the configured privacy did to a column's values. */
export const treatments = {
  hash: "Stored as HMAC-SHA-256 in hexadecimal: equal values have equal ones.",
  mask: "Stored masked.",
} as const;

export function currencySentence(currency: Currency): string {
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
