import { type Detail, type Feed, OBSERVED_ON, type Scan, type Snapshot } from "../../catalog/stream.ts";
import { TributaryError } from "../../errors.ts";
import { readDetails } from "../../sync/extract/details.ts";
import { readListing } from "../../sync/extract/listing.ts";
import { readLookup } from "../../sync/extract/lookups.ts";
import { readingOf } from "../../sync/extract/reading.ts";
import { boundOf, planScan, statusesOf } from "../../sync/extract/scan_plan.ts";
import { parentsOf } from "../../sync/load/child_streams.ts";
import { columnsFor, detailRequest } from "../../sync/stream/detail_request.ts";
import { questionsOf } from "../../sync/stream/lookups.ts";
import { choicesOf } from "../../sync/stream/snapshot.ts";
import { liveCount, withTables } from "../../warehouse/ddl/present_tables.ts";
import { openFetched } from "../../warehouse/read/fetched_parents.ts";
import { liveKeys } from "../../warehouse/read/stored_rows.ts";
import { loadStreamState } from "../../warehouse/state/run_log.ts";
import type { ScanRecord } from "../../warehouse/state/stream_state.ts";
import { instrumentOf } from "./comparing_stage.ts";
import type { Comparing } from "./context.ts";
import { keyText, ofRow } from "./discrepancy.ts";
import { verifyMessages } from "./messages.ts";

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
  const [first] = unread;
  if (first !== undefined) {
    const counts = { unanswered: unread.length, questions: asked.length };
    throw new TributaryError(
      verifyMessages.questions_unanswered({ stream: stream.name, ...counts, reason: first.reason }),
      1,
    );
  }
  await reportMissing(comparing, mode, record);
}

/** A row that could not be stored may be any of those that were not seen. */
async function reportMissing(comparing: Comparing, mode: Scan | Feed, { capped, rejected }: ScanRecord): Promise<void> {
  if (mode.absence !== "kept" && !capped && rejected === 0) await reportUnseen(comparing, undefined);
}

/** Of figures only those of today can be asked for again. */
async function compareSnapshot(comparing: Comparing, mode: Snapshot): Promise<void> {
  const { context, stream, progress } = comparing;
  const { service, encoding, signal } = context;
  const { encoder, batches, record } = instrumentOf(comparing);
  const dayOf = new Intl.DateTimeFormat("sv-SE", { timeZone: encoding.formats.timezone, dateStyle: "short" });
  for (const choice of choicesOf(mode, context.policyOf(stream.name))) {
    try {
      const answer = await service.api.get(stream.path, { ...stream.query, ...choice }, { priority: 1, signal });
      progress.page(answer);
      const day = dayOf.format(answer.date);
      encoder.add(answer.data, {}, { ...choice, [OBSERVED_ON]: day });
    } catch (error) {
      progress.failedRequest(error);
      throw error;
    }
  }
  await batches.end(record);
}

/** Below the requests of lists. */
const PRIORITY = 0.4;

/** Asks for details once more, each by its own path: those that the seed chooses, or all. */
async function compareDetails(comparing: Comparing, mode: Detail): Promise<void> {
  const { context, stream, progress } = comparing;
  const instrument = instrumentOf(comparing);
  const { warehouse, company, catalogue, clock, sampling } = context;
  const parents = parentsOf(catalogue, stream, mode);
  const request = { ...detailRequest(stream, mode, parents, catalogue), priority: PRIORITY };
  const [first] = parents.kind === "rows" ? [parents] : parents.sources;
  if ((await withTables(warehouse, [first!])).length === 0)
    throw new TributaryError(verifyMessages.parents_gone({ stream: stream.name, table: first!.tables.main.name }), 1);
  const work = await openFetched(warehouse, {
    ...{ company, stream: stream.name, parents, columns: columnsFor(request) },
    ...{ seed: sampling.seed, limit: sampling.sample },
  });
  progress.activity.total = work.total;
  const read = await readDetails({
    ...readingOf(context, instrument, progress),
    request,
    work,
    timeOf: () => new Date(clock.now()).toISOString(),
    between: async next => next,
  });
  const answered = [...instrument.answers].filter(([, outcome]) => outcome !== "failed").map(([parent]) => parent);
  await reportUnseen(comparing, answered);
  const { failed, firstFailure: reason } = read;
  if (failed === 0) return;
  const counts = { failed, details: work.total };
  throw new TributaryError(verifyMessages.details_not_fetched({ stream: stream.name, ...counts, reason }), 1);
}

const KEYS_AT_ONCE = 20_000;
const PARENTS_AT_ONCE = 1_000;

/** Reports live rows that the service did not show: they went since they were loaded. `parents`: only rows of these; absent: all of the stream. */
async function reportUnseen(comparing: Comparing, parents: readonly string[] | undefined): Promise<void> {
  const { context, stream, result } = comparing;
  const { warehouse, company } = context;
  const { tables } = stream;
  const add = (keys: readonly (readonly string[])[]): void => {
    for (const key of keys)
      if (!result.hasSeen(key)) result.add(key, ofRow(tables.main.name, keyText(tables.main, key), "changed_since"));
  };
  if (parents !== undefined) {
    for (let i = 0; i < parents.length; i += PARENTS_AT_ONCE)
      add(await liveKeys(warehouse, company, tables, parents.slice(i, i + PARENTS_AT_ONCE)));
    return;
  }
  const live = (await liveCount(warehouse, company, tables)) ?? 0;
  const of = Math.ceil(live / KEYS_AT_ONCE) || 1;
  for (let nth = 0; nth < of; nth++) add(await liveKeys(warehouse, company, tables, undefined, { nth, of }));
}
