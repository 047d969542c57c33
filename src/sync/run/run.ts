import type { Company, Config } from "../../config/config.ts";
import { select, selectedByConfig } from "../../config/selection.ts";
import { ConfigError } from "../../errors.ts";
import { privacyOf } from "../../privacy/apply_policy.ts";
import { configured } from "../../privacy/configured_catalog.ts";
import { hasState } from "../../warehouse/ddl/present_tables.ts";
import { StreamProgress } from "../stream_progress.ts";
import { reportOf } from "./conclusion.ts";
import { fromService } from "./jobs.ts";
import { type PlannedRun, RunResources } from "./opening.ts";
import { prepareRun } from "./preparation.ts";
import type { Job, RunReport } from "./report.ts";
import type { Attempt, RunOrder, RunTools } from "./run_order.ts";
import { createSharedClients, type Service } from "./service.ts";
import { workOnStreams } from "./streams.ts";

export type { RunReport, RunView } from "./report.ts";

/** One run. Failures of streams are kept apart and reported; thrown is only what kept the run from beginning. */
export async function runSync(order: RunOrder, tools: RunTools, attempt?: Attempt): Promise<RunReport> {
  const plan = planRun(order, tools, attempt);
  const resources = new RunResources(plan);
  try {
    const { destination, services } = await resources.open();
    const jobs = jobsOf(plan, services);
    if (services.every(({ failure }) => failure !== undefined) && !(await hasState(destination)))
      return refused(plan, services, jobs);
    const prepared = await prepareRun({ plan, destination, services, jobs });
    const { archives } = resources;
    return await workOnStreams({ plan, destination, services, archives, ...prepared }, resources.beginStreams());
  } finally {
    await resources.close();
  }
}

/** What the order means by the configuration, before anything is opened. @throws ConfigError */
function planRun(order: RunOrder, tools: RunTools, attempt: Attempt | undefined): PlannedRun {
  const { config, selection, source = fromService } = order;
  const startedAt = new Date(tools.clock.now()).toISOString();
  const runId = newRunId(startedAt, tools.random);
  attempt?.start(runId);
  const companies = companiesOf(config, selection.company);
  const all = configured(order.catalogue, config);
  const on = selectedByConfig(all, config.streams);
  const { streams: selected } = select(all, on, selection.names, config.streams.settings);
  return {
    ...{ order, tools, attempt, runId, startedAt, companies, source },
    streams: { all, on, selected },
    privacy: privacyOf(order.catalogue, config.privacy),
    sharedClients: attempt?.sharedClients ?? createSharedClients(config.api, tools.clock),
  };
}

const jobsOf = ({ streams, startedAt }: PlannedRun, services: readonly Service[]): readonly Job[] =>
  services.flatMap(({ company }) =>
    streams.selected.map(stream => ({ company: company.name, stream, progress: new StreamProgress(startedAt) })),
  );

/** Nothing can be read, and nothing has been loaded yet: no empty warehouse is left behind. */
function refused(plan: PlannedRun, services: readonly Service[], jobs: readonly Job[]): RunReport {
  const failures = services.flatMap(service => service.failure ?? []);
  for (const { progress } of jobs) progress.run.status = "skipped";
  return reportOf({ ...plan, jobs }, failures, [], new Date(plan.tools.clock.now()).toISOString());
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
  throw new ConfigError(
    `--company: expected one of ${config.companies.map(company => company.name).join(", ")}, got ${wanted}. Name one of them, or leave --company out for all.`,
  );
}
