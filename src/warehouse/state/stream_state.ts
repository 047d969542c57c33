import { z } from "zod";

/*
 * What is remembered between runs, in its stored form. A record that doesn't fit (another version's, a damaged one) reads
 * as "nothing remembered": the scan or stream starts afresh, which is always right, only dearer.
 */

const problem = z.object({
  table: z.string(),
  column: z.string(),
  reason: z.string(),
  example: z.string(),
  rows: z.number(),
});

const drift = z.object({
  table: z.string(),
  column: z.string(),
  sort: z.enum(["new", "type", "more"]),
  type: z.string(),
  example: z.string(),
  rows: z.number(),
});

const names = z.array(z.string()).readonly();

const oldRow = z.object({ key: z.string(), at: z.number() });

const window = z.object({
  /** Calendar dates: rows from this day on, up to that one; null: up to now. */
  from: z.string(),
  to: z.string().nullable(),
  /** Where its next page begins; null: the first page. */
  cursor: z.string().nullable(),
  pages: z.number(),
  done: z.boolean(),
});

/** A part of a feed that is read by itself, and how far that is. */
export type Window = z.infer<typeof window>;

const scanRecord = z.object({
  scan: z.string(),
  /** Of the request that began it; only the same request may continue it. */
  fingerprint: z.string(),
  phase: z.enum(["reading", "read"]),
  startedAt: z.string(),
  /** Which of the scan's requests is being read: a full scan may have several, one for each configured status. */
  part: z.number(),
  /** Where its next page begins; null: the first page. Opaque, belongs to the API. */
  cursor: z.string().nullable(),
  /** No narrowing filter: rows it does not see may be missing. */
  full: z.boolean(),
  pages: z.number(),
  rows: z.number(),
  sequence: z.number(),
  firstTotal: z.number().nullable(),
  lastTotal: z.number().nullable(),
  /** `Date` of the first answer. */
  date: z.string().nullable(),
  /** Latest time in the high-water column of the rows, microseconds since 1970, and the rows with the oldest ones. */
  latest: z.number().nullable(),
  oldest: z.array(oldRow).readonly().default([]),
  /** Rows that were read and left out: their times lie before the config's start. */
  beforeStart: z.number().default(0),
  rejected: z.number(),
  rounded: z.number(),
  problems: z.array(problem),
  /** How rows differ from the documents, and by table which documented fields stood in all of them and in none. */
  drift: z.array(drift).default([]),
  presence: z.record(z.string(), z.object({ rows: z.number(), always: names, never: names })).default({}),
  /** As many rows as one request brings: there may be more. */
  capped: z.boolean().default(false),
  /** One request brought the whole list: it had no further page, and fewer rows than it might have had. */
  oneAnswer: z.boolean().default(false),
  /** Of a lookup's parts: those that the service knows nothing of, and those that could not be read. */
  absent: z.array(z.number()).default([]),
  unread: z.array(z.object({ part: z.number(), reason: z.string() })).default([]),
  /** Runs that ended with an error of the service since rows were published last. */
  failures: z.number(),
  /** Of a scan that reads several parts at the same time: each one's own place. */
  windows: z.array(window).default([]),
  /** The scan that must have been published last when this one is: null for none. Backfills only. */
  follows: z.string().nullable().default(null),
});

/** The checkpoint of a scan under way: stored with the stage's rows, true for exactly them. */
export type ScanRecord = z.infer<typeof scanRecord>;

export function beginScan(scan: string, fingerprint: string, full: boolean, startedAt: string): ScanRecord {
  return scanRecord.parse({
    ...{ scan, fingerprint, full, startedAt, phase: "reading", part: 0, cursor: null, date: null, latest: null },
    ...{ pages: 0, rows: 0, sequence: 0, firstTotal: null, lastTotal: null, rejected: 0, rounded: 0, problems: [] },
    failures: 0,
  });
}

const backfill = z.object({
  /** The range, as calendar dates; null: the oldest there is, and now. */
  from: z.string().nullable(),
  to: z.string().nullable(),
  /** How far what is published goes; none where the stream is read whole. */
  windows: z.array(window),
  done: z.boolean(),
});

/** What a backfill has to load of a stream, and what of it is done. */
export type BackfillPlan = z.infer<typeof backfill>;

