import { expand } from "../../config/selection.ts";
import { TributaryError } from "../../errors.ts";
import { textsOf } from "../../message.ts";
import type { SyncContext } from "../../sync/context.ts";
import { type CompanyRun, runCompany } from "../../sync/run/jobs.ts";
import { type Job, messageFor } from "../../sync/run/report.ts";
import type { Service } from "../../sync/run/service.ts";
import type { StreamWork } from "../../sync/stream/sync_stream.ts";
import { StreamProgress } from "../../sync/stream_progress.ts";
import { COUNTERS, writeStreamRun } from "../../warehouse/state/run_log.ts";
import { byBegin } from "./archive_contents.ts";
import { loadPiece } from "./loading.ts";
import { replayMessages } from "./messages.ts";
import { type Piece, planReplay, type ReplayPlan } from "./plan.ts";
import type { Span } from "./scan_choice.ts";

type Round = ReadonlyMap<string, Piece>;

/**
 * Loads a company's streams from the archive at `root`: first what the tables know, in one publish a list; then, run by run, what they don't; last the
 * details of rows that were there all along.
 */
export async function replayCompany(
  context: SyncContext,
  service: Service,
  run: CompanyRun,
  { root, span }: { readonly root: string; readonly span: Span },
): Promise<void> {
  if (service.failure !== undefined) return runCompany(context, service, run);
  const plans = new Map<string, ReplayPlan>();
  for (const { stream } of run.jobs) plans.set(stream.name, await planReplay(context, stream, root, span));
  reportNothing(context, run, plans);
  const rounds = roundsOf([...plans.values()]);
  const left = new Map(run.jobs.map(({ stream }) => [stream, rounds.filter(round => round.has(stream.name)).length]));
  const work: StreamWork = sync => {
    const { name } = sync.stream;
    return loadPiece(sync, current.get(name)!, plans.get(name)!.completeTo, span);
  };
  let current: Round = new Map();
  for (const round of rounds) {
    if (context.signal.aborted) break;
    current = round;
    const jobs = run.jobs.filter(({ stream }) => round.has(stream.name));
    const errors: unknown[] = [];
    const turns = jobs.map(job => ({ ...job, progress: turnOf(job.progress) }));
    await runCompany(context, service, { ...run, jobs: turns, errors, work, listed: async () => undefined });
    for (const [index, job] of jobs.entries()) {
      const rest = left.get(job.stream)! - 1;
      left.set(job.stream, rest);
      add(job.progress, turns[index]!.progress);
    }
    // What failed in one round and went well in a later one is as it was when it was first read: told in the log.
    const final = (error: unknown): boolean => {
      const text = context.encoding.redact(messageFor(error).message);
      const struck = jobs.filter((_, index) => turns[index]!.progress.run.error === text);
      return struck.length === 0 || struck.some(({ stream }) => left.get(stream) === 0);
    };
    run.errors.push(...errors.filter(final));
  }
  for (const { stream, progress } of run.jobs) {
    await conclude(context, stream.name, progress, left.get(stream)!);
  }
}

function reportNothing(context: SyncContext, run: CompanyRun, plans: ReadonlyMap<string, ReplayPlan>): void {
  const without: Job[] = [];
  const asked = expand(context.streams.catalogue, [...context.streams.named], "stream");
  for (const job of run.jobs) {
    const { stream, progress } = job;
    const { known, later, refused } = plans.get(stream.name)!;
    if (known !== undefined || later.size > 0) continue;
    progress.activity.state = "done";
    if (context.streams.named.has(stream.name)) {
      const error = new TributaryError(refused ?? replayMessages.nothing_archived({ stream: stream.name }), 1);
      progress.run.status = "failed";
      progress.run.error = error.message;
      progress.run.finished_at = new Date(context.clock.now()).toISOString();
      run.errors.push(error);
    } else if (refused !== undefined) {
      progress.run.status = "warning";
      progress.run.finished_at = new Date(context.clock.now()).toISOString();
      progress.warnings.push(refused);
    } else {
      progress.run.status = "skipped";
      // Details that come with their list need not be in the archive.
      if (asked.size === 0 || asked.has(stream.name)) without.push(job);
    }
  }
  const unarchived = without.map(({ stream }) => stream.name);
  without[0]?.progress.warnings.push(replayMessages.streams_not_archived({ unarchived }));
}

function roundsOf(plans: readonly ReplayPlan[]): readonly Round[] {
  const isDetail = ({ stream }: ReplayPlan): boolean => stream.mode.kind === "detail";
  const known = (some: readonly ReplayPlan[]): Round =>
    new Map(some.flatMap(({ stream, known: piece }) => (piece === undefined ? [] : [[stream.name, piece] as const])));
  const begun = new Map(plans.flatMap(plan => [...plan.begun]));
  const runs = [...begun].sort(([, a], [, b]) => byBegin(a, b)).map(([run]) => run);
  const nights = runs.map<Round>(
    night =>
      new Map(
        plans.flatMap(({ stream, later }) => {
          const piece = later.get(night);
          return piece === undefined ? [] : [[stream.name, piece] as const];
        }),
      ),
  );
  const rounds = [known(plans.filter(plan => !isDetail(plan))), ...nights, known(plans.filter(isDetail))];
  return rounds.filter(round => round.size > 0);
}

/** A count of its own, shown where the stream's is. */
function turnOf(progress: StreamProgress): StreamProgress {
  return Object.assign(new StreamProgress(progress.run.started_at), { activity: progress.activity });
}

function add(progress: StreamProgress, turn: StreamProgress): void {
  const { run } = progress;
  const before = { ...run };
  Object.assign(run, turn.run);
  for (const name of [...COUNTERS, "carried"] as const) run[name] = before[name] + turn.run[name];
  run.started_at = before.pages > 0 ? before.started_at : turn.run.started_at;
  progress.published ||= turn.published;
  // Each turn tells the same of what hasn't changed.
  for (const kind of ["warnings", "notes"] as const) {
    const known = new Set(textsOf(progress[kind]));
    progress[kind].push(...turn[kind].filter(({ message }) => !known.has(message)));
  }
  if (run.status === "succeeded" && progress.warnings.length > 0) run.status = "warning";
}

async function conclude(
  { destination, runId, company, signal }: SyncContext,
  stream: string,
  { run, activity }: StreamProgress,
  left: number,
): Promise<void> {
  if (left > 0 && signal.aborted && run.status !== "failed") {
    run.status = run.pages > 0 ? "stopped" : "skipped";
    run.error = "the run was ending";
    activity.state = "stopped";
  }
  if (run.status === "running") run.status = "skipped";
  if (run.finished_at === null) return;
  const note = destination.db.transaction().execute(trx => writeStreamRun(trx, runId, company, stream, run));
  // When the destination is gone there is nowhere to write this: the error on its way says so.
  await note.catch(() => undefined);
}
