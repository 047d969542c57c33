import { type Absent, stagedAbsent } from "../destinations/outcomes.ts";
import { loadStreamState } from "../destinations/run_log.ts";
import { liveRows } from "../destinations/standing.ts";
import { openWorkList, type WorkList, type WorkRequest } from "../destinations/work_list.ts";
import { ApiError, StoppedError, TributaryError } from "../errors.ts";
import { type DetailsResult, readDetails } from "../extract/details.ts";
import type { Tally } from "../extract/tally.ts";
import type { ScanRecord, StreamState } from "../state.ts";
import { type Detail, fixedPaths, pathParameters, type Stream } from "../stream.ts";
import type { SyncContext } from "./context.ts";
import { type Extraction, openExtraction, startAfresh } from "./extraction.ts";
import { parentOf, publishStage } from "./publication.ts";

/** More failures than this share of the requests make the stream a failure. */
const TOLERATED = 0.05;

/** Fetches the details that are due and publishes them, early ones while the rest is still being fetched. */
export async function syncDetails(context: SyncContext, stream: Stream, mode: Detail, tally: Tally): Promise<void> {
  const { clock, destination, policy } = context;
  const state = await loadStreamState(destination.db, context.company, stream.name);
  const extraction = await openExtraction(context, stream, state, { query: stream.query ?? {}, full: false }, tally);
  const columns = parameterColumns(stream, mode);
  const work = await openWorkList(destination, {
    ...workRequest(context, stream, mode),
    stage: extraction.stage,
  });
  try {
    tally.activity.state = "reading";
    tally.activity.total = tally.activity.rows + work.total;
    if (work.total > 0)
      context.log.info({ stream: stream.name, details: work.total, ...work.reasons }, "fetching details");
    let published = clock.now();
    const shelf: Shelf = { context, stream, extraction, state, tally };
    const result = await fetchAll(context, stream, columns, work, extraction, tally, async record => {
      if (clock.now() - published < policy.publishEveryMs) return record;
      await extraction.batches.flush();
      // Whether 404s can be believed is known at the end, when all of them are: until then none is published.
      const absent = await stagedAbsent(destination, extraction.stage);
      await publishDetails(shelf, record, "kept back");
      published = clock.now();
      const fresh = await startAfresh(context, extraction.stage, record.fingerprint, false);
      for (const outcome of absent) extraction.encoder.outcome(outcome);
      return fresh;
    });
    if (result.error !== undefined && !mayPublish(result.error)) throw result.error;
    const absent = (await stagedAbsent(destination, extraction.stage)).length;
    // One order that is gone answers 404; hundreds at once are a service that lost its way.
    const doubted =
      absent > policy.deletes.minRows &&
      absent > policy.deletes.maxShare * (await liveRows(destination, context.company, stream));
    await publishDetails(shelf, result.record, doubted ? "doubted" : "believed");
    if (result.error !== undefined) throw result.error;
    judge(stream, result.counts, doubted);
  } finally {
    await work.close();
  }
}

interface Shelf {
  readonly context: SyncContext;
  readonly stream: Stream;
  readonly extraction: Extraction;
  readonly state: StreamState;
  readonly tally: Tally;
}

/** Each parent's detail is whole: after a plan limit or an outage what was fetched is worth showing. A signal wants the end. */
export function mayPublish(error: unknown): boolean {
  return error instanceof ApiError || (error instanceof StoppedError && error.exitCode === 5);
}

async function fetchAll(
  context: SyncContext,
  stream: Stream,
  columns: Readonly<Record<string, string>>,
  work: WorkList,
  extraction: Extraction,
  tally: Tally,
  between: (record: ScanRecord) => Promise<ScanRecord>,
): Promise<{ record: ScanRecord; counts: DetailsResult | undefined; error: unknown }> {
  const { api, limiter, clock, signal, catalogue } = context;
  const { encoder, batches, record, stage } = extraction;
  try {
    const siblings = fixedPaths(catalogue);
    const job = {
      api,
      limiter,
      stream,
      columns,
      siblings,
      work,
      encoder,
      batches,
      record,
      clock,
      signal,
      tally,
      between,
    };
    const counts = await readDetails(job);
    return { record: counts.record, counts, error: undefined };
  } catch (error) {
    return { record: stage.record as ScanRecord, counts: undefined, error };
  }
}

async function publishDetails(shelf: Shelf, record: ScanRecord, absent: Absent): Promise<void> {
  const { context, stream, extraction, state, tally } = shelf;
  await publishStage(context, {
    stream,
    stage: extraction.stage,
    record: { ...record, phase: "read" },
    tally,
    withMissing: false,
    decide: async () => undefined,
    absent,
    state: await currentState(shelf, state),
    completeTo: new Date(context.clock.now()).toISOString(),
  });
}

/** An early publish of this run has moved the state on. */
async function currentState({ context, stream }: Shelf, state: StreamState): Promise<StreamState> {
  const now = await loadStreamState(context.destination.db, context.company, stream.name);
  return { ...state, lastMoment: now.lastMoment };
}

function judge(stream: Stream, counts: DetailsResult | undefined, doubted: boolean): void {
  if (counts === undefined) return;
  const { ok, absent, failed, firstFailure } = counts;
  const all = ok + absent + failed;
  if (doubted) {
    throw new TributaryError(
      `${stream.name}: ${absent} of ${all} details answered 404, too many to be believed: nothing was marked deleted, they are asked again later.`,
      1,
    );
  }
  if (failed === 0 || failed <= TOLERATED * all) return;
  throw new TributaryError(
    `${stream.name}: ${failed} of ${all} details could not be fetched; they are tried again with growing pauses. The first: ${firstFailure}`,
    1,
  );
}

/** The parent's column that fills each parameter of the path. */
export function parameterColumns(stream: Stream, mode: Detail): Record<string, string> {
  return Object.fromEntries(pathParameters(stream.path).map(name => [name, mode.param?.[name] ?? name]));
}

/** What decides which details are due, but for what a run under way has asked for. */
export function workRequest(
  context: Pick<SyncContext, "company" | "catalogue" | "clock" | "policyOf"> & {
    readonly policy: Pick<SyncContext["policy"], "start" | "to" | "allDetails">;
  },
  stream: Stream,
  mode: Detail,
): Omit<WorkRequest, "stage"> {
  const parent = context.catalogue.find(other => other.name === mode.of);
  if (parent === undefined) throw new TypeError(`${stream.name}: its parent ${mode.of} is not in the catalogue`);
  const policy = context.policyOf(stream.name);
  return {
    company: context.company,
    stream: stream.name,
    parent: parentOf(stream, parent),
    columns: Object.values(parameterColumns(stream, mode)),
    open: mode.open,
    newest: mode.newest,
    start: context.policy.start,
    to: context.policy.to,
    audit: policy.audit,
    refresh: policy.refresh,
    force: context.policy.allDetails,
    limit: policy.maxDetails,
    now: new Date(context.clock.now()).toISOString(),
  };
}
