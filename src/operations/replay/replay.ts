import { selectedByConfig, withDetails } from "../../config/selection.ts";
import { ConfigError } from "../../errors.ts";
import { runAttempts } from "../../sync/run/attempts.ts";
import { runCompany } from "../../sync/run/jobs.ts";
import type { RunReport } from "../../sync/run/run.ts";
import type { RunOrder, RunTools } from "../../sync/run/run_order.ts";
import type { StreamWork } from "../../sync/stream/sync_stream.ts";
import { replayRejects } from "./rejects.ts";
import { replayCompany } from "./rounds.ts";
import type { Span } from "./scan_choice.ts";

/** A replay, as the command line asks for it. */
export interface ReplayOrder
  extends Omit<
    RunOrder,
    "full" | "allDetails" | "confirmDeletes" | "background" | "attempt" | "again" | "maxRequests"
  > {
  /** What was read then; all that is worth it where neither end is given. */
  readonly span: Span;
  /** Not the archive: the rows that could not be stored are tried again. */
  readonly rejects: boolean;
}

/** Loads streams again from what is at hand, without a request. @throws ConfigError where there is no archive */
export async function runReplay(order: ReplayOrder, tools: RunTools): Promise<RunReport> {
  const { span, rejects, ...rest } = order;
  const on = selectedByConfig(order.catalogue, order.config.streams);
  const names = withDetails(order.catalogue, on, order.names);
  const policy = { full: false, allDetails: false, confirmDeletes: false, maxRequests: undefined };
  return runAttempts(
    { ...rest, ...policy, names, named: order.names, again: rejects ? againRejects : againFrom(order) },
    tools,
  );
}

function againFrom({ config, span }: ReplayOrder): typeof runCompany {
  const { archive } = config;
  if (archive === undefined)
    throw new ConfigError(
      "replay: expected an archive to load from, but the configuration names none. Set archive.path; from then on answers are kept in it.",
    );
  return (context, service, run) => replayCompany(context, service, run, { root: archive.path, span });
}

const againRejects: typeof runCompany = (context, service, run) => {
  const work: StreamWork = async sync => {
    await replayRejects(sync);
    // A list without rejects is no reason to leave its details' alone.
    sync.progress.published = true;
  };
  return runCompany(context, service, { ...run, work });
};
