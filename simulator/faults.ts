import { z } from "zod";
import { hash } from "./random.ts";

/** How often something goes wrong: a share of the requests (0..1), or the next so many (`{ next: 3 }` or 3, counted down). */
export type Often = number | { next: number };

/** How the service misbehaves; every switch may be turned while it runs. Off: 0, false or null. */
export interface Faults {
  /** Only requests whose path (without /api/v1) begins with this are touched; null touches all. */
  only: string | null;
  /** Milliseconds before each answer. */
  latencyMs: number;
  /** Up to this many milliseconds more, drawn for each answer. */
  latencyJitterMs: number;
  /** More requests than this within a second answer 429; Retry-After as seconds, as an HTTP date, or absent. */
  rateLimit: { perSecond: number; retryAfter: "seconds" | "date" | "absent"; retryAfterSeconds?: number } | null;
  /** The next so many requests answer 429, in the manner of `rateLimit` if set, else with Retry-After: 1. */
  next429: number;
  /** Once `remaining` requests (counted down in place) are used up, all answer 429; without Retry-After unless given. */
  planLimit: { remaining: number; retryAfterSeconds?: number } | null;
  /** Answers 500 with the error envelope. */
  error500: Often;
  /** Answers 502 with an HTML page. */
  badGateway: Often;
  /** Destroys the socket in the middle of the body. */
  cutConnection: Often;
  /** Announces the whole body's length and ends after half of it. */
  truncatedBody: Often;
  /** Takes the request and never answers. */
  hang: Often;
  /** The next so many requests answer this status with the error envelope; at the upload's address too. */
  refuse: { status: number; next: number } | null;
  /** The address of an upload has expired when it is given out. */
  expireAddress: Often;
  /** Milliseconds until an uploaded document is processed. */
  processingMs: number;
  /** An uploaded document is never processed. */
  endlessProcessing: Often;
  /** Body bytes a second, sent in small pieces. */
  slowBody: number;
  /** Redirects (302) to the same path at this origin. */
  redirectTo: string | null;
  /** So many rows of the page before stand again at the head of each following page. */
  repeatRows: number;
  /** The answer to a cursor names that same cursor as the next one. */
  repeatCursor: Often;
  /** Pages never end: every cursor leads to the first page, or the last page names itself by further cursors. */
  endless: "first" | "last" | null;
  /** A cursor that continues after this many pages answers 422, or `status`; with `times`, only so often (counted down in place). */
  expireCursorAfterPages: number | { pages: number; times: number; status?: number };
  /** A paged answer comes without its pagination block. */
  missingPagination: Often;
  /** has_more is true although next_cursor is null. */
  hasMoreWithoutCursor: Often;
  /** A page without rows that says has_more; its cursor goes on where the page should have been. */
  emptyPage: Often;
  /** Share of the rows that carry fields the documents don't name; a given row always or never does. */
  unknownFields: number;
  /** Share of the rows in which one field has a type the documents don't allow. */
  wrongTypes: number;
  /** Share of the rows whose key is null. */
  nullKeys: number;
}

/** All switches off. */
export function noFaults(): Faults {
  return {
    only: null,
    latencyMs: 0,
    latencyJitterMs: 0,
    rateLimit: null,
    next429: 0,
    planLimit: null,
    error500: 0,
    badGateway: 0,
    cutConnection: 0,
    truncatedBody: 0,
    hang: 0,
    refuse: null,
    expireAddress: 0,
    processingMs: 0,
    endlessProcessing: 0,
    slowBody: 0,
    redirectTo: null,
    repeatRows: 0,
    repeatCursor: 0,
    endless: null,
    expireCursorAfterPages: 0,
    missingPagination: 0,
    hasMoreWithoutCursor: 0,
    emptyPage: 0,
    unknownFields: 0,
    wrongTypes: 0,
    nullKeys: 0,
  };
}

const amount = z.number().min(0);
const often = z.union([z.number().min(0).max(1), z.strictObject({ next: z.int().min(0) })]);

/** The switches as a command line gives them. */
export const faultsSchema = z.strictObject({
  only: z.string().nullable(),
  latencyMs: amount,
  latencyJitterMs: amount,
  rateLimit: z
    .strictObject({
      perSecond: amount,
      retryAfter: z.enum(["seconds", "date", "absent"]),
      retryAfterSeconds: z.exactOptional(amount),
    })
    .nullable(),
  next429: amount,
  planLimit: z.strictObject({ remaining: amount, retryAfterSeconds: z.exactOptional(amount) }).nullable(),
  error500: often,
  badGateway: often,
  cutConnection: often,
  truncatedBody: often,
  hang: often,
  refuse: z.strictObject({ status: z.int().min(400).max(599), next: z.int().min(0) }).nullable(),
  expireAddress: often,
  processingMs: amount,
  endlessProcessing: often,
  slowBody: amount,
  redirectTo: z.string().nullable(),
  repeatRows: amount,
  repeatCursor: often,
  endless: z.enum(["first", "last"]).nullable(),
  expireCursorAfterPages: z.union([
    amount,
    z.strictObject({ pages: amount, times: amount, status: z.exactOptional(z.int().min(400).max(599)) }),
  ]),
  missingPagination: often,
  hasMoreWithoutCursor: often,
  emptyPage: often,
  unknownFields: z.number().min(0).max(1),
  wrongTypes: z.number().min(0).max(1),
  nullKeys: z.number().min(0).max(1),
}) satisfies z.ZodType<Faults>;

/** Whether the switch is meant for a path (without /api/v1 and query). */
export function touches(faults: Faults, path: string): boolean {
  return faults.only === null || path.startsWith(faults.only);
}

type Occasional = {
  [Name in keyof Faults]: Faults[Name] extends Often ? (Often extends Faults[Name] ? Name : never) : never;
};
export type OccasionalFault = Occasional[keyof Faults];

/** Decides one occasion: counts down, or draws. `draw` gives whole numbers below 2^32. */
export function happens(faults: Faults, name: OccasionalFault, draw: () => number): boolean {
  const often = faults[name];
  if (typeof often === "number") {
    if (often > 1) faults[name] = { next: often - 1 };
    return often > 1 || (often > 0 && draw() < often * 4294967296);
  }
  if (often.next <= 0) return false;
  often.next -= 1;
  return true;
}

/** Spoils a row as the switches say; which rows and fields are hit depends on the row's number alone. */
export function spoil(row: Record<string, unknown>, number: number, keyField: string, faults: Faults): void {
  if (faults.unknownFields > 0 && hash(501, number) < faults.unknownFields * 4294967296) {
    row["x_future_score"] = (number % 1000) / 8;
    row["x_future_note"] = { text: "not in the documents", number };
  }
  if (faults.wrongTypes > 0 && hash(502, number) < faults.wrongTypes * 4294967296) {
    const names = Object.keys(row).filter(name => name !== keyField && row[name] !== null);
    const name = names[hash(503, number) % names.length];
    if (name !== undefined) row[name] = wrong(row[name], hash(504, number));
  }
  if (faults.nullKeys > 0 && hash(505, number) < faults.nullKeys * 4294967296) row[keyField] = null;
}

function wrong(value: unknown, choice: number): unknown {
  if (Array.isArray(value)) return "not an array";
  if (typeof value === "object") return choice % 2 === 0 ? "not an object" : 7;
  if (typeof value === "boolean") return choice % 2 === 0 ? "maybe" : 2;
  return choice % 2 === 0 ? { unexpected: String(value) } : ["unexpected"];
}
