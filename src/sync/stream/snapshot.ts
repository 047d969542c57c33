import { type Asking, combinations } from "../../catalog/lookup.ts";
import { OBSERVED_ON, type Snapshot } from "../../catalog/stream.ts";
import { ApiError, meetsOthers, TributaryError } from "../../errors.ts";
import type { Answer, Api, Query } from "../../source/api.ts";
import type { About } from "../../source/archive/about.ts";
import { loadStreamState } from "../../warehouse/state/run_log.ts";
import type { ScanRecord } from "../../warehouse/state/stream_state.ts";
import { completeWith, type StreamSync } from "../context.ts";
import { publishStage } from "../load/apply_load.ts";
import { openExtraction, startAfresh } from "./extraction.ts";
import { setAside } from "./listing.ts";

/** One row a day for each combination of parameters; the day is the service's (`Date`) in the config's zone. A combination that fails fails the stream, and the others are stored. */
export async function syncSnapshot(sync: StreamSync<Snapshot>): Promise<void> {
  const { context, stream, mode } = sync;
  const choices = choicesOf(mode, context.policy.ofStream(stream.name));
  return takeSnapshots(sync, [{ api: context.service.api, choices }]);
}

/** Combinations of values that are asked for on one day, and whom. */
export interface Sitting {
  readonly api: Api;
  readonly choices: readonly Readonly<Record<string, string>>[];
}

export async function takeSnapshots(sync: StreamSync, sittings: readonly Sitting[]): Promise<void> {
  const { context, stream, progress } = sync;
  const { signal, earlier } = context;
  const state = await loadStreamState(context.destination.db, context.company, stream.name);
  const asked = { ...stream.query, choices: sittings[0]?.choices };
  const query = earlier === undefined ? asked : { again: context.runId };
  const extraction = await openExtraction(sync, state, { query, full: false });
  const { stage, encoder, batches, record } = extraction;
  progress.activity.state = "reading";
  progress.run.carried = 0;
  let read: ScanRecord =
    record.rows === 0 ? record : await startAfresh(context, stage, record.fingerprint, record.full);
  const failures: ApiError[] = [];
  const turns = sittings.flatMap(({ api, choices }) =>
    choices.map((choice, nth) => ({ api, choice, first: nth === 0 })),
  );
  for (const { api, choice, first } of turns) {
    if (first) read = { ...read, date: null };
    const answer = await ask(api, { ...stream.query, ...choice }, { scan: read.scan, context: choice }).catch(
      async error => {
        // The next run asks for all of them.
        await setAside(extraction, read, progress);
        throw error;
      },
    );
    if (answer === undefined) continue;
    progress.page(answer);
    progress.rows(1);
    const day = new Intl.DateTimeFormat("sv-SE", {
      timeZone: context.encoding.formats.timezone,
      dateStyle: "short",
    }).format(answer.date);
    encoder.add(answer.data, {}, { ...choice, [OBSERVED_ON]: day });
    read = { ...read, rows: read.rows + 1, pages: read.pages + 1, date: read.date ?? answer.date.toISOString() };
    if (batches.due) read = await batches.put(read);
  }
  const failure = failures.find(each => each.failure !== "forbidden") ?? failures[0];
  if (read.rows === 0 && failure !== undefined) throw failure;
  const stored = await batches.end({ ...read, phase: "read" });
  await publishStage(context, {
    stream,
    stage,
    record: stored,
    progress,
    state,
    isLast: failures.length === 0,
    showsAll: failures.length === 0 && earlier === undefined,
    completeTo: failures.length === 0 ? completeWith(context, stored.date) : null,
  });
  // With rows of the others the stream is not one that this key may not read.
  if (failure?.failure === "forbidden") throw new TributaryError(failure, 1, failure);
  if (failure !== undefined) throw failure;

  async function ask(api: Api, query: Query, about: Partial<About>): Promise<Answer | undefined> {
    try {
      return await api.get(stream.path, query, { priority: 1, signal, about });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      progress.failedRequest(error);
      if (meetsOthers(error)) throw error;
      failures.push(error);
      return undefined;
    }
  }
}

/** The combinations of values that a snapshot is taken for: the config's, else the stream's own. */
export function choicesOf({ parameters = {} }: Snapshot, { parameters: configured }: Asking) {
  return combinations(Object.entries(parameters).map(([name, values]) => [name, configured[name] ?? values]));
}
