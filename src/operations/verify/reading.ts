import { type Feed, OBSERVED_ON, type Scan, type Snapshot, type Stream } from "../../catalog/stream.ts";
import { TributaryError } from "../../errors.ts";
import { readListing } from "../../sync/extract/listing.ts";
import { readLookup } from "../../sync/extract/lookups.ts";
import { readingOf } from "../../sync/extract/reading.ts";
import { boundOf, planScan, statusesOf } from "../../sync/extract/scan_plan.ts";
import { questionsOf } from "../../sync/stream/lookups.ts";
import { choicesOf } from "../../sync/stream/snapshot.ts";
import type { StreamProgress } from "../../sync/stream_progress.ts";
import { loadStreamState } from "../../warehouse/state/run_log.ts";
import type { VerifyContext } from "./context.ts";
import { compareDetails } from "./details.ts";
import type { Result } from "./result.ts";
import { instrumentOf } from "./stream_reader.ts";
import { reportUnseen } from "./unseen.ts";

/** Reads a stream once more and compares what comes with the warehouse. What was read before an error counts. */
export async function compareStream(
  context: VerifyContext,
  stream: Stream,
  result: Result,
  progress: StreamProgress,
): Promise<void> {
  const { mode } = stream;
  switch (mode.kind) {
    case "scan":
      return mode.lookup === undefined
        ? compareListing(context, stream, mode, result, progress)
        : compareLookup(context, stream, mode, result, progress);
    case "feed":
      return compareListing(context, stream, mode, result, progress);
    case "snapshot":
      return compareSnapshot(context, stream, mode, result, progress);
    case "detail":
      return compareDetails(context, { stream, mode, progress }, instrumentOf(context, stream, result), result);
  }
}

async function compareListing(
  context: VerifyContext,
  stream: Stream,
  mode: Scan | Feed,
  result: Result,
  progress: StreamProgress,
): Promise<void> {
  const { warehouse, company, start, clock } = context;
  const policy = context.policyOf(stream.name);
  const state = await loadStreamState(warehouse.db, company, stream.name);
  const plan = planScan(stream, state, policy, { full: true, confirmDeletes: false, start, now: clock.now() });
  const queries = [plan.query, ...policy.statuses.map(status => ({ ...plan.query, status }))];
  const reading = readingOf(context, instrumentOf(context, stream, result), progress);
  const record = await readListing({ ...reading, stream, path: stream.path, queries, listing: mode });
  const bounded =
    boundOf(stream, start) !== undefined || statusesOf(state, policy, { confirmDeletes: false }).dropped.length > 0;
  // A row that could not be stored may be any of those that were not seen.
  const whole = !bounded && mode.absence !== "kept" && !record.capped && record.rejected === 0;
  if (whole) await reportUnseen(context, stream, result, undefined);
}

async function compareLookup(
  context: VerifyContext,
  stream: Stream,
  mode: Scan,
  result: Result,
  progress: StreamProgress,
): Promise<void> {
  const { warehouse, company, catalogue } = context;
  const place = { looked: warehouse, company, catalogue };
  const { asked } = await questionsOf(place, stream, mode, context.policyOf(stream.name));
  if (asked.length === 0) return;
  const reading = readingOf(context, instrumentOf(context, stream, result), progress);
  const record = await readLookup({ ...reading, stream, questions: asked, listing: mode });
  const { unread } = record;
  if (unread.length > 0)
    throw new TributaryError(
      `${stream.name}: ${unread.length} of ${asked.length} questions could not be answered. The first: ${unread[0]?.reason}`,
      1,
    );
  const whole = mode.absence !== "kept" && !record.capped && record.rejected === 0;
  if (whole) await reportUnseen(context, stream, result, undefined);
}

/** Of figures only those of today can be asked for again. */
async function compareSnapshot(
  context: VerifyContext,
  stream: Stream,
  mode: Snapshot,
  result: Result,
  progress: StreamProgress,
): Promise<void> {
  const { service, clock, encoding, signal } = context;
  const { encoder, batches, record } = instrumentOf(context, stream, result);
  const dayOf = new Intl.DateTimeFormat("sv-SE", { timeZone: encoding.formats.timezone, dateStyle: "short" });
  for (const choice of choicesOf(mode, context.policyOf(stream.name))) {
    try {
      const answer = await service.api.get(stream.path, { ...stream.query, ...choice }, { priority: 1, signal });
      progress.page(answer);
      const day = dayOf.format(answer.date ?? new Date(clock.now()));
      encoder.add(answer.data, {}, { ...choice, [OBSERVED_ON]: day });
    } catch (error) {
      progress.failedRequest(error);
      throw error;
    }
  }
  await batches.put(record);
  await batches.flush();
}
