import type { Detail } from "../../catalog/stream.ts";
import { TributaryError } from "../../errors.ts";
import { readDetails } from "../../sync/extract/details.ts";
import { readingOf } from "../../sync/extract/reading.ts";
import { parentsOf } from "../../sync/load/child_streams.ts";
import { columnsFor, detailRequest } from "../../sync/stream/details.ts";
import { withTables } from "../../warehouse/ddl/present_tables.ts";
import { openFetched } from "../../warehouse/read/fetched_parents.ts";
import { instrumentOf } from "./comparing_stage.ts";
import type { Comparing } from "./context.ts";
import { reportUnseen } from "./unseen.ts";

/** Below the requests of lists. */
const PRIORITY = 0.4;

/** Asks for details once more, each by its own path: those that the seed chooses, or all. */
export async function compareDetails(comparing: Comparing, mode: Detail): Promise<void> {
  const { context, stream, progress } = comparing;
  const instrument = instrumentOf(comparing);
  const { warehouse, company, catalogue, clock, sampling } = context;
  const parents = parentsOf(catalogue, stream, mode);
  const request = { ...detailRequest(stream, mode, parents, catalogue), priority: PRIORITY };
  const [first] = parents.kind === "rows" ? [parents] : parents.sources;
  if ((await withTables(warehouse, [first!])).length === 0)
    throw new TributaryError(
      `${stream.name}: which details there are stands in ${first!.tables.main.name}, and that table is gone: nothing of them was compared with the service.`,
      1,
    );
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
  const answered = [...instrument.mirror.answers]
    .filter(([, outcome]) => outcome !== "failed")
    .map(([parent]) => parent);
  await reportUnseen(comparing, answered);
  const { failed, firstFailure } = read;
  if (failed === 0) return;
  throw new TributaryError(
    `${stream.name}: ${failed} of ${work.total} details could not be fetched. The first: ${firstFailure}`,
    1,
  );
}
