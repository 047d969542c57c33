import { type Looked, liveCount } from "./destinations/inspection.ts";
import { loadStreamState } from "./destinations/run_log.ts";
import type { Stream } from "./stream.ts";

/** Requests that it takes to read a stream from the start, as far as the warehouse knows; undefined: unknown. */
export async function costFromStart(
  looked: Looked,
  company: string,
  stream: Stream,
  catalogue: readonly Stream[],
): Promise<number | undefined> {
  const { mode } = stream;
  switch (mode.kind) {
    case "snapshot":
      return 1;
    case "detail": {
      const parent = catalogue.find(other => other.name === mode.of);
      return parent === undefined ? undefined : liveCount(looked, company, parent.tables);
    }
    default: {
      const { lastFullPages } = await loadStreamState(looked.db, company, stream.name);
      return lastFullPages ?? undefined;
    }
  }
}
