import { counted } from "../../counted.ts";
import { roughly } from "../../duration.ts";
import type { FleetStatus } from "../../fleet/view.ts";
import type { Message } from "../../message.ts";
import type { RunStatus, Status, StreamStatus } from "../../operations/status.ts";
import { changesOf, type History, type PastRun, type PastStreamRun } from "../../warehouse/read/run_history.ts";
import { isLate } from "../../warehouse/state/freshness.ts";
import { storedMessages } from "../../warehouse/state/run_log.ts";
import type { Daemon, LiveRun } from "../schedule/events.ts";
import type { PageSource } from "./source.ts";
import { parted } from "./wording.ts";

export interface View {
  readonly now: number;
  readonly lateAfterMs: number;
  readonly groups: PageSource["groups"];
  /** As it was when it could last be read; undefined when it never could. */
  readonly status: Status | undefined;
  /** Why the warehouse cannot be read, as a failure says it. */
  readonly unreadable: string | undefined;
  readonly history: History | undefined;
  readonly live: LiveRun | undefined;
  /** Undefined: the page is served without a daemon. */
  readonly nextRuns: ReturnType<Daemon["nextRuns"]> | undefined;
  readonly last: ReturnType<Daemon["last"]>;
  readonly refusal: ReturnType<Daemon["refusal"]>;
}

/** How good something is; also its CSS class. */
export type Tone = "good" | "warn" | "bad" | "idle";

export function outcome(status: string): { readonly word: string; readonly tone: Tone } {
  return outcomes[status] ?? { word: status, tone: "idle" };
}

const outcomes: Readonly<Record<string, { readonly word: string; readonly tone: Tone }>> = {
  succeeded: { word: "succeeded", tone: "good" },
  warning: { word: "with warnings", tone: "warn" },
  incomplete: { word: "incomplete", tone: "bad" },
  stopped: { word: "stopped", tone: "warn" },
  failed: { word: "failed", tone: "bad" },
  running: { word: "running", tone: "idle" },
  skipped: { word: "skipped", tone: "idle" },
  never: { word: "not loaded yet", tone: "idle" },
};

/** Whether a stream's last run failed; `incomplete`, for answers that made no sense, counts as failed. */
export const hasFailed = ({ status }: Pick<StreamStatus, "status">): boolean => outcome(status).tone === "bad";

export interface Concern {
  readonly tone: "warn" | "bad";
  readonly what: string;
  /** Undefined where `what` says it all. */
  readonly advice: string | undefined;
  readonly streams: readonly StreamRef[];
  /** ISO 8601: when it was seen. */
  readonly at: string | undefined;
  /** What it sums up, in full. */
  readonly parts?: readonly string[];
}

export type StreamRef = Pick<StreamStatus, "company" | "stream">;

/** The page of a stream, without the server's address. */
export const pathOf = ({ company, stream }: StreamRef): string =>
  `/streams/${encodeURIComponent(company)}/${encodeURIComponent(stream)}`;

const refOf = ({ company, stream }: StreamRef): StreamRef => ({ company, stream });

/** With more warnings than this, a run's warnings are shown as one entry. */
const WARNINGS = 3;

