import { type Feed, OBSERVED_ON, type Scan, type Snapshot } from "../../catalog/stream.ts";
import { TributaryError } from "../../errors.ts";
import { readListing } from "../../sync/extract/listing.ts";
import { readLookup } from "../../sync/extract/lookups.ts";
import { readingOf } from "../../sync/extract/reading.ts";
import { boundOf, planScan, statusesOf } from "../../sync/extract/scan_plan.ts";
import { questionsOf } from "../../sync/stream/lookups.ts";
import { choicesOf } from "../../sync/stream/snapshot.ts";
import { loadStreamState } from "../../warehouse/state/run_log.ts";
import type { ScanRecord } from "../../warehouse/state/stream_state.ts";
import { instrumentOf } from "./comparing_stage.ts";
import type { Comparing } from "./context.ts";
import { compareDetails } from "./details.ts";
import { reportUnseen } from "./unseen.ts";

/** Reads a stream once more and compares what comes with the warehouse. What was read before an error counts. */
export async function compareStream(comparing: Comparing): Promise<void> {
  const { mode } = comparing.stream;
  switch (mode.kind) {
    case "scan":
      return mode.lookup === undefined ? compareListing(comparing, mode) : compareLookup(comparing, mode);
    case "feed":
      return compareListing(comparing, mode);
    case "snapshot":
      return compareSnapshot(comparing, mode);
    case "detail":
      return compareDetails(comparing, mode);
  }
}

async function compareListing(comparing: Comparing, mode: Scan | Feed): Promise<void> {
  const { context, stream, progress } = comparing;
  const { warehouse, company, start, clock } = context;
  const policy = context.policyOf(stream.name);
  const state = await loadStreamState(warehouse.db, company, stream.name);
  const plan = planScan(stream, state, policy, { full: true, confirmDeletes: false, start, now: clock.now() });
  const queries = [plan.query, ...policy.statuses.map(status => ({ ...plan.query, status }))];
  const reading = readingOf(context, instrumentOf(comparing), progress);
  const record = await readListing({ ...reading, stream, path: stream.path, queries, listing: mode });
  const bounded =
    boundOf(stream, start) !== undefined || statusesOf(state, policy, { confirmDeletes: false }).dropped.length > 0;
  if (!bounded) await reportMissing(comparing, mode, record);
}

async function compareLookup(comparing: Comparing, mode: Scan): Promise<void> {
  const { context, stream, progress } = comparing;
  const place = { looked: context.warehouse, company: context.company, catalogue: context.catalogue };
  const { asked } = await questionsOf(place, stream, mode, context.policyOf(stream.name));
  if (asked.length === 0) return;
  const reading = readingOf(context, instrumentOf(comparing), progress);
  const record = await readLookup({ ...reading, stream, questions: asked, listing: mode });
  const { unread } = record;
  if (unread.length > 0)
    throw new TributaryError(
      `${stream.name}: ${unread.length} of ${asked.length} questions could not be answered. The first: ${unread[0]?.reason}`,
      1,
    );
  await reportMissing(comparing, mode, record);
}

/** A row that could not be stored may be any of those that were not seen. */
async function reportMissing(comparing: Comparing, mode: Scan | Feed, { capped, rejected }: ScanRecord): Promise<void> {
  if (mode.absence !== "kept" && !capped && rejected === 0) await reportUnseen(comparing, undefined);
}

/** Of figures only those of today can be asked for again. */
async function compareSnapshot(comparing: Comparing, mode: Snapshot): Promise<void> {
  const { context, stream, progress } = comparing;
  const { service, clock, encoding, signal } = context;
  const { encoder, batches, record } = instrumentOf(comparing);
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
