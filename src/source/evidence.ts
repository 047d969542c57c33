import { ApiError } from "../errors.ts";
import { type Complaint, type Envelope, readComplaint } from "./envelope.ts";

/*
 * What an answer is worth. Everything that decides about rows goes by what is said here, and by no status of its own.
 * response_verdict.ts judges whether an answer is the service's own at all.
 */

/**
 * What an answer proves of the row that its path names: its presence (the row came), its absence (404 in the service's own error
 * envelope), that this key may not read it (403 in that envelope), or nothing. An answer of anybody else proves nothing: the
 * client retries it, and it ends as unavailable.
 */
export type Proof = "presence" | "absence" | "refusal" | "nothing";

/** What a failed request proves. */
export function proofIn(error: unknown): Exclude<Proof, "presence"> {
  const failure = error instanceof ApiError ? error.failure : undefined;
  return failure === "not_found" ? "absence" : failure === "forbidden" ? "refusal" : "nothing";
}

/** Statuses of HTTP for an answer that holds a part of what was requested, or several answers. */
const PARTIAL_CONTENT = 206;
const MULTI_STATUS = 207;

/** Why an answer with data is a failure by its own words; undefined: it says nothing of the kind. Its missing rows would be deleted. */
export function failureBeside(
  json: unknown,
  status: number,
): { readonly what: string; readonly complaint?: Complaint | undefined } | undefined {
  const isPart = status === PARTIAL_CONTENT || status === MULTI_STATUS;
  const beside = errorsBeside(json);
  if (!isPart && beside.length === 0) return undefined;
  const [first] = beside;
  const complaint = readComplaint({ error: typeof first === "string" ? { message: first } : first });
  const what = isPart ? ", which means a part of the answer" : " with an error beside the data";
  return { what: `status ${status}${what}${inWords(complaint)}`, complaint };
}

function errorsBeside(json: unknown): readonly unknown[] {
  if (typeof json !== "object" || json === null) return [];
  const { error, errors } = json as { readonly error?: unknown; readonly errors?: unknown };
  return [error, errors].filter(each => !isNothing(each)).flat();
}

const isNothing = (value: unknown): boolean => !value || (typeof value === "object" && Object.keys(value).length === 0);

/** What the service said, behind the status. */
export const inWords = (complaint: Complaint | undefined): string =>
  `${complaint?.code ? ` ${complaint.code}` : ""}${complaint?.message ? `: ${complaint.message}` : ""}`;

/** The first field beside an answer's rows by which there are more of them than came. */
interface Lack {
  readonly field: string;
  readonly said: number | true;
}

/** A count is plain digits: of anything else nobody knows what it says. */
export function countIn(value: unknown): number | null {
  const text = typeof value === "number" || typeof value === "string" ? String(value) : "";
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/**
 * By which field an answer is not all, at any depth of its data or around it: `total` above the rows, `pages` above `page`, or
 * `truncated`. The documents don't say what `total` counts, so it proves no loss; but then a row that did not come proves no absence.
 */
export const lackIn = ({ data, around }: Pick<Envelope, "data" | "around">, rows: number): Lack | undefined =>
  lackAt(data, rows, []) ?? lackAt(around, rows, []);

function lackAt(value: unknown, rows: number, path: readonly string[]): Lack | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const { total, pages, page, truncated } = value as Readonly<Record<string, unknown>>;
  const named = (field: string, said: Lack["said"]): Lack => ({ field: [...path, field].join("."), said });
  const counted = countIn(total);
  if (counted !== null && counted > rows) return named("total", counted);
  const [last, here] = [countIn(pages), countIn(page)];
  if (last !== null && here !== null && last > here) return named("pages", last);
  if (truncated === true) return named("truncated", true);
  for (const [name, inner] of Object.entries(value)) {
    const found = lackAt(inner, rows, [...path, name]);
    if (found !== undefined) return found;
  }
  return undefined;
}
