import type { Clock } from "../../clock.ts";
import { DestinationError, LockedError } from "../../errors.ts";
import type { Message } from "../../message.ts";
import { type Redactor, redactMessage } from "../../secrets.ts";
import type { Destination } from "../../warehouse/destination.ts";
import {
  endRun,
  PUBLISHING_COUNTERS,
  type StreamRun,
  streamRunsOf,
  writeStreamRun,
} from "../../warehouse/state/run_log.ts";
import { StreamProgress } from "../stream_progress.ts";
import { runMessages } from "./messages.ts";
import {
  distinct,
  exitCodeOf,
  exitCodeOfAll,
  mergeReports,
  messageFor,
  type RunReport,
  type RunSnapshot,
  type RunView,
  statusOf,
} from "./report.ts";
import { runSync } from "./run.ts";
import type { Attempt, Failure, RunOrder, RunTools } from "./run_order.ts";
import { createSharedClients, type SharedClients } from "./service.ts";

/** Seconds before each further attempt: together longer than a server needs to restart, or to fail over. */
const PAUSES_S = [1, 2, 5, 10, 20, 40];
const LONGEST_S = 40;

type Waiting = Pick<RunTools, "clock" | "log" | "signal">;

/** How an attempt ended: with a report, or with what kept it from beginning. */
interface Ended {
  readonly report?: RunReport;
  readonly thrown?: unknown;
  readonly failures: readonly Failure[];
}

/** The attempts so far: the ids they ran under, the reports of those that began, and all that went wrong. */
interface Past {
  readonly runIds: string[];
  readonly reports: RunReport[];
  readonly failures: Failure[];
}

/**
 * A run that outlives short absences of its destination: it is tried again, with growing pauses, as a new run of the streams that are not done. The report
 * covers all attempts; thrown is what kept the first from beginning. `reached`: this command has had a connection to the destination before.
 */
export async function runAttempts(order: RunOrder, tools: RunTools, reached = false): Promise<RunReport> {
  const { clock, signal } = tools;
  const { askedAt = new Date(clock.now()).toISOString(), limits } = order;
  const begun = clock.now() - (limits.spentMs ?? 0);
  const until = begun + (limits.maxTimeMs ?? Number.POSITIVE_INFINITY);
  const pauseAfter = pausesOf(order, clock, reached);
  const sharedClients = createSharedClients(order.config.api, clock);
  const watch = lasting(tools.watch);
  const said = new Set<string>();
  const past: Past = { runIds: [], reports: [], failures: [] };
  for (let nth = 0; ; nth++) {
    const next = { ...order, askedAt, limits: { ...limits, spentMs: clock.now() - begun } };
    const ended = await attempt(next, { ...tools, watch }, sharedClients, past);
    if (ended.report !== undefined) past.reports.push(ended.report);
    past.failures.push(...ended.failures);
    const errors = ended.failures.map(({ error }) => error);
    const pauseS = mayPass(errors, past) && !signal.aborted ? pauseAfter(errors) : undefined;
    if (pauseS === undefined || clock.now() + pauseS * 1_000 >= until) return told(past, ended.thrown, nth, tools);
    try {
      // What a run that began ended with is in the log.
      if (ended.report !== undefined) for (const error of errors) said.add(messageFor(error).message);
      await pause(pauseS, errors.find(isPassing) ?? ended.thrown, tools, said);
    } catch (thrown) {
      return told(past, thrown, nth, tools);
    }
  }
}

/** Short work that needs nothing but the destination: again, after the same pauses, while that may help. */
export async function reaching<T>(work: () => Promise<T>, order: Pick<RunOrder, "config">, tools: Waiting): Promise<T> {
  const pauseAfter = pausesOf(order, tools.clock, false);
  const said = new Set<string>();
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const pauseS = isPassing(error) && !tools.signal.aborted ? pauseAfter([error]) : undefined;
      if (pauseS === undefined) throw error;
      await pause(pauseS, error, tools, said);
    }
  }
}

/** Answers the seconds to wait after a failed attempt; undefined: no more. Before the first connection only for `connect_wait`, and never for an unknown host. */
function pausesOf(
  { config: { destination } }: Pick<RunOrder, "config">,
  clock: Clock,
  reached: boolean,
): (errors: readonly unknown[]) => number | undefined {
  const connectBy = clock.now() + destination.connectWaitMs;
  let connected = reached;
  let nth = 0;
  return errors => {
    const [failure] = errors;
    const unconnected = failure instanceof DestinationError ? failure.unconnected : undefined;
    if (!connected && unconnected === undefined) {
      connected = true;
      nth = 0;
    }
    const usual = PAUSES_S[nth++];
    if (connected) return usual;
    const leftS = Math.ceil((connectBy - clock.now()) / 1_000);
    return leftS <= 0 || unconnected === "unknown_host" ? undefined : Math.min(usual ?? LONGEST_S, leftS);
  };
}

/** `said` holds what has been said: of the rest only that it goes on. */
async function pause(
  seconds: number,
  error: unknown,
  { clock, log, signal }: Waiting,
  said: Set<string>,
): Promise<void> {
  const { message } = messageFor(error);
  log.warn(runMessages.trying_again({ reason: said.has(message) ? undefined : message, wait_s: seconds }));
  said.add(message);
  await clock.sleep(seconds * 1_000, signal);
}

async function attempt(order: RunOrder, tools: RunTools, sharedClients: SharedClients, past: Past): Promise<Ended> {
  const failures: Failure[] = [];
  const own: Attempt = {
    sharedClients,
    start: runId => void past.runIds.push(runId),
    async begin(destination) {
      for (const report of past.reports) await putRight(destination, report);
    },
    isDone: (company, stream) =>
      past.reports.some(({ streams }) =>
        streams.some(line => line.company === company && line.stream === stream && isDone(line)),
      ),
    end: all => void failures.push(...all),
  };
  try {
    return { report: await runSync(order, tools, own), failures };
  } catch (thrown) {
    return { thrown, failures: [{ error: thrown, message: redactMessage(messageFor(thrown), tools.redact) }] };
  }
}

