import { type Asking, asksNothing, loadedColumn } from "../catalog/lookup.ts";
import type { Detail, Stream } from "../catalog/stream.ts";
import { choicesOf } from "../sync/stream/snapshot.ts";
import { type Looked, liveCount } from "../warehouse/ddl/present_tables.ts";
import { distinctValues } from "../warehouse/read/distinct_values.ts";
import { loadStreamState } from "../warehouse/state/run_log.ts";

/** Requests that it takes to read a stream from the start, as far as the warehouse knows; undefined: unknown. */
export async function costFromStart(
  looked: Looked,
  company: string,
  stream: Stream,
  catalogue: readonly Stream[],
  asking: Asking = asksNothing,
): Promise<number | undefined> {
  const { mode } = stream;
  switch (mode.kind) {
    case "snapshot":
      return choicesOf(mode, asking).length;
    case "detail": {
      if (mode.by !== undefined) return costOfValues(looked, company, mode, mode.by, catalogue);
      const parent = catalogue.find(other => other.name === mode.of);
      return parent === undefined ? undefined : liveCount(looked, company, parent.tables);
    }
    default: {
      const { lastFullPages } = await loadStreamState(looked.db, company, stream.name);
      return lastFullPages ?? undefined;
    }
  }
}

/** One request for each distinct value; how many names a JSON column holds is not counted here. */
async function costOfValues(
  looked: Looked,
  company: string,
  { of, also = [] }: Detail,
  by: string,
  catalogue: readonly Stream[],
): Promise<number | undefined> {
  const columns = [`${of}.${by}`, ...also].map(named => loadedColumn(catalogue, named));
  const known = columns.filter(column => column !== undefined);
  if (known.length < columns.length || known.some(({ kind }) => kind === "json")) return undefined;
  return (await distinctValues(looked, company, known)).length;
}
