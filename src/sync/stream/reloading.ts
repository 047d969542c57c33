import { lookupOf } from "../../catalog/lookup.ts";
import type { Feed, Scan } from "../../catalog/stream.ts";
import type { Api, Query } from "../../source/api.ts";
import { loadStreamState } from "../../warehouse/state/run_log.ts";
import { askedBy, type StreamSync } from "../context.ts";
import { readListing } from "../extract/listing.ts";
import { type Question, readLookup } from "../extract/lookups.ts";
import { readingOf } from "../extract/reading.ts";
import { openExtraction } from "./extraction.ts";
import { type Again, publishScan } from "./listing.ts";

/** A scan whose answers are at hand. */
export interface ReadBefore {
  readonly api: Api;
  readonly path: string;
  readonly queries: readonly Query[];
  readonly questions: readonly Question[];
}

/** Loads scans again by the answers they got, in one publish; of a row that several hold the last one counts. `full`: one whole scan, what it lacks is missing. */
export async function reloadScans(
  sync: StreamSync<Scan | Feed>,
  scans: readonly ReadBefore[],
  how: Again & { readonly full: boolean },
): Promise<void> {
  const { context, stream, mode, progress } = sync;
  const { company, destination, runId, earlier } = context;
  const state = await loadStreamState(destination.db, company, stream.name);
  const request = { query: { again: runId, scan: earlier?.scan }, full: how.full };
  const extraction = await openExtraction(sync, state, request);
  const { stage, encoder, record: begun } = extraction;
  progress.activity.state = "reading";
  let record = begun;
  for (const { api, path, queries, questions } of scans) {
    encoder.forgetPlaces();
    // The date of the last of them is how far the rows go.
    const from = { ...record, phase: "reading" as const, part: 0, cursor: null, date: null, absent: [], unread: [] };
    const reading = { ...readingOf(context, extraction, progress), api, record: from };
    if (mode.kind === "scan" && lookupOf(stream) !== undefined)
      record = await readLookup({ ...reading, stream, listing: mode, questions });
    else record = await readListing({ ...reading, stream, listing: mode, path, queries });
  }
  const last = scans.at(-1);
  const asking = last === undefined ? context : askedBy(context, last.api);
  await publishScan({ ...sync, context: asking }, { stage, record, state }, last?.questions, how);
}
