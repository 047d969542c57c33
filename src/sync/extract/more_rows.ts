import type { StreamProgress } from "../stream_progress.ts";
import { extractMessages } from "./messages.ts";

/** What stands beside an answer's rows and says that there are more of them than came. */
interface More {
  readonly field: string;
  readonly said: number | true;
}

/** A count is plain digits: of anything else nobody knows what it says. */
export function countIn(value: unknown): number | null {
  const text = typeof value === "number" || typeof value === "string" ? String(value) : "";
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/**
 * The first field beside the rows, at any depth, by which an answer is not all: `total` above the rows, `pages` above `page`, or
 * `truncated`. The documents don't say what `total` counts, so it proves no loss; but then a row that did not come proves no absence.
 */
export function moreThanCame(data: unknown, rows: number, path: readonly string[] = []): More | undefined {
  if (typeof data !== "object" || data === null || Array.isArray(data)) return undefined;
  const { total, pages, page, truncated } = data as Readonly<Record<string, unknown>>;
  const named = (field: string, said: More["said"]): More => ({ field: [...path, field].join("."), said });
  const counted = countIn(total);
  if (counted !== null && counted > rows) return named("total", counted);
  const [last, here] = [countIn(pages), countIn(page)];
  if (last !== null && here !== null && last > here) return named("pages", last);
  if (truncated === true) return named("truncated", true);
  for (const [name, value] of Object.entries(data)) {
    const found = moreThanCame(value, rows, [...path, name]);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether more rows than came are said to be there, which a note says once a run. */
export function notesMore(data: unknown, rows: number, path: string, { notes }: StreamProgress): boolean {
  const more = moreThanCame(data, rows);
  if (more === undefined) return false;
  const note = extractMessages.more_rows({ path, ...more, rows });
  if (notes.every(({ code }) => code !== note.code)) notes.push(note);
  return true;
}
