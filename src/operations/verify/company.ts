import { ApiError, DestinationError, meetsOthers, StoppedError, TributaryError } from "../../errors.ts";
import type { Log } from "../../logging.ts";
import type { Message } from "../../message.ts";
import { inParallel } from "../../sync/extract/parallel.ts";
import type { Job } from "../../sync/run/report.ts";
import { missingTables } from "../../warehouse/ddl/present_tables.ts";
import { stateMismatches } from "../../warehouse/read/state_mismatch.ts";
import { loadStateUnder } from "../../warehouse/state/formats_record.ts";
import { liveRows } from "../../warehouse/state/table_counts.ts";
import type { VerifyContext } from "./context.ts";
import { discrepancyOf, lostTable } from "./discrepancy.ts";
import { verifyMessages } from "./messages.ts";
import type { ComparedLine } from "./outcome.ts";
import { compareStream } from "./reading.ts";
import { MOST_KEPT, Result } from "./result.ts";

interface CompanyPart {
  /** Why nothing of it can be read. */
  readonly failure: TributaryError | undefined;
  readonly atOnce: number;
  readonly log: Log;
  readonly errors: unknown[];
  /** Ends this company's part, or all of it, at the next safe point. */
  readonly stop: (error: unknown) => void;
}

/** Compares a company's streams, several at once. A failure of one is kept to it; `stop` ends the company, or all. */
export async function compareCompany(
  context: VerifyContext,
  jobs: readonly Job[],
  { failure, atOnce, log, errors, stop }: CompanyPart,
): Promise<readonly ComparedLine[]> {
  const lines: ComparedLine[] = [];
  const line = (job: Job, result: Result | undefined, error: Message | null): ComparedLine => ({
    ...{ job, result, error, checkedAt: new Date(context.clock.now()).toISOString() },
  });
  if (failure !== undefined) {
    errors.push(failure);
    return jobs.map(job => line(job, undefined, failure));
  }
  for await (const done of inParallel(jobs, atOnce, compareJob)) lines.push(done);
  for (const { job, result } of lines) {
    const { mode } = job.stream;
    const list =
      mode.kind === "detail" && mode.by === undefined
        ? lines.find(each => each.job.stream.name === mode.of)
        : undefined;
    const { result: rows } = list ?? {};
    if (list === undefined || rows === undefined || list.error !== null) continue;
    const ofParent = (key: readonly string[]) => key.slice(0, list.job.stream.key.length);
    result?.tellApart(key => !rows.hasSeen(ofParent(key)) || rows.isUnequal(ofParent(key)));
  }
  return lines;

  async function compareJob(job: Job): Promise<ComparedLine> {
    const { stream, progress } = job;
    const { signal, company, warehouse } = context;
    if (signal.aborted) return line(job, undefined, verifyMessages.ending());
    const lost = await missingTables(warehouse, stream.tables);
    const loaded = (await liveRows(warehouse.db, company, stream.tables.main.name)) !== null;
    // Every run makes the tables of all streams that are on: without them it was dropped, or no run has been since.
    if (!loaded && (lost.length === 0 || !context.on.has(stream.name))) return line(job, undefined, null);
    const result = new Result();
    progress.activity.state = "reading";
    try {
      for (const table of lost) result.add([], lostTable(table));
      // Every date would differ that was read in another way, and tell nothing of the service.
      if ((await loadStateUnder(warehouse.db, company, stream.name, context.encoding.formats)).mixedFormats)
        throw new TributaryError(verifyMessages.formats_changed({ stream: stream.name }), 1);
      if (lost.length === 0) {
        const found = await stateMismatches(warehouse, company, stream.tables, MOST_KEPT);
        for (const each of found) result.add(each.key, discrepancyOf(each, stream.tables.main));
        await compareStream({ context, stream, progress, result });
      }
      progress.activity.state = "done";
      log.info(verifyMessages.compared(), {
        stream: stream.name,
        rows: result.checked,
        differences: result.differences,
      });
      return line(job, result, null);
    } catch (error) {
      progress.endBy(error);
      if (!(error instanceof TributaryError) || error instanceof DestinationError) throw error;
      if (!(error instanceof StoppedError) && !errors.includes(error)) errors.push(error);
      if (error instanceof ApiError && meetsOthers(error)) stop(error);
      log.warn(error, { stream: stream.name });
      return line(job, result, error);
    }
  }
}
