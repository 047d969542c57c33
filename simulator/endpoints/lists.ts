import type { Page } from "../paging.ts";
import type { Answer } from "../routes.ts";
import type { Row } from "../source.ts";

/** A page's data as an answer, with the pagination block unless the page came without one. */
export function answerOf(data: Record<string, unknown>, page: Page): Answer {
  return page.pagination === undefined ? { data } : { data, pagination: page.pagination };
}

/** Whether one of the row's fields holds the text, whatever its case; true without a text. */
export function search(row: Row, text: string | undefined, fields: readonly string[]): boolean {
  if (text === undefined || text === "") return true;
  const wanted = text.toLowerCase();
  return fields.some(field =>
    String(row[field] ?? "")
      .toLowerCase()
      .includes(wanted),
  );
}

/** Whether a boolean query parameter is switched on: "1" or "true". */
export function isOn(value: string | undefined): boolean {
  return value === "1" || value === "true";
}
