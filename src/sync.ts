import { writeStreamRun } from "./destinations/run_log.ts";
import { ApiError, StoppedError } from "./errors.ts";
import type { Tally } from "./extract/tally.ts";
import type { Stream } from "./stream.ts";
import type { SyncContext } from "./sync/context.ts";
import { syncDetails } from "./sync/details.ts";
import { syncListing } from "./sync/listing.ts";
import { syncSnapshot } from "./sync/snapshot.ts";

/** Works on one stream: reads, stores, publishes. */
export type Work = (context: SyncContext, stream: Stream, tally: Tally) => Promise<void>;

/** One stream, one run. What it did is in the tally; what ended it is thrown. */
export async function syncStream(
  context: SyncContext,
  stream: Stream,
  tally: Tally,
  work: Work = syncByMode,
): Promise<void> {
  const { destination, runId, company, clock } = context;
  const { run, activity } = tally;
  // One transaction each: a kill between taking the row away and writing it anew would lose what was published.
  const note = () => destination.db.transaction().execute(trx => writeStreamRun(trx, runId, company, stream.name, run));
  await note();
  try {
    await work(context, stream, tally);
    noteUnusable(stream, tally);
    run.status = tally.warnings.length > 0 ? "warning" : "succeeded";
    activity.state = "done";
  } catch (error) {
    run.status = statusOf(error);
    run.error = context.redact(error instanceof Error ? error.message : String(error));
    activity.state = "failed";
    throw error;
  } finally {
    run.finished_at = new Date(clock.now()).toISOString();
    // When the destination is gone there is nowhere to write this: the error on its way says so.
    await note().catch(() => undefined);
  }
}

function noteUnusable(stream: Stream, { run, warnings }: Tally): void {
  const { name } = stream;
  if (run.rejected > 0)
    warnings.push(`${name}: ${run.rejected} rows could not be stored; \`tributary rejects ${name}\` shows them.`);
  if (run.problems > 0)
    warnings.push(
      `${name}: ${run.problems} values could not be read; \`tributary rejects ${name} --problems\` shows them.`,
    );
}

function syncByMode(context: SyncContext, stream: Stream, tally: Tally): Promise<void> {
  const { mode } = stream;
  switch (mode.kind) {
    case "scan":
    case "feed":
      return syncListing(context, stream, mode, tally);
    case "snapshot":
      return syncSnapshot(context, stream, mode, tally);
    case "detail":
      return syncDetails(context, stream, mode, tally);
  }
}

function statusOf(error: unknown): "stopped" | "incomplete" | "failed" {
  if (error instanceof StoppedError) return "stopped";
  if (error instanceof ApiError && (error.failure === "limited" || error.failure === "budget")) return "stopped";
  return error instanceof ApiError && error.failure === "malformed" ? "incomplete" : "failed";
}
