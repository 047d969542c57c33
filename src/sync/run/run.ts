import type { Company, Config } from "../../config/config.ts";
import { select, selectedByConfig } from "../../config/selection.ts";
import { configuredCauses } from "../../config/settings.ts";
import { ConfigError } from "../../errors.ts";
import { privacyOf } from "../../privacy/apply_policy.ts";
import { configured, withKeys } from "../../privacy/configured_catalog.ts";
import type { Destination } from "../../warehouse/destination.ts";
import { COUNTERS, hasBegun, type StreamRun, streamRunsOf } from "../../warehouse/state/run_log.ts";
import { written } from "../../warehouse/state_columns.ts";
import { isWorkedOn } from "../context.ts";
import { StreamProgress } from "../stream_progress.ts";
import { reportOf } from "./conclusion.ts";
import { fromService } from "./jobs.ts";
import { runMessages } from "./messages.ts";
import { type PlannedRun, RunResources, runLockOf } from "./opening.ts";
import { joinRun, lockCompany, prepareRun } from "./preparation.ts";
import type { Job, RunReport } from "./report.ts";
import type { Attempt, RunOrder, RunTools } from "./run_order.ts";
import { createSharedClients, type Service } from "./service.ts";
import { type CompanyOutcome, workOnOneCompany, workOnStreams } from "./streams.ts";

export type { RunReport, RunView } from "./report.ts";

/** One run. Failures of streams are kept apart and reported; thrown is only what kept the run from beginning. */
export async function runSync(order: RunOrder, tools: RunTools, attempt?: Attempt): Promise<RunReport> {
  const plan = planRun(order, tools, attempt);
  const resources = new RunResources(plan);
  try {
    const { destination, look, services } = await resources.open();
    const jobs = jobsOf(plan, services);
    const isLoaded = look.facts !== undefined;
    if (services.every(({ failure }) => failure !== undefined) && !isLoaded) return refused(plan, services, jobs);
    if (order.refresh.only !== undefined && !isLoaded) throw new ConfigError(runMessages.nothing_loaded());
    const isResumed = order.begun !== undefined && (await hasBegun(destination, plan.runId));
    const opened = { plan, destination, look, services, jobs };
    const prepared = await prepareRun(opened);
    if (plan.source.isShared === true) {
      await destination.unlock();
      await destination.lock(...runLockOf(plan.runId), order.limits.waitMs);
    }
    plan.source.underWay?.(destination);
    const { archives } = resources;
    const run = { ...opened, archives, isResumed, ...prepared };
    return await workOnStreams(run, resources.beginStreams());
  } finally {
    await resources.close();
  }
}

/**
 * The streams of one company, for a run that another process conducts. Failures of streams, and of the company, are in the
 * outcome. @throws what another try may mend; ConfigError where this process is not fit for the run
 */
export async function runOneCompany(order: RunOrder, tools: RunTools, attempt: Attempt): Promise<CompanyOutcome> {
  const plan = planRun(order, tools, attempt);
  const resources = new RunResources(plan);
  try {
    const { destination, look, services } = await resources.open(opened => lockCompany(plan, opened));
    const opened = { plan, destination, look, services, jobs: jobsOf(plan, services) };
    const prepared = await joinRun(opened);
    if (order.begun?.isRetry === true) await takeOverDone(destination, plan.runId, prepared.jobs);
    plan.source.underWay?.(destination);
    const { archives } = resources;
    return await workOnOneCompany({ ...opened, archives, ...prepared }, resources.beginStreams());
  } finally {
    await resources.close();
  }
}

/** Streams that an attempt before has done are not worked on again; what it counted of others is added to. A stream's last row is written after all else that it did. */
async function takeOverDone(destination: Destination, runId: string, jobs: readonly Job[]): Promise<void> {
  const rows = await streamRunsOf(destination.db, runId);
  for (const { company, stream, progress } of jobs) {
    const row = rows.find(each => each.company === company && each.stream === stream.name);
    if (row === undefined) continue;
    const { run_id: _run, company: _company, stream: _stream, recent: _recent, status, ...counts } = row;
    if (status === "succeeded" || status === "warning") {
      const run: StreamRun = { ...written(counts), status };
      progress.takeOver({ ...new StreamProgress(run.started_at).outcome(), run, published: true });
    } else for (const name of COUNTERS) progress.run[name] = counts[name];
  }
}

/** What the order means by the configuration, before anything is opened. @throws ConfigError */
function planRun(order: RunOrder, tools: RunTools, attempt: Attempt | undefined): PlannedRun {
  const { config, selection, source = fromService } = order;
  const { startedAt, runId } = order.begun ?? beginNow(tools);
  attempt?.start(runId);
  const companies = companiesOf(config, selection.company);
  const all = configured(order.catalogue, config);
  const on = selectedByConfig(all, config.streams);
  const { streams: selected } = select(all, on, selection.names, config.streams.settings);
  return {
    ...{ order, tools, attempt, runId, startedAt, companies, source },
    causes: configuredCauses(all, order.relations(all), config.streams.settings),
    streams: { all, on, selected },
    privacy: privacyOf(withKeys(order.catalogue, config.streams.settings), config.privacy),
    sharedClients: attempt?.sharedClients ?? createSharedClients(config.api, tools.clock),
  };
}

/** Whether streams have their rows already is known of a run that this process begins. */
const jobsOf = (
  { order, streams, startedAt }: PlannedRun,
  services: readonly Service[],
  isNew = order.begun === undefined,
): readonly Job[] =>
  services.flatMap(({ company }) =>
    streams.selected
      .filter(stream => isWorkedOn(order.refresh, stream))
      .map(stream => ({ company: company.name, stream, progress: new StreamProgress(startedAt, isNew) })),
  );

/** Nothing can be read, and nothing has been loaded yet: no empty warehouse is left behind. */
function refused(plan: PlannedRun, services: readonly Service[], jobs: readonly Job[]): RunReport {
  const failures = services.flatMap(service => service.failure ?? []);
  for (const { progress } of jobs) progress.run.status = "skipped";
  return reportOf({ ...plan, jobs }, failures, [], new Date(plan.tools.clock.now()).toISOString());
}

export function beginNow({ clock, random }: Pick<RunTools, "clock" | "random">): NonNullable<RunOrder["begun"]> {
  const startedAt = new Date(clock.now()).toISOString();
  return { startedAt, runId: newRunId(startedAt, random) };
}

/** Sortable by time, unique by chance. */
export function newRunId(startedAt: string, random: () => number): string {
  const chance = Math.floor(random() * 0x1_0000_0000)
    .toString(16)
    .padStart(8, "0");
  return `${startedAt.replace(/[-:]/g, "").slice(0, 15)}-${chance}`;
}

/** The companies a run works for. @throws ConfigError for one that the config doesn't have */
export function companiesOf(config: Config, wanted: string | undefined): readonly Company[] {
  if (wanted === undefined) return config.companies;
  const chosen = config.companies.filter(company => company.name === wanted);
  if (chosen.length > 0) return chosen;
  const companies = config.companies.map(company => company.name);
  throw new ConfigError(runMessages.unknown_company({ companies, got: wanted }));
}