const questions = z.object({
  /** The columns (`table.column`) that parameters take their values from, by parameter. */
  from: z.record(z.string(), names),
  /** What they held, by parameter. */
  found: z.record(z.string(), names),
  /** What is not among them is not asked for any more. */
  all: z.boolean(),
});

export type BegunQuestions = z.infer<typeof questions>;

/** How dates and moments without a zone were read. */
const formats = z.object({ dates: names, timezone: z.string() });

const streamState = z.object({
  /** How far a feed is read: the latest time in the high-water column of a complete scan's rows. Stored as `mark`. */
  highWaterMark: z.string().nullable().default(null),
  lastFullAt: z.string().nullable().default(null),
  lastFullPages: z.number().nullable().default(null),
  /** The scan whose rows were published last; its stage is never published again. */
  publishedScan: z.string().nullable().default(null),
  /** `_changed_at` of the last publish that changed anything. */
  lastMoment: z.string().nullable().default(null),
  /** Of the last publish, where one batch held the whole scan: its digest, and what the row state came to with it. */
  lastKeys: z.object({ digest: z.string(), rowState: z.string() }).nullable().default(null),
  /** Further statuses that a list's rows came by: one that is not asked for any more hides its rows. */
  statuses: names.default([]),
  /** The time filter seems to look at another field: read whole until a full scan that is due or asked for lets it be tried again. */
  filterDistrusted: z.boolean().default(false),
  /** Since when, ISO 8601; null: nobody noted. */
  distrustedAt: z.string().nullable().default(null),
  /** Rows that the filter should have left out: those it is distrusted for, else those of the last scan that it narrowed. */
  strays: z.array(oldRow).readonly().default([]),
  /** From which day on a feed was read whole; null: from its beginning; undefined: nobody noted. */
  coversFrom: z.string().nullable().optional(),
  /** What the config's start leaves in that is not covered, and how many requests it was estimated to take. */
  startGap: z.object({ from: z.string().nullable(), to: z.string(), requests: z.number() }).nullable().default(null),
  backfill: backfill.nullable().default(null),
  /** Rows that the last whole scan missed and that stay until they are proven gone. */
  undecided: z
    .object({
      /** The run that read it. */
      run: z.string(),
      /** The deletion guard blocked them: the scan is not believed until the next one agrees. */
      doubted: z.boolean(),
      /** A feed is read whole again by the next run. */
      again: z.boolean(),
      /** Values of the key whose address was asked last. */
      asked: names,
    })
    .nullable()
    .default(null),
  /** Of a lookup's scan under way: it goes on with these values, whatever the columns hold by then. */
  questions: questions.nullable().default(null),
  /** By table, the documented fields that every row had, and those that had been there and vanished. */
  fields: z.record(z.string(), z.object({ always: names, vanished: names })).default({}),
  /** Child tables that had lines of its rows: an empty one has lost them. */
  filled: names.default([]),
  /** By child table, its rows, deleted ones included; without a table that nobody counted since it was loaded. */
  lineRows: z.record(z.string(), z.number()).default({}),
  /** Where versions of the rows are kept: the columns whose changes began none, `table.column`; null: nobody noted. */
  unversioned: names.nullable().default(null),
  /** What its rows were read with last; null: nothing was published yet. */
  formats: formats.nullable().default(null),
  /** Of a list or feed: rows that were read with other formats may be left, until it is read whole. */
  mixedFormats: z.boolean().default(false),
});

/** What a stream remembers between runs: its high-water mark, its last full scan, what a backfill has done. */
export type StreamState = z.infer<typeof streamState>;

export const noState: StreamState = streamState.parse({});

export function readScanRecord(stored: unknown): ScanRecord | undefined {
  return scanRecord.safeParse(stored).data;
}

/** The stored state; a damaged one reads as none. */
export function readStreamState(stored: unknown): StreamState {
  const { mark, ...state } = (stored ?? {}) as { readonly mark?: unknown };
  return streamState.safeParse({ ...state, highWaterMark: mark }).data ?? noState;
}

export function storedStreamState({ highWaterMark, ...state }: StreamState): string {
  return JSON.stringify({ mark: highWaterMark, ...state });
}
