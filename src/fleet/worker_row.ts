import type { RunSnapshot, RunView } from "../sync/run/report.ts";
import type { Heartbeat } from "../warehouse/postgres/shared_state.ts";
import type { Kind } from "./queue.ts";

/** What a worker says of itself: `status`, the page and `sync --workers` show it. */
export interface WorkerRow extends Heartbeat {
  readonly doing: WorkerDoing;
}

export interface WorkerDoing {
  /** Why it takes no jobs, in a sentence; absent: it does. */
  readonly refusal?: string;
  /** With the streams as a progress display shows them. */
  readonly jobs: readonly (Omit<RunSnapshot, "requests" | "remainingMs"> & {
    readonly kind: Kind;
    readonly runId: string;
    readonly company?: string;
    /** ISO 8601. */
    readonly since: string;
  })[];
}

/** Streams that are shown of a job: those that something is done for first. */
const MOST_STREAMS = 40;

function shownOf(streams: RunSnapshot["streams"]): typeof streams {
  const open = streams.filter(({ state }) => state !== "done");
  return open.toSorted((a, b) => Number(a.state === "waiting") - Number(b.state === "waiting")).slice(0, MOST_STREAMS);
}

/** How a job stands; undefined: it does not know its streams yet. */
export function seenOf(view: RunView | undefined) {
  const seen = view?.snapshot();
  return {
    ...{ streams: shownOf(seen?.streams ?? []), limitedBy: seen?.limitedBy ?? "", inFlight: seen?.inFlight ?? 0 },
    ...{ ceiling: seen?.ceiling ?? 0, limited429: seen?.limited429 ?? 0 },
  };
}
