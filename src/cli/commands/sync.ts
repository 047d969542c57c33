import type { Command } from "commander";
import type { Config } from "../../config/config.ts";
import { isServer } from "../../config/destination.ts";
import type { RunOrder, RunTools } from "../../sync/run/run_order.ts";
import type { CliContext } from "../invocation/context.ts";
import { attachOptions, type CommonOptions, examples, runOptions, streamsArgument } from "../invocation/options.ts";
import { runDefaults } from "../invocation/run_defaults.ts";

interface SyncOptions extends CommonOptions {
  readonly full?: true;
  readonly details?: true;
  readonly resume?: true;
  readonly confirmDeletes?: true;
}

/** `sync`: one incremental run. */
export function registerSync(program: Command, context: CliContext): void {
  const command = program
    .command("sync")
    .addArgument(streamsArgument())
    .description("Bring the tables up to date: read what is new or changed, store it, publish it.")
    .option("--full", "read lists and feeds whole, whatever the high-water marks say")
    .option("--details", "fetch the details of all rows again, unchanged ones too")
    .option("--resume", "let --full and --details go on with what a stopped run began; without them a run always does")
    .option("--confirm-deletes", "read lists and feeds whole, and accept the deletions that were held back");
  attachOptions(command, ...runOptions)
    .addHelpText(
      "after",
      examples(
        "tributary sync",
        "tributary sync purchase_orders purchase_order_details",
        "tributary sync 'invoice*' --full",
        "tributary sync --full --resume --max-time 1h",
        "tributary sync --max-time 4h --wait 30m --json",
      ),
    )
    .action((names: string[], options: SyncOptions) => sync(names, options, context));
}

async function sync(names: readonly string[], options: SyncOptions, context: CliContext): Promise<void> {
  const { config, warnings } = await context.openConfig(options);
  const { terminalRun } = await import("../invocation/run_tools.ts");
  const { tools, finish } = await terminalRun(context, options);
  try {
    for (const warning of warnings) tools.log.warn({}, warning);
    const order = await runOrder(names, options, config);
    if (options.dryRun) return await dryRun(order, tools, options, context);
    const { runAttempts } = await import("../../sync/run/attempts.ts");
    const report = await runAttempts(order, tools);
    finish();
    context.exit(report.exit_code);
    if (options.json) return context.printJson(report);
    const { syncReport } = await import("../terminal/sync_report.ts");
    context.print(syncReport(report, whereToRead(config)));
  } finally {
    finish();
  }
}

async function dryRun(order: RunOrder, tools: RunTools, options: SyncOptions, context: CliContext): Promise<void> {
  const { companiesOf } = await import("../../sync/run/run.ts");
  const { estimateSync } = await import("../../operations/estimate/estimate.ts");
  const { version, limits } = order;
  const companies = companiesOf(order.config, order.selection.company);
  const estimate = await estimateSync(order, companies, { ...tools, version, maxRequests: limits.maxRequests });
  if (options.json) return context.printJson(estimate);
  const { estimateReport } = await import("../terminal/sync_estimate.ts");
  context.print(estimateReport(estimate));
}

async function runOrder(names: readonly string[], options: SyncOptions, config: Config): Promise<RunOrder> {
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
    limits: { maxTimeMs: options.maxTime, maxRequests: options.maxRequests, waitMs: options.wait },
  };
}

/** Where the tables are, in a sentence. */
export function whereToRead({ destination }: Config): string {
  const { schema } = destination;
  if (isServer(destination)) return `Readers find the tables in schema ${schema}.`;
  return `Readers find the tables in ${destination.path}, schema ${schema}: duckdb -readonly ${destination.path}`;
}
