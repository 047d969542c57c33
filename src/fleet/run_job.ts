import { DestinationError, type ExitCode, LockedError } from "../errors.ts";
import type { Message } from "../message.ts";
import { redactMessage } from "../secrets.ts";
import { exitCodeOf, messageFor, type RunReport } from "../sync/run/report.ts";
import { companiesOf, runSync } from "../sync/run/run.ts";
import type { Attempt } from "../sync/run/run_order.ts";
import type { JobTools } from "./company_job.ts";
import { conducted } from "./conducting.ts";
import { orderOfRun, type RunData, stopData } from "./job_data.ts";
import type { JobQueue } from "./queue.ts";

interface RunJobTools extends JobTools {
  readonly attempt: (end: Attempt["end"]) => Attempt;
  /** Aborted when this process has to leave the job to another one. */
  readonly leaving: AbortSignal;
}

/** How a run ended, as its job keeps it: with a report, or with what kept it from beginning. */
export type RunOutput = { readonly report: RunReport } | { readonly thrown: Message & { readonly exitCode: ExitCode } };

/** Conducts a run. @throws what another try may mend */
export async function workOnRunJob(data: RunData, tools: RunJobTools): Promise<RunOutput> {
  const { queue, config, defaults, run, attempt, claim, leaving } = tools;
  const isRetry = claim.retryCount > 0;
  const asked = orderOfRun(data, config, defaults, isRetry);
  // Its time limit began when it was first conducted.
  const spentMs = isRetry ? Math.max(0, run.clock.now() - Date.parse(data.startedAt)) : 0;
  let lost: unknown;
  const note: Attempt["end"] = failures => {
    lost = failures.map(({ error }) => error).find(isPassing);
  };
  try {
    const source = conducted({ queue, data, leaving, companies: companiesOf(config, data.selection.company) });
    const order = { ...asked, source, limits: { ...asked.limits, spentMs } };
    const report = await runSync(order, run, attempt(note));
    // What it was about to write down stands nowhere: the next one concludes it.
    if (lost !== undefined) throw lost;
    await forgetStops(queue, data.runId);
    return { report };
  } catch (error) {
    const isOwn = error instanceof LockedError && error.runId === data.runId;
    if (leaving.aborted || isPassing(error) || isOwn) throw error;
    return { thrown: { ...redactMessage(messageFor(error), run.redact), exitCode: exitCodeOf([error]) } };
  }
}

const isPassing = (error: unknown) => error instanceof DestinationError && error.passing;

/** A run that has ended is not to be stopped any more. */
async function forgetStops(queue: JobQueue, runId: string): Promise<void> {
  for (const { id, data } of await queue.open("stops"))
    if (stopData.parse(data).runId === runId) await queue.remove("stops", id);
}