const isDone = ({ status }: { readonly status: string }): boolean => status === "succeeded" || status === "warning";

const isPassing = (error: unknown): error is DestinationError => error instanceof DestinationError && error.passing;

/** A server may take a minute to notice that a session of ours is gone, and hold its locks until then. */
const isOwnGhost = (error: unknown, { runIds }: Past): error is LockedError =>
  error instanceof LockedError && error.runId !== undefined && runIds.includes(error.runId);

/** Whether everything that went wrong may pass, or be the fault of one stream alone. */
function mayPass(errors: readonly unknown[], past: Past): boolean {
  const passing = (error: unknown) => isPassing(error) || isOwnGhost(error, past);
  return errors.some(passing) && errors.every(error => passing(error) || exitCodeOf([error]) === 1);
}

/** Of a stream that an attempt had done, when the destination does not know it. */
const UNDONE = "Its end does not stand in the warehouse, which was lost meanwhile: the stream was begun again.";

/**
 * Records how an attempt ended that lost the destination. What its streams published is as the destination has it: whether a commit whose answer was
 * lost came through only it knows, and after a failover it may lack commits that were answered.
 */
async function putRight({ db }: Destination, report: RunReport): Promise<void> {
  const { run_id: runId, status, exit_code, finished_at } = report;
  const end = { status, exit_code, finished_at, warnings: JSON.stringify(report.warnings) };
  const known = await streamRunsOf(db, runId);
  await db.transaction().execute(async trx => {
    await endRun(trx, runId, { ...end, error: report.errors[0]?.message ?? null });
    for (const line of report.streams.filter(each => each.status !== "skipped")) {
      const stored = known.find(row => row.company === line.company && row.stream === line.stream);
      // A stream's last row is committed after all else that it did: where that one stands, so does the rest.
      const stands = stored !== undefined && isDone(stored);
      if (isDone(line) && !stands) Object.assign(line, { status: "failed", error: UNDONE });
      if (!isDone(line)) Object.assign(line, publishedBy(stored ?? new StreamProgress(line.started_at).run));
      const { run_id: _run, company, stream, ...row } = line;
      await writeStreamRun(trx, runId, company, stream, row);
    }
  });
}

/** Of a stream's row what is written by the transactions that publish. */
function publishedBy(row: Omit<StreamRun, "status" | "started_at" | "finished_at">): Partial<StreamRun> {
  const { missing, service_rows, table_rows, difference, difference_reason } = row;
  const counted = Object.fromEntries(PUBLISHING_COUNTERS.map(name => [name, row[name]]));
  return { ...counted, missing, service_rows, table_rows, difference, difference_reason };
}

/** The whole story. What kept the first attempt from beginning is thrown; of a later one it is told. */
function told(past: Past, ending: unknown, times: number, { clock, log, redact }: RunTools): RunReport {
  const { reports } = past;
  const thrown = isOwnGhost(ending, past) ? outlived(ending) : ending;
  if (reports.length === 0) throw thrown;
  const merged = mergeReports(reports);
  const last = thrown === undefined ? undefined : redactMessage(messageFor(thrown), redact);
  // That the destination stays away is no other failure than that it was lost.
  const still = isPassing(thrown);
  const note = runMessages.begun_again({ times, reason: still ? last?.message : undefined });
  const notes = times === 0 ? merged.notes : [...merged.notes, note];
  if (last === undefined || still) return { ...merged, notes };
  log.warn(last);
  const own = ownFailures(merged, past, redact);
  // Who finds the streams in another's hands has the warehouse back: nothing is wrong any more.
  const held = thrown instanceof LockedError && own.length === 0;
  const exitCode = held ? thrown.exitCode : exitCodeOfAll([merged.exit_code, exitCodeOf([thrown])]);
  return {
    ...merged,
    notes,
    exit_code: exitCode,
    status: statusOf(exitCode, merged.warnings),
    finished_at: new Date(clock.now()).toISOString(),
    errors: held ? [last] : distinct([...own, ...merged.errors, last]),
  };
}

/** Locks that an attempt left behind and nobody took away: the destination has not come back. */
const outlived = (ghost: LockedError): DestinationError =>
  new DestinationError(runMessages.locks_kept({ reason: ghost.message }), ghost, true);

/** What the reports say of the streams that are not done, though the destination was there for them. */
function ownFailures({ streams }: RunReport, { failures }: Past, redact: Redactor): Message[] {
  const left = new Set(streams.filter(line => !isDone(line)).map(line => line.error));
  const own = failures.filter(({ error }) => exitCodeOf([error]) === 1 && left.has(redact(messageFor(error).message)));
  return own.map(({ message }) => message);
}

/** Tells the display once; what later attempts do is seen in the same view, beside what has been done. */
function lasting(watch: RunTools["watch"]): RunTools["watch"] {
  let current: RunView | undefined;
  const done = new Map<string, RunSnapshot["streams"][number]>();
  return view => {
    const before = current;
    current = view;
    for (const line of before?.snapshot().streams ?? []) if (line.state === "done") done.set(line.stream, line);
    if (before !== undefined) return;
    watch({
      snapshot() {
        const now = (current ?? view).snapshot();
        const names = new Set(now.streams.map(line => line.stream));
        return { ...now, streams: [...[...done.values()].filter(line => !names.has(line.stream)), ...now.streams] };
      },
    });
  };
}
