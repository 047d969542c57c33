import type { Command } from "commander";
import type { Config } from "../../config/config.ts";
import { isServer } from "../../config/destination.ts";
import type { RunReport } from "../../sync/run/report.ts";
import type { RunOrder, RunTools } from "../../sync/run/run_order.ts";
import type { CliContext } from "../invocation/context.ts";
import { attachOptions, type CommonOptions, limitsOf, runOptions, streamsArgument } from "../invocation/options.ts";
import { runDefaults } from "../invocation/run_defaults.ts";
import type { Outcome } from "../invocation/run_tools.ts";

interface SyncOptions extends CommonOptions {
  readonly full?: true;
  readonly details?: true;
  readonly resume?: true;
  readonly confirmDeletes?: true;
}

export function register(program: Command, context: CliContext): void {
  const command = program
    .command("sync")
    .addArgument(streamsArgument())
    .description("Bring the tables up to date: read what is new or changed, store it, publish it.")
    .option("--full", "read lists and feeds whole, whatever the high-water marks say")
    .option("--details", "fetch the details of all rows again, unchanged ones too")
    .option("--resume", "let --full and --details go on with what a stopped run began; without them a run always does")
    .option("--confirm-deletes", "read lists and feeds whole, and accept the deletions that were held back");
  attachOptions(
    command,
    runOptions,
    "tributary sync",
    "tributary sync purchase_orders purchase_order_details",
    "tributary sync 'invoice*' --full",
    "tributary sync --full --resume --max-time 1h",
    "tributary sync --max-time 4h --wait 30m --json",
  ).action((names: string[], options: SyncOptions) => sync(names, options, context));
}

async function sync(names: readonly string[], options: SyncOptions, context: CliContext): Promise<void> {
  const { config, warnings } = await context.openConfig(options);
  const { runOnTerminal } = await import("../invocation/run_tools.ts");
  await runOnTerminal(context, options, warnings, async tools => {
    const order = await syncOrder(names, options, config);
    if (options.dryRun) return dryRun(order, tools);
    const { runAttempts } = await import("../../sync/run/attempts.ts");
    return runOutcome(await runAttempts(order, tools), config);
  });
}

async function dryRun(order: RunOrder, tools: RunTools): Promise<Outcome> {
  const { companiesOf } = await import("../../sync/run/run.ts");
  const { estimateSync } = await import("../../operations/estimate/estimate.ts");
  const { estimateReport } = await import("../terminal/sync_estimate.ts");
  const { version, limits } = order;
  const companies = companiesOf(order.config, order.selection.company);
  const estimate = await estimateSync(order, companies, { ...tools, version, maxRequests: limits.maxRequests });
  return { document: estimate, text: () => estimateReport(estimate) };
}

/** What a run did; `command` goes on after a stop. */
export async function runOutcome(report: RunReport, config: Config, command?: string): Promise<Outcome> {
  const { syncReport } = await import("../terminal/sync_report.ts");
  return { document: report, text: () => syncReport(report, whereToRead(config), command) };
}

export async function syncOrder(names: readonly string[], options: SyncOptions, config: Config): Promise<RunOrder> {
  return {
    ...(await runDefaults()),
    command: "tributary sync",
    config,
    selection: { names, company: options.company },
    refresh: {
      full: options.full ?? false,
      allDetails: options.details ?? false,
      resume: options.resume ?? false,
      confirmDeletes: options.confirmDeletes ?? false,
    },
    limits: limitsOf(options),
  };
}

/** Where the tables are, in a sentence. */
function whereToRead({ destination }: Config): string {
  const { schema } = destination;
  if (isServer(destination)) return `Readers find the tables in schema ${schema}.`;
  return `Readers find the tables in ${destination.path}, schema ${schema}: duckdb -readonly ${destination.path}`;
}
