import { loadStreamState } from "../destinations/run_log.ts";
import { ApiError } from "../errors.ts";
import type { Tally } from "../extract/tally.ts";
import type { ScanRecord } from "../state.ts";
import { OBSERVED_ON, type Stream } from "../stream.ts";
import type { SyncContext } from "./context.ts";
import { openExtraction, startAfresh } from "./extraction.ts";
import { publishStage } from "./publication.ts";

/** One object, one row a day: the day is the service's (`Date`), in the zone of the config. */
export async function syncSnapshot(context: SyncContext, stream: Stream, tally: Tally): Promise<void> {
  const { api, clock, formats, signal } = context;
  const state = await loadStreamState(context.destination.db, context.company, stream.name);
  const query = stream.query ?? {};
  const { stage, encoder, batches, record } = await openExtraction(
    context,
    stream,
    state,
    { query, full: false },
    tally,
  );
  tally.activity.state = "reading";
  tally.run.carried = 0;
  const fresh = record.rows === 0 ? record : await startAfresh(context, stage, record.fingerprint, false);
  const answer = await ask();
  tally.page(answer);
  tally.rows(1);
  const at = answer.date ?? new Date(clock.now());
  const day = new Intl.DateTimeFormat("sv-SE", { timeZone: formats.timezone, dateStyle: "short" }).format(at);
  encoder.add(answer.data, {}, { [OBSERVED_ON]: day });
  const read: ScanRecord = { ...fresh, phase: "read", rows: 1, pages: 1, date: at.toISOString() };
  const stored = await batches.put(read);
  await batches.flush();
  await publishStage(context, {
    stream,
    stage,
    record: stored,
    tally,
    withMissing: false,
    decide: async () => undefined,
    absent: "believed",
    state,
    completeTo: at.toISOString(),
  });

  async function ask() {
    try {
      return await api.get(stream.path, query, { priority: 1, signal });
    } catch (error) {
      if (error instanceof ApiError) tally.failedRequest(error);
      throw error;
    }
  }
}
