import type { Stream } from "../../catalog/stream.ts";
import type { Formats } from "../../rows/moment.ts";
import type { Db } from "../database.ts";
import { loadStreamState, saveStreamState } from "./run_log.ts";
import { noState, readStreamState, type StreamState } from "./stream_state.ts";

/** A stream's state as it is once it is read with these formats: `mixedFormats` says that its rows were read with others. */
export async function loadStateUnder(db: Db, company: string, stream: string, formats: Formats): Promise<StreamState> {
  return stateUnder(await loadStreamState(db, company, stream), formats);
}

/** The same object where its rows were read with no others. */
function stateUnder(state: StreamState, formats: Formats): StreamState {
  const before = state.formats;
  return before === null || isSame(before, formats) ? state : { ...state, formats, mixedFormats: true };
}

/** In which order date formats are named means nothing: a date that fits two of them is a problem. */
const isSame = (a: Formats, b: Formats): boolean =>
  a.timezone === b.timezone && new Set(a.dates).symmetricDifference(new Set(b.dates)).size === 0;

/**
 * Notes, before anything is read, which of the streams are to be read with other formats than before: lists and feeds are
 * read whole until such a scan is published, details are due. A run that is stopped after some of them forgets none.
 * Answers those streams, what they were read with `before`, and the requests that this takes beyond a usual run's.
 */
export async function adoptFormats(
  db: Db,
  streams: readonly { readonly company: string; readonly stream: Stream }[],
  formats: Formats,
  now: string,
): Promise<readonly { stream: Stream; before: Formats; requests: number }[]> {
  const rows = await db.selectFrom("stream_state").select(["company", "stream", "state"]).execute();
  const states = new Map(rows.map(row => [JSON.stringify([row.company, row.stream]), readStreamState(row.state)]));
  const reread: { stream: Stream; before: Formats; requests: number }[] = [];
  for (const { company, stream } of streams) {
    const { name, mode } = stream;
    const state = states.get(JSON.stringify([company, name])) ?? noState;
    const next = stateUnder(state, formats);
    if (next === state) continue;
    const isListing = mode.kind === "scan" || mode.kind === "feed";
    const due = await db.transaction().execute(async trx => {
      await saveStreamState(trx, company, name, { ...next, mixedFormats: isListing }, now);
      if (mode.kind !== "detail") return 0;
      const { numUpdatedRows } = await trx
        .updateTable("details")
        .set({ parent_hash: null })
        .where(({ and }) => and({ company, stream: name, outcome: "ok" }))
        .executeTakeFirst();
      return Number(numUpdatedRows);
    });
    const requests = mode.kind === "feed" ? (state.lastFullPages ?? 0) : due;
    reread.push({ stream, before: state.formats!, requests });
  }
  return reread;
}
