import type { Stream } from "../../catalog/stream.ts";
import type { Clock } from "../../clock.ts";
import { counted } from "../../counted.ts";
import { timespan } from "../../duration.ts";
import { type ExitCode, TributaryError } from "../../errors.ts";
import { type Message, reworded } from "../../message.ts";
import { generalMessages } from "../../messages.ts";
import { type Redactor, redactMessage } from "../../secrets.ts";
import type { Unanswered } from "../../source/api.ts";
import type { LimiterState } from "../../source/limit.ts";
import { COUNTERS } from "../../warehouse/state/run_log.ts";
import type { Activity, StreamProgress } from "../stream_progress.ts";
import { requestInWords } from "./messages.ts";
import type { Service } from "./service.ts";

export interface Job {
  readonly company: string;
  readonly stream: Stream;
  readonly progress: StreamProgress;
}

/** What a run did, as `--json` prints it. Failures of streams are kept apart and told here. Times are ISO 8601. */
export interface RunReport {
  readonly run_id: string;
  readonly status: "succeeded" | "warning" | "failed" | "stopped";
  /** 0 when all went well. */
  readonly exit_code: ExitCode;
  readonly started_at: string;
  readonly finished_at: string;
  readonly warnings: readonly Message[];
  readonly notes: readonly Message[];
  readonly errors: readonly Message[];
  readonly streams: readonly StreamReport[];
}

/** What a run did with a stream of a company: the columns of `_tributary.stream_runs`, where each is explained. */
export interface StreamReport {
  readonly run_id: string;
  readonly company: string;
  readonly stream: string;
  readonly status: "running" | "succeeded" | "warning" | "incomplete" | "failed" | "stopped" | "skipped";
  readonly started_at: string;
  readonly finished_at: string | null;
  readonly error: string | null;
  readonly requests: number;
  readonly retries: number;
  readonly pages: number;
  readonly bytes: number;
  readonly rows_read: number;
  readonly inserted: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly repeated: number;
  readonly carried: number;
  readonly missing: number;
  readonly deleted: number;
  /** Lines of rows that stay. */
  readonly child_deleted: number;
  readonly rejected: number;
  readonly problems: number;
  readonly rounded: number;
  readonly before_start: number;
  readonly service_rows: number | null;
  readonly table_rows: number | null;
  readonly difference: number | null;
  readonly difference_reason: string | null;
}

/** The run as it stands, for a progress display. */
export interface RunView {
  snapshot(): RunSnapshot;
}

/** How a run stands. */
export interface RunSnapshot {
  readonly streams: readonly {
    readonly stream: string;
    readonly state: "waiting" | "reading" | "publishing" | "done" | "failed" | "stopped";
    readonly pages: number;
    /** Rows that there are, as the service says. */
    readonly total?: number;
    readonly rows: number;
    /** In words. */
    readonly waitingFor?: string;
    /** By the speed of the last minute, where it is known how much there is to do. */
    readonly remainingMs?: number;
  }[];
  /** What keeps requests from going faster, in words. */
  readonly limitedBy: string;
  /** Requests under way, and how many there may be. */
  readonly inFlight: number;
  readonly ceiling: number;
  /** Answers with status 429 so far. */
  readonly limited429: number;
  /** Requests that its streams have sent. */
  readonly requests?: number;
  /** The step of a run that has no request in flight, in words. */
  readonly step?: string;
  /** Until all streams are done: by what they have still to do, and how fast requests were answered lately. Absent where that of any is not known. */
  readonly remainingMs?: number;
}

/** Several failures at once: the first of these is the exit code. */
const PRECEDENCE: readonly ExitCode[] = [70, 6, 2, 3, 130, 143, 1, 5, 4];

export function exitCodeOf(errors: readonly unknown[]): ExitCode {
  return exitCodeOfAll(errors.map(error => (error instanceof TributaryError ? error.exitCode : 70)));
}

export function exitCodeOfAll(codes: readonly ExitCode[]): ExitCode {
  return PRECEDENCE.find(code => codes.includes(code)) ?? 0;
}

export function statusOf(exitCode: ExitCode, warnings: readonly Message[]): RunReport["status"] {
  if (exitCode === 0) return warnings.length > 0 ? "warning" : "succeeded";
  return exitCode === 5 || exitCode === 130 || exitCode === 143 ? "stopped" : "failed";
}

/** What the jobs warn of, or `which` of it: an equal sentence once, with the streams that it is about. */
export function warningsOf(
  jobs: readonly Job[],
  which: (progress: StreamProgress) => readonly Message[] = ({ warnings }) => warnings,
): Message[] {
  const several = companiesIn(jobs).size > 1;
  const named = jobs.flatMap(({ company, stream, progress }) =>
    which(progress).map(message => ({ message, name: several ? `${company}/${stream.name}` : stream.name })),
  );
  return [...Map.groupBy(named, ({ message }) => message.message).values()].map(ones => {
    const streams = [...new Set(ones.map(({ name }) => name))];
    const { message } = ones[0]!;
    return reworded(message, `${streams.join(", ")}: ${message.message}`, { streams });
  });
}

