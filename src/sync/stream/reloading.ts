import { lookupOf } from "../../catalog/lookup.ts";
import type { Feed, Scan } from "../../catalog/stream.ts";
import type { Api, Query } from "../../source/client.ts";
import { loadStreamState } from "../../warehouse/state/run_log.ts";
import type { StreamSync } from "../context.ts";
import { readListing } from "../extract/listing.ts";
import { type Question, readLookup } from "../extract/lookups.ts";
import { openExtraction } from "./extraction.ts";
import { type Again, publishScan } from "./listing.ts";

/** A scan whose answers are at hand. */
export interface ReadBefore {
  /** Answers what it asked. */
  readonly api: Api;
  readonly path: string;
  /** Of a list or feed: read one after another. */
  readonly queries: readonly Query[];
  /** Of a lookup. */
  readonly questions: readonly Question[];
}

/**
 * Loads scans again by the answers they got, all into one publish: of a row that several of them hold the last one counts.
 * `full`: it is one scan, whole, and what it doesn't hold is missing.
 */
export async function reloadScans(
  sync: StreamSync<Scan | Feed>,
  scans: readonly ReadBefore[],
  how: Again & { readonly full: boolean },
): Promise<void> {
  const { context, stream, mode, progress } = sync;
  const { company, destination, limiter, runId, signal } = context;
  const state = await loadStreamState(destination.db, company, stream.name);
  const request = { query: { again: runId, scan: how.scan }, full: how.full };
  const { stage, encoder, batches, record: begun } = await openExtraction(sync, state, request);
  progress.activity.state = "reading";
  let record = begun;
  for (const { api, path, queries, questions } of scans) {
    encoder.forgetPlaces();
    // The date of the last of them is how far the rows go.
    const from = { ...record, phase: "reading" as const, part: 0, cursor: null, date: null, absent: [], unread: [] };
    const job = { api, stream, listing: mode, encoder, batches, record: from, signal, progress };
    const width = limiter.state.maximum * 2;
    if (mode.kind === "scan" && lookupOf(stream) !== undefined)
      record = await readLookup({ ...job, listing: mode, questions, width });
    else record = await readListing({ ...job, path, queries });
  }
  const last = scans.at(-1);
  const asking = last === undefined ? context : { ...context, api: last.api };
  await publishScan({ ...sync, context: asking }, { stage, record, state }, last?.questions, how);
}