/** What is wrong at this moment, the worst first, each thing once. */
export function concerns(view: View): readonly Concern[] {
  const { status, unreadable, live, refusal } = view;
  const found: Concern[] = [];
  if (live?.overdueSince !== undefined)
    found.push({
      ...{ tone: "bad", streams: [], at: live.overdueSince },
      what: `The run ${live.schedule} goes on long after its max_time.`,
      advice:
        "No other run starts before it ends. Restart the daemon: nothing is lost, and the next run goes on from there.",
    });
  if (refusal !== undefined)
    found.push({
      ...{ tone: "bad", streams: [], at: refusal.at, advice: refusal.error.message },
      what: "The configuration has changed and is not in use: runs go on with the one before.",
    });
  if (unreadable !== undefined) found.push(failure(unreadable, [], undefined));
  found.push(...fleetConcerns(status?.workers ?? undefined));
  const on = status?.streams.filter(stream => stream.on) ?? [];
  const name = namer(status?.streams ?? []);
  const failing = Map.groupBy(
    on.filter(stream => stream.error !== null),
    stream => stream.error ?? "",
  );
  const failures = [...failing].map(([error, streams]): Concern => {
    const at = streams.map(stream => lastRunOf(view, stream)?.started_at).find(each => each !== undefined);
    return { ...failure(error, streams.map(refOf), at), tone: streams.some(hasFailed) ? "bad" : "warn" };
  });
  const ended = lastEnd(view);
  const why = ended?.error ?? undefined;
  const isSaid = why === undefined || failing.has(why) || [...failures, ...found].some(same(why));
  const own = isSaid ? [] : [{ ...failure(why, [], ended?.at), tone: ended?.tone ?? "bad" }];
  // What kept a run from beginning is newer than the errors of the streams.
  found.push(...(ended?.runId === undefined ? [...own, ...byRemedy(failures)] : [...byRemedy(failures), ...own]));
  const before = ended === undefined ? [] : warnedBefore(view, ended.runId);
  const [repeated = [], fresh = []] = [true, false].map(wanted =>
    (ended?.warnings ?? []).flatMap(({ message }) => (before.includes(message) === wanted ? [message] : [])),
  );
  if (fresh.length <= WARNINGS)
    for (const warning of fresh) found.push({ tone: "warn", ...parted(warning), streams: [], at: ended?.at });
  else
    found.push({
      ...{ tone: "warn", streams: [], at: ended?.at, advice: undefined, parts: fresh },
      what: `The last run ended with ${fresh.length} warnings.`,
    });
  if (repeated.length > 0)
    found.push({
      ...{ tone: "warn", streams: [], at: ended?.at, advice: "`tributary status` shows them in full." },
      what: `${counted(repeated.length, "warning")} as in the run before.`,
    });
  // The run's own warnings say what was wrong with the streams that it warned of.
  const warned = new Set(ended?.streams.filter(({ status: each }) => each === "warning").map(name));
  const others = on.filter(stream => !warned.has(name(stream)));
  const late = on.filter(stream => isLate(stream, view.lateAfterMs, view.now) && stream.error === null);
  const lateData = late.length === 1 ? "A stream's data is" : `The data of ${late.length} streams is`;
  const about = (streams: readonly StreamStatus[], what: string, advice: string): void => {
    if (streams.length > 0) found.push({ tone: "warn", what, advice, streams: streams.map(refOf), at: undefined });
  };
  about(
    others.filter(stream => stream.rejects > 0),
    "Some rows could not be stored.",
    "`tributary rejects` shows them with the reason.",
  );
  about(
    others.filter(stream => stream.problems > 0),
    "Some values did not fit their column and were left empty.",
    "`tributary rejects --problems` says which, and why.",
  );
  about(
    late,
    `${lateData} older than ${roughly(view.lateAfterMs)}.`,
    "See below whether its last runs reached their end; `tributary sync` brings it up to date now.",
  );
  return found.toSorted((a, b) => Number(b.tone === "bad") - Number(a.tone === "bad"));
}

function fleetConcerns(fleet: FleetStatus | undefined): Concern[] {
  if (fleet === undefined) return [];
  const about = { streams: [], at: undefined };
  if (fleet.note !== null)
    return [{ ...about, tone: "warn", what: "What the workers do can't be looked at.", advice: fleet.note }];
  const up = fleet.workers.filter(worker => worker.up);
  const waiting = fleet.queue.runs.length;
  const alone: Concern = {
    ...{ ...about, tone: "bad", advice: "Start some with `tributary work`: what was read is stored, and they go on." },
    what: `No worker is up, and ${waiting === 1 ? "a run waits" : `${waiting} runs wait`} for one.`,
  };
  const refusing = Map.groupBy(
    up.filter(({ refusal }) => refusal !== null),
    ({ refusal }) => refusal,
  );
  return [
    ...(up.length === 0 && waiting > 0 ? [alone] : []),
    ...[...refusing].map(([refusal, workers]): Concern => {
      const ids = workers.map(({ id }) => id).join(", ");
      const what = workers.length === 1 ? `The worker ${ids} takes no jobs.` : `The workers ${ids} take no jobs.`;
      return { ...about, tone: "warn", what, advice: refusal ?? undefined };
    }),
  ];
}

interface RunEnd extends Pick<Concern, "tone" | "at"> {
  /** Undefined for one that could not begin. */
  readonly runId?: string;
  readonly error: string | null;
  readonly warnings: readonly Message[];
  readonly streams: readonly { readonly company: string; readonly stream: string; readonly status: string }[];
}

/** The last run that ended, by the daemon or the warehouse: runs that could not begin are known to the daemon alone. */
function lastEnd({ last, status, history }: View): RunEnd | undefined {
  const stored = status?.last_run ?? undefined;
  if (last !== undefined && (stored === undefined || Date.parse(endOf(stored)) <= Date.parse(last.finishedAt))) {
    const tone = last.outcome.exit_code === 4 || last.outcome.exit_code === 5 ? "warn" : "bad";
    if ("error" in last.outcome)
      return { tone, at: last.finishedAt, error: last.outcome.error.message, warnings: [], streams: [] };
    const { run_id: runId, errors, warnings, streams } = last.outcome;
    return { tone, at: last.finishedAt, runId, error: errors[0]?.message ?? null, warnings, streams };
  }
  if (stored === undefined) return undefined;
  const { run_id: runId, error } = stored;
  const tone = stored.status === "failed" ? "bad" : "warn";
  const streams = history?.runs.find(run => run.run_id === runId)?.streams ?? [];
  return { tone, at: endOf(stored), runId, error, warnings: storedMessages(stored.warnings), streams };
}

