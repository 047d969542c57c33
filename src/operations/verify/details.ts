import { type Detail, fixedPaths } from "../../catalog/stream.ts";
import { TributaryError } from "../../errors.ts";
import type { StreamSync } from "../../sync/context.ts";
import { readDetails } from "../../sync/extract/details.ts";
import { parentsOf } from "../../sync/load/child_streams.ts";
import { keyColumns, parameterColumns } from "../../sync/stream/details.ts";
import { withTables } from "../../warehouse/ddl/present_tables.ts";
import { openFetched } from "../../warehouse/read/fetched_parents.ts";
import type { VerifyContext } from "./context.ts";
import type { Result } from "./result.ts";
import type { Instrument } from "./stream_reader.ts";
import { reportUnseen } from "./unseen.ts";

/** Below the requests of lists. */
const PRIORITY = 0.4;

/** Asks for details once more, each by its own path: those that the seed chooses, or all. */
export async function compareDetails(
  context: VerifyContext,
  { stream, mode, progress }: Pick<StreamSync<Detail>, "stream" | "mode" | "progress">,
  { mirror, encoder, batches, record }: Instrument,
  result: Result,
): Promise<void> {
  const { api, limiter, warehouse, company, catalogue, clock, seed, sample, signal } = context;
  const parents = parentsOf(catalogue, stream, mode);
  const columns = parameterColumns(stream, mode);
  const keys = keyColumns(stream, mode, parents);
  const [first] = parents.kind === "rows" ? [parents] : parents.sources;
  if ((await withTables(warehouse, [first!])).length === 0)
    throw new TributaryError(
      `${stream.name}: which details there are stands in ${first!.tables.main.name}, and that table is gone: nothing of them was compared with the service.`,
      1,
    );
  const needed = [...new Set([...Object.values(columns), ...Object.values(keys)])];
  const request = { company, stream: stream.name, parents, columns: needed, seed, limit: sample };
  const work = await openFetched(warehouse, request);
  progress.activity.total = work.total;
  const read = await readDetails({
    ...{ api, limiter, stream, mode, columns, keys, work, encoder, batches, record, signal, progress },
    siblings: fixedPaths(catalogue),
    timeOf: () => new Date(clock.now()).toISOString(),
    priority: PRIORITY,
    between: async next => next,
  });
  const answered = [...mirror.answers].filter(([, outcome]) => outcome !== "failed").map(([parent]) => parent);
  await reportUnseen(context, stream, result, answered);
  const { failed, firstFailure } = read;
  if (failed === 0) return;
  throw new TributaryError(
    `${stream.name}: ${failed} of ${work.total} details could not be fetched. The first: ${firstFailure}`,
    1,
  );
}