export function notesOf(jobs: readonly Job[]): Message[] {
  const several = companiesIn(jobs).size > 1;
  const notes = jobs.flatMap(({ company, progress }) =>
    progress.notes.map(note => (several ? reworded(note, `${company}: ${note.message}`, { company }) : note)),
  );
  return distinct(notes);
}

/** Each sentence once. */
export const distinct = (messages: readonly Message[]): Message[] => [
  ...new Map(messages.map(each => [each.message, each])).values(),
];

/** A failure's message without secrets, with the companies in front that it struck, where there are several. */
export function messageInReport(error: unknown, jobs: readonly Job[], redact: Redactor): Message {
  const failure = redactMessage(messageFor(error), redact);
  const companies = [...companiesIn(jobs.filter(job => job.progress.run.error === failure.message))];
  return companiesIn(jobs).size > 1 && companies.length > 0
    ? reworded(failure, `${companies.join(", ")}: ${failure.message}`, { companies })
    : failure;
}

const companiesIn = (jobs: readonly Job[]): ReadonlySet<string> => new Set(jobs.map(job => job.company));

/** The message of a failure; anything that is not one of ours is a bug. */
export function messageFor(error: unknown): Message {
  if (error instanceof TributaryError) return error;
  return generalMessages.bug({ what: error instanceof Error ? `${error.name}: ${error.message}` : String(error) });
}

/** The step of a run whose streams are done. */
export interface Closing {
  step?: string;
}

const ENDED: ReadonlySet<Activity["state"]> = new Set(["done", "failed", "stopped"]);

/** What every stream is doing, how long it will take, and what keeps requests from going faster. `usual`: requests that a stream took when it was last worked on, where this run reads it in the same way. */
export function viewOf(
  jobs: readonly Job[],
  services: readonly Service[],
  clock: Pick<Clock, "now">,
  usual: (job: Job) => number | undefined = () => undefined,
  closing: Closing = {},
): RunView {
  const several = services.length > 1;
  const pace = createPace();
  return {
    snapshot() {
      const now = clock.now();
      const states = new Map(services.map(({ company, limiter }) => [company.name, limiter.state]));
      const slow = new Map(services.map(({ company, api }) => [company.name, api.unanswered?.()]));
      const busiest = [...states.values()].toSorted((a, b) => b.inFlight - a.inFlight)[0];
      const streams = jobs.map(({ company, stream, progress: { activity } }) => {
        const name = several ? `${company}/${stream.name}` : stream.name;
        const { state, pages, rows, total } = activity;
        const isAtWork = state === "reading" || state === "publishing";
        const remaining = total === undefined ? undefined : pace.remaining(name, rows, total, now);
        const waitingFor =
          activity.waitingFor ??
          (state === "reading" ? waitOf(activity, states.get(company), slow.get(company), now) : undefined);
        return {
          stream: name,
          state,
          pages,
          rows,
          ...(total === undefined ? {} : { total }),
          ...(waitingFor === undefined ? {} : { waitingFor }),
          ...(remaining !== undefined && isAtWork && slow.get(company) === undefined ? { remainingMs: remaining } : {}),
        };
      });
      const requests = jobs.reduce((sum, { progress }) => sum + progress.run.requests, 0);
      // Of a service that does not answer nobody knows when it will.
      const isHanging = [...slow.values()].some(each => each !== undefined);
      const left = isHanging ? undefined : requestsLeft(jobs, usual);
      const all = left === undefined ? undefined : pace.remaining("", requests, requests + left, now);
      // Streams that need few requests are published one after the other: then the streams tell the time, not the requests.
      const ended = streams.filter(({ state }) => ENDED.has(state)).length;
      const byStreams = pace.remaining("\0", ended, streams.length, now) ?? 0;
      const longest = Math.max(byStreams, ...streams.map(({ remainingMs }) => remainingMs ?? 0));
      const inFlight = busiest?.inFlight ?? 0;
      const isPublishing = inFlight === 0 && streams.some(({ state }) => state === "publishing");
      const step = closing.step ?? (isPublishing ? "publishing" : undefined);
      return {
        ...{ streams, requests, ...(step === undefined ? {} : { step }) },
        ...(all === undefined || closing.step !== undefined ? {} : { remainingMs: Math.max(all, longest) }),
        limitedBy: busiest?.limitedBy ?? "latency",
        inFlight,
        ceiling: busiest?.ceiling ?? 0,
        limited429: [...new Set(services.map(service => service.limiter))].reduce(
          (sum, limiter) => sum + limiter.state.limited,
          0,
        ),
      };
    },
  };
}

