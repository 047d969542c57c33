import { selectedByConfig, withDetails } from "../../config/selection.ts";
import { ConfigError } from "../../errors.ts";
import { asDue } from "../../sync/context.ts";
import { runAttempts } from "../../sync/run/attempts.ts";
import { type RunSource, runCompany } from "../../sync/run/jobs.ts";
import type { RunReport } from "../../sync/run/run.ts";
import type { RunOrder, RunTools } from "../../sync/run/run_order.ts";
import type { StreamWork } from "../../sync/stream/sync_stream.ts";
import { replayMessages } from "./messages.ts";
import { replayRejects } from "./rejects.ts";
import { replayCompany } from "./rounds.ts";
import type { Span } from "./scan_choice.ts";

export interface ReplayOrder extends Omit<RunOrder, "refresh" | "source"> {
  /** What was read then; all that is worth it where neither end is given. */
  readonly span: Span;
  /** Not the archive: the rows that could not be stored are tried again. */
  readonly rejects: boolean;
}

/** Loads streams again from what is at hand, without a request. @throws ConfigError where there is no archive */
export async function runReplay(order: ReplayOrder, tools: RunTools): Promise<RunReport> {
  const { span: _span, rejects, ...rest } = order;
  const { names: named, company } = order.selection;
  const on = selectedByConfig(order.catalogue, order.config.streams);
  const names = withDetails(order.catalogue, on, named);
  const source = rejects ? fromRejects : fromArchive(order);
  return runAttempts({ ...rest, selection: { names, named, company }, refresh: asDue, source }, tools);
}

function fromArchive({ config, span }: ReplayOrder): RunSource {
  const { archive } = config;
  if (archive === undefined) throw new ConfigError(replayMessages.no_archive());
  const from = { root: archive.path, span };
  return { ...atHand, runCompany: (context, service, run) => replayCompany(context, service, run, from) };
}

const atHand = { asksService: false, givesWay: false };

const fromRejects: RunSource = {
  ...atHand,
  runCompany: (context, service, run) => runCompany(context, service, { ...run, work: loadRejects }),
};

const loadRejects: StreamWork = async sync => {
  await replayRejects(sync);
  // A list without rejects is no reason to leave its details' alone.
  sync.progress.published = true;
};
