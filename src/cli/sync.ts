import type { Command } from "commander";
import type { Config } from "../config.ts";
import type { RunOrder } from "../run.ts";
import type { CliContext } from "./context.ts";
import { attachOptions, type CommonOptions, examples } from "./options.ts";
import { packageVersion } from "./package_root.ts";

interface SyncOptions extends CommonOptions {
  readonly full?: true;
  readonly details?: true;
  readonly confirmDeletes?: true;
}

/** `sync`: one incremental run. */
export function registerSync(program: Command, context: CliContext): void {
  const command = program
    .command("sync")
    .argument(
      "[stream...]",
      "names, patterns such as 'invoice_*', presets such as preset:standard (default: all that are on)",
    )
    .description("Bring the tables up to date: read what is new or changed, store it, publish it.")
    .option("--full", "read lists and feeds whole, whatever the marks say")
    .option("--details", "fetch the details of all rows again, unchanged ones too")
    .option("--confirm-deletes", "accept once the deletions that were held back");
  attachOptions(command, "company", "config", "json", "maxTime", "maxRequests", "wait", "logLevel", "noProgress")
    .addHelpText(
      "after",
      examples(
        "tributary sync",
        "tributary sync purchase_orders purchase_order_details",
        "tributary sync 'invoice*' --full",
        "tributary sync --max-time 4h --wait 30m --json",
      ),
    )
    .action((names: string[], options: SyncOptions) => sync(names, options, context));
}

async function sync(names: readonly string[], options: SyncOptions, context: CliContext): Promise<void> {
  const { config, warnings } = await context.openConfig(options);
  const { terminalRun } = await import("./run_tools.ts");
  const { runSync } = await import("../run.ts");
  const { streams } = await import("../../streams/index.ts");
  const { identityEndpoint } = await import("../../streams/identity.ts");
  const { tools, finish } = await terminalRun(context, options);
  try {
    for (const warning of warnings) tools.log.warn({}, warning);
    const report = await runSync(
      { ...runOrder(names, options, config), catalogue: streams, identity: identityEndpoint },
      tools,
    );
    finish();
    context.exit(report.exit_code);
    if (options.json) return context.printJson(report);
    const { syncReport } = await import("./sync_report.ts");
    context.print(syncReport(report, whereToRead(config)));
  } finally {
    finish();
  }
}

function runOrder(
  names: readonly string[],
  options: SyncOptions,
  config: Config,
): Omit<RunOrder, "catalogue" | "identity"> {
  return {
    command: "tributary sync",
    version: packageVersion(),
    config,
    names,
    company: options.company,
    full: options.full ?? false,
    allDetails: options.details ?? false,
    confirmDeletes: options.confirmDeletes ?? false,
    maxTimeMs: options.maxTime,
    maxRequests: options.maxRequests,
    waitMs: options.wait,
  };
}

function whereToRead({ destination }: Config): string {
  const { schema } = destination;
  if (destination.type === "postgres") return `Readers find the tables in schema ${schema}.`;
  return `Readers find the tables in ${destination.path}, schema ${schema}: duckdb -readonly ${destination.path}`;
}
