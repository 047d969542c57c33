import type { Config } from "../config/config.ts";
import { LockedError } from "../errors.ts";
import { redactMessage } from "../secrets.ts";
import { givingWay, LONGEST_TURN_MS } from "../sync/run/giving_way.ts";
import { fromService, type RunSource, runCompany } from "../sync/run/jobs.ts";
import { exitCodeOf, messageFor } from "../sync/run/report.ts";
import { runOneCompany } from "../sync/run/run.ts";
import type { Attempt, RunDefaults, RunTools } from "../sync/run/run_order.ts";
import type { CompanyOutcome } from "../sync/run/streams.ts";
import { backfillStream } from "../sync/stream/backfill.ts";
import type { Destination } from "../warehouse/destination.ts";
import { streamRunsOf } from "../warehouse/state/run_log.ts";
import { type CompanyData, companyData, orderOfRun } from "./job_data.ts";
import type { Claim, JobQueue } from "./queue.ts";

/** What a job is done with. */
export interface JobTools {
  readonly queue: JobQueue;
  readonly config: Config;
  readonly defaults: RunDefaults;
  readonly run: RunTools;
  readonly claim: Pick<Claim, "retryCount" | "blockedSince">;
}

/** How long a job waits for a lock before it makes its place free for another: a backfill looks every two seconds whether it is awaited. */
const PATIENCE_MS = 5_000;

/** The job goes back to the queue: another run holds what it needs, or waits for what it has. */
export class PostponedError extends Error {
  /** Since when it can't go on, ms since 1970; undefined: it could. */
  readonly blockedSince: number | undefined;

  constructor(reason: string, blockedSince?: number) {
    super(reason);
    this.blockedSince = blockedSince;
  }
}

/** Works on a company of a run. @throws PostponedError; DestinationError, LockedError where another try may go better; ConfigError */
export async function workOnCompanyJob(
  data: CompanyData,
  attempt: Attempt,
  { queue, config, defaults, run, claim }: JobTools,
): Promise<CompanyOutcome> {
  const order = orderOfRun(data, config, defaults, claim.retryCount > 0);
  const isAwaited = async (destination?: Destination) =>
    (await isDue(queue, data)) || (await destination?.isWanted()) === true;
  const giving = data.backfill && givingWay(data.backfill, run.clock, isAwaited);
  if (giving !== undefined && (await isAwaited())) throw new PostponedError("what is due goes first");
  const now = run.clock.now();
  const { blockedSince = now } = claim;
  // A backfill that has let another run go first waits for its end.
  const waitMs = giving !== undefined && claim.retryCount > 0 ? Math.max(data.waitMs, LONGEST_TURN_MS) : data.waitMs;
  const leftMs = blockedSince + waitMs - now;
  const limits = { ...order.limits, waitMs: Math.min(Math.max(0, leftMs), PATIENCE_MS) };
  try {
    if (giving === undefined) return await runOneCompany({ ...order, limits, source: fromService }, run, attempt);
    const { wanted, end: _, ...way } = giving;
    const source: RunSource = {
      ...{ ...way, asksService: true },
      async begin(destination, companies, catalogue) {
        // What this run has begun to load is gone on with.
        const rows = await streamRunsOf(destination.db, data.runId);
        return way.begin(
          destination,
          companies,
          catalogue,
          rows.some(({ company }) => company === data.company),
        );
      },
      runCompany: (context, service, company) => runCompany(context, service, { ...company, work: backfillStream }),
    };
    const signal = AbortSignal.any([run.signal, wanted]);
    const outcome = await runOneCompany({ ...order, limits, source }, { ...run, signal }, attempt);
    const isLeft = outcome.streams.some(each => each.run.status === "stopped" || each.run.status === "skipped");
    if (isLeft && wanted.aborted && !run.signal.aborted) throw new PostponedError("another run waits for the company");
    return outcome;
  } catch (error) {
    if (!(error instanceof LockedError)) throw error;
    if (error.runId === data.runId || leftMs > 0) throw new PostponedError(error.message, blockedSince);
    const failure = redactMessage(messageFor(error), run.redact);
    return { warnings: [], streams: [], failures: [{ ...failure, exitCode: exitCodeOf([error]), ends: "company" }] };
  } finally {
    giving?.end();
  }
}

/** Whether the queue has what is due of the same company, or of one with the same key. */
async function isDue(queue: JobQueue, { runId, company, keyLock }: CompanyData): Promise<boolean> {
  const open = (await queue.open("companies")).map(({ data }) => companyData.parse(data));
  return open.some(
    other =>
      other.runId !== runId && other.backfill === undefined && (other.company === company || other.keyLock === keyLock),
  );
}
