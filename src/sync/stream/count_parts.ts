import { COUNTERS, mergePartRuns, writeStreamRun } from "../../warehouse/state/run_log.ts";
import type { StreamSync } from "../context.ts";

/** What the parts of a stream counted becomes what its run counted. Answers that alone. */
export async function countParts({ context, stream, progress: { run } }: StreamSync) {
  const { destination, company, runId } = context;
  const sums = await destination.db.transaction().execute(async trx => {
    const sums = await mergePartRuns(trx, runId, company, stream.name);
    const added = Object.fromEntries(COUNTERS.map(name => [name, run[name] + sums[name]]));
    await writeStreamRun(trx, runId, company, stream.name, { ...run, ...added });
    return sums;
  });
  for (const name of COUNTERS) run[name] += sums[name];
  return sums;
}