/** Requests that are still to be sent; undefined where that cannot be told of one stream. */
function requestsLeft(jobs: readonly Job[], usual: (job: Job) => number | undefined): number | undefined {
  let sum = 0;
  for (const job of jobs) {
    const { run, activity } = job.progress;
    const { state, pages, rows, total } = activity;
    if (ENDED.has(state)) continue;
    const isMeasured = state !== "waiting" && total !== undefined && rows > 0;
    // A request a row of details, fewer for the pages of a list.
    const left = isMeasured ? Math.ceil((Math.max(0, total - rows) * pages) / rows) : usual(job);
    if (left === undefined) return undefined;
    sum += isMeasured ? left : Math.max(0, left - run.requests);
  }
  return sum;
}

/** What a stream that reads waits for, as far as the limiter and its own requests tell. */
function waitOf(
  { asked, sent, pages, rows }: Activity,
  state: LimiterState | undefined,
  slow: Unanswered | undefined,
  now: number,
): string | undefined {
  if (state === undefined) return undefined;
  const { pausedUntil, waiting, limitedBy } = state;
  if (pausedUntil !== undefined) return `the pause after a 429, ${timespan(Math.max(1_000, pausedUntil - now))}`;
  if (slow !== undefined) return requestInWords(slow);
  // With requests queued, latency limits only where answers have become so slow that fewer are sent at once.
  const slowly = waiting > 0 && limitedBy === "latency" ? "slow answers" : undefined;
  if (asked === undefined) return slowly;
  if (asked > 0 && sent === 0) return `its turn, ${counted(waiting, "request queues", "requests queue")}`;
  if (sent > 0 && pages === 0) return "its first answer";
  return rows === 0 ? "the warehouse" : slowly;
}

interface Sample {
  readonly at: number;
  readonly done: number;
}

/** Estimates the time that pieces of work still need, each from its own speed of the last minute. */
interface Pace {
  /** Milliseconds until `done` is `total`; undefined while there is no speed to tell from, or nothing left. */
  remaining(name: string, done: number, total: number, now: number): number | undefined;
}

/** Long enough to even out batches and pauses, short enough to notice a service that has become slow. */
const WINDOW_MS = 60_000;
/** Several displays may look as often as they like. */
const MARK_EVERY_MS = 1_000;
/** Less says nothing about the speed of the next hour. */
const LEAST_MS = 3_000;

export function createPace(): Pace {
  const samples = new Map<string, Sample[]>();
  return {
    remaining(name, done, total, now) {
      const seen = samples.get(name) ?? [];
      samples.set(name, seen);
      const last = seen.at(-1);
      // Work that began anew is measured afresh.
      if (last !== undefined && done < last.done) seen.length = 0;
      if (seen.length === 0 || now - seen.at(-1)!.at >= MARK_EVERY_MS) seen.push({ at: now, done });
      // One sample older than the window stays, as what the window is measured from.
      while (seen.length > 2 && now - seen[1]!.at >= WINDOW_MS) seen.shift();
      const first = seen[0]!;
      const elapsed = now - first.at;
      const left = total - done;
      if (left <= 0 || elapsed < LEAST_MS || done <= first.done) return undefined;
      return Math.round((left * elapsed) / (done - first.done));
    },
  };
}

type Line = RunReport["streams"][number];

/** Several runs that were one order, as one: it ended as the last one did, with the warnings of all, and did what all of them did. */
export function mergeReports(reports: readonly RunReport[]): RunReport {
  const last = reports.at(-1)!;
  if (reports.length === 1) return last;
  const lines = reports.flatMap(report => report.streams);
  const streams = [...Map.groupBy(lines, line => JSON.stringify([line.company, line.stream])).values()].map(merged);
  const warnings = distinct(reports.flatMap(report => report.warnings));
  const notes = distinct(reports.flatMap(report => report.notes));
  const status = statusOf(last.exit_code, warnings);
  return { ...last, status, started_at: reports[0]!.started_at, warnings, notes, streams };
}

/** A stream's lines: it ended as the last one says, and did what all of them say. */
function merged(lines: readonly Line[]): Line {
  const worked = lines.filter(line => line.status !== "skipped");
  const [first, ...later] = worked.length === 0 ? lines.slice(-1) : worked;
  return later.reduce(added, first!);
}

function added(sum: Line, line: Line): Line {
  // What a later run found staged was read by the one before it.
  const total = { ...line, started_at: sum.started_at, carried: sum.carried };
  for (const name of COUNTERS) total[name] += sum[name];
  return total;
}
