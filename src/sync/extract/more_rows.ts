import type { Message } from "../../message.ts";
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

/** Whether more rows than came are said to be there. Says so once a run: of a list that is cut off a warning, of a count a note. */
export function notesMore(data: unknown, rows: number, path: string, progress: StreamProgress): boolean {
  const more = moreThanCame(data, rows);
  if (more === undefined) return false;
  const facts = { path, field: more.field, rows };
  if (more.said === true) once(progress.warnings, extractMessages.truncated(facts));
  else once(progress.notes, extractMessages.more_rows({ ...facts, said: more.said }));
  return true;
}

function once(messages: Message[], message: Message): void {
  if (messages.every(({ code }) => code !== message.code)) messages.push(message);
}