/** What the run before it of the same command warned of. */
function warnedBefore({ history }: View, runId: string | undefined): readonly string[] {
  const runs = history?.runs ?? [];
  const at = runs.findIndex(run => run.run_id === runId);
  if (at < 0) return [];
  const { command } = runs[at]!;
  const before = runs.slice(at + 1).find(run => run.command === command && run.status !== "running");
  return before?.warnings.map(({ message }) => message) ?? [];
}

const endOf = (run: RunStatus): string => run.finished_at ?? run.started_at;

/** For failures without advice of their own. */
const NO_ADVICE = "What was stored stays, and the next run tries again.";

function failure(message: string, streams: readonly StreamRef[], at: string | undefined): Concern {
  const { what, advice = NO_ADVICE } = parted(message);
  return { tone: "bad", what, advice, streams, at };
}

/** Merges failures with the same advice into the first of them, with the streams of all. */
function byRemedy(failures: readonly Concern[]): Concern[] {
  return [
    ...Map.groupBy(failures, ({ tone, what, advice }) =>
      JSON.stringify([tone, advice === NO_ADVICE ? what : advice]),
    ).values(),
  ].map(alike => {
    const [first, ...others] = alike as [Concern, ...Concern[]];
    const more = others.length === 1 ? "Another failure has" : `${others.length} more failures have`;
    const what = others.length === 0 ? first.what : `${first.what} ${more} the same remedy.`;
    return { ...first, what, streams: alike.flatMap(({ streams }) => streams) };
  });
}

const same = (message: string) => (known: Concern) => known.what === parted(message).what;

/** A stream's own last runs, oldest first. */
export const runsOf = ({ history }: View, { company, stream }: StreamRef): readonly PastStreamRun[] =>
  history?.streams.find(past => past.company === company && past.stream === stream)?.runs ?? [];

export const lastRunOf = (view: View, stream: StreamRef) => runsOf(view, stream).at(-1);

/** How long it took, or goes on already, in ms. */
export const tookOf = (run: Pick<PastRun, "started_at" | "finished_at">, now: number): number =>
  Math.max(0, (run.finished_at === null ? now : Date.parse(run.finished_at)) - Date.parse(run.started_at));

/** Names streams, with their company where there are several. */
export function namer(streams: readonly Pick<StreamStatus, "company">[]) {
  const several = new Set(streams.map(({ company }) => company)).size > 1;
  return ({ company, stream }: StreamRef): string => (several ? `${company}/${stream}` : stream);
}

/** What a stream can be looked for by. */
export type Trait = "failing" | "late" | "changed";

export function traitsOf(view: View, stream: StreamStatus): readonly Trait[] {
  const run = lastRunOf(view, stream);
  const is: Readonly<Record<Trait, boolean>> = {
    failing: stream.on && hasFailed(stream),
    late: stream.on && isLate(stream, view.lateAfterMs, view.now),
    changed: run !== undefined && changesOf(run) > 0,
  };
  return (Object.keys(is) as Trait[]).filter(trait => is[trait]);
}

/** The page's answer to "is everything all right?", in a sentence. */
export function verdict(view: View): { readonly tone: Tone; readonly sentence: string } {
  const { status, now, lateAfterMs } = view;
  if (view.live?.overdueSince !== undefined) return { tone: "bad", sentence: "A run goes on long after its max_time" };
  if (status === undefined) return { tone: "bad", sentence: "The warehouse cannot be read" };
  const on = status.streams.filter(stream => stream.on);
  const failed = on.filter(hasFailed).length;
  const late = on.filter(stream => isLate(stream, lateAfterMs, now)).length;
  const all = on.length === 1 ? "The one stream is" : `All ${on.length} streams are`;
  if (view.unreadable !== undefined) return { tone: "bad", sentence: "The warehouse cannot be read any more" };
  if (failed > 0)
    return { tone: "bad", sentence: `${failed} of ${on.length} streams failed${late > 0 ? `, ${late} late` : ""}` };
  if (lastEnd(view)?.tone === "bad" && lastEnd(view)?.error != null)
    return { tone: "bad", sentence: "The last run failed" };
  if (!status.warehouse.loaded) return { tone: "idle", sentence: "Nothing has been loaded yet" };
  if (late > 0) return { tone: "warn", sentence: `${late} of ${on.length} streams ${late === 1 ? "is" : "are"} late` };
  const missing = on.filter(stream => stream.complete_to === null).length;
  if (missing > 0) return { tone: "idle", sentence: `${missing} of ${on.length} streams not complete yet` };
  return { tone: "good", sentence: `${all} up to date` };
}
