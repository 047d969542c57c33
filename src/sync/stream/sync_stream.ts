import { isDeepStrictEqual } from "node:util";
import { lookupOf } from "../../catalog/lookup.ts";
import type { Stream } from "../../catalog/stream.ts";
import { ApiError, StoppedError, TributaryError } from "../../errors.ts";
import { insertStreamRun, writeStreamRun } from "../../warehouse/state/run_log.ts";
import { isComplete, liveRows } from "../../warehouse/state/table_counts.ts";
import type { StreamSync, SyncContext } from "../context.ts";
import { problemsMessages, rejectsMessages, rowsMessages } from "../load/messages.ts";
import { unproven } from "../load/row_count_proof.ts";
import type { StreamProgress } from "../stream_progress.ts";
import { syncDetails } from "./details.ts";
import { syncFeed } from "./feed.ts";
import { syncListing } from "./listing.ts";
import { streamMessages, UNAVAILABLE } from "./messages.ts";
import { syncSnapshot } from "./snapshot.ts";

/** Works on one stream: reads, stores, publishes. */
export type StreamWork = (sync: StreamSync) => Promise<void>;

/** One stream, one run. What it did is in the progress; what ended it is thrown. */
export async function syncStream(sync: StreamSync, work: StreamWork = syncByMode): Promise<void> {
  const { context, stream, progress } = sync;
  const { destination, runId, company, clock } = context;
  const { run, activity } = progress;
  // A replay takes its turns at a stream in one run: the row may be there.
  const note = (write = writeStreamRun) => write(destination.db, runId, company, stream.name, run);
  await note(progress.isNew === true ? insertStreamRun : writeStreamRun);
  progress.isNew = false;
  try {
    await work(sync);
    noteLeftOut(stream, progress);
    Object.assign(run, progress.end(clock.now()));
    activity.state = "done";
  } catch (thrown) {
    const isRefused = isUnavailable(thrown) && run.pages === 0 && !context.streams.named.has(stream.name);
    const wasRead = isRefused && (await wasReadBefore(sync));
    if (isRefused && !wasRead) return noteUnavailable(sync, thrown);
    const lost = { stream: stream.name, reason: isRefused ? thrown.message : "" };
    const error = wasRead ? new TributaryError(streamMessages.no_longer_available(lost), 1, thrown) : thrown;
    run.status = progress.isPartial ? "incomplete" : statusOf(error);
    run.error = context.encoding.redact(error instanceof Error ? error.message : String(error));
    progress.endBy(error);
    throw error;
  } finally {
    run.finished_at = new Date(clock.now()).toISOString();
    if (run.difference_reason === null) Object.assign(run, unproven(await rowsLeft(context, stream)));
    const { ended } = progress;
    if (ended !== undefined && isDeepStrictEqual(ended, { ...run, finished_at: ended.finished_at }))
      run.finished_at = ended.finished_at;
    // When the destination is gone there is nowhere to write this: the error on its way says so.
    else await note().catch(() => undefined);
  }
}

/** Rows that earlier runs left in the table; null where that cannot be told. */
async function rowsLeft({ destination, company }: SyncContext, { tables }: Stream): Promise<number | null> {
  return liveRows(destination.db, company, tables.main.name).catch(() => null);
}

/** Whether an earlier run read what is refused now. A 403 of a lookup may be about one value. */
async function wasReadBefore({ context, stream }: StreamSync): Promise<boolean> {
  if (lookupOf(stream) !== undefined) return false;
  if (stream.mode.kind === "detail") return ((await rowsLeft(context, stream)) ?? 0) > 0;
  return isComplete(context.destination.db, context.company, stream.name);
}

/** A 403: the plan or the key lacks it. Asked for by name that is a failure, as a part of all that is on it is not. */
function isUnavailable(error: unknown): error is ApiError {
  return error instanceof ApiError && error.failure === "forbidden";
}

/** The tables keep what they have. Not `skipped`: such lines are left out of status and history, where this has to stand. */
function noteUnavailable({ context, progress }: StreamSync, error: ApiError): void {
  const { run, activity } = progress;
  run.status = "warning";
  progress.isForbidden = true;
  run.error = context.encoding.redact(`${UNAVAILABLE}: ${error.message}`);
  activity.state = "done";
  progress.published = false;
  progress.warnings.push(streamMessages.not_available());
}

function noteLeftOut({ name }: Stream, { run, warnings, notes }: StreamProgress): void {
  if (run.before_start > 0) notes.push(rowsMessages.before_start({ stream: name, rows: run.before_start }));
  if (run.rejected > 0) warnings.push(rejectsMessages.not_stored({ stream: name, rows: run.rejected }));
  if (run.problems > 0) warnings.push(problemsMessages.not_read({ stream: name, values: run.problems }));
}

export function syncByMode(sync: StreamSync): Promise<void> {
  const { stream } = sync;
  const { mode } = stream;
  switch (mode.kind) {
    case "scan":
      return syncListing({ ...sync, mode });
    case "feed":
      return syncFeed({ ...sync, mode });
    case "snapshot":
      return syncSnapshot({ ...sync, mode });
    case "detail":
      return syncDetails({ ...sync, mode });
  }
}

function statusOf(error: unknown): "stopped" | "incomplete" | "failed" {
  if (error instanceof StoppedError) return "stopped";
  if (error instanceof ApiError && error.exitCode === 5) return "stopped";
  return error instanceof ApiError && error.failure === "malformed" ? "incomplete" : "failed";
}
