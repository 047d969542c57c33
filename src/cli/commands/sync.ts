import type { Config } from "../../config/config.ts";
import { isFile } from "../../config/destination.ts";
import type { LoadedConfig } from "../../config/load.ts";
import { entryAt } from "../../files.ts";
import type { OpenWarehouse } from "../../library/warehouse.ts";
import { type Given, programRules, syncFlags, syncOptions } from "../../options/options.ts";
import type { RunReport } from "../../sync/run/report.ts";
import type { RunOrder, RunTools } from "../../sync/run/run_order.ts";
import type { CliContext } from "../invocation/context.ts";
import { type CommonOptions, defined, runOptions, streamsArgument } from "../invocation/options.ts";
import { type Outcome, runOnTerminal, tellErrors, withRunTools } from "../invocation/run_tools.ts";
import { inShell } from "../terminal/look.ts";

type SyncOptions = CommonOptions & Given<typeof syncFlags>;

export const register = defined({
  arguments: [streamsArgument()],
  description: "Bring the tables up to date: read what is new or changed, store it, publish it.",
  options: [syncFlags, ...runOptions],
  examples: [
    "tributary sync",
    "tributary sync purchase_orders purchase_order_details",
    "tributary sync 'invoice*' --full",
    "tributary sync --full --resume --max-time 1h",
    "tributary sync --max-time 4h --wait 30m --json",
  ],
  run: sync,
});

async function sync(streams: readonly string[], options: SyncOptions, context: CliContext): Promise<void> {
  const loaded = await context.openConfig(options);
  const { OpenWarehouse } = await import("../../library/warehouse.ts");
  const { sync: run, syncOrder } = await import("../../library/sync.ts");
  await runOnTerminal(context, options, loaded.warnings, async tools => {
    const warehouse = new OpenWarehouse(loaded, tools);
    const wanted = { ...syncOptionsOf(streams, options), signal: tools.signal, watch: tools.watch };
    if (options.dryRun) return dryRun(await syncOrder(warehouse, wanted), tools, options);
    return runOutcome(await run(warehouse, wanted), loaded.config);
  });
}

/** The options of the command as those of the function. */
const syncOptionsOf = (streams: readonly string[], options: SyncOptions) =>
  programRules(syncOptions)
    .strip()
    .parse({ ...options, streams });

/** The warehouse, after a sync of these streams where one is wanted, and what the sync did. */
export async function syncedWarehouse(
  loaded: LoadedConfig,
  streams: readonly string[],
  options: SyncOptions & { readonly sync: boolean },
  context: CliContext,
): Promise<{ readonly warehouse: OpenWarehouse; readonly report?: RunReport }> {
  const { OpenWarehouse } = await import("../../library/warehouse.ts");
  const { sync } = await import("../../library/sync.ts");
  return withRunTools(context, options, loaded.warnings, async tools => {
    const warehouse = new OpenWarehouse(loaded, tools);
    if (!options.sync) return { warehouse };
    const { signal, watch } = tools;
    const report = await sync(warehouse, { ...syncOptionsOf(streams, options), signal, watch });
    if (options.quiet) tellErrors(context, report.errors);
    else for (const error of report.errors) tools.log.warn(error);
    context.exit(report.exit_code);
    return { warehouse, report };
  });
}

/** What a run would request, in its place. */
export async function dryRun(order: RunOrder, tools: RunTools, { verbose }: CommonOptions): Promise<Outcome> {
  const { companiesOf } = await import("../../sync/run/run.ts");
  const { estimateSync } = await import("../../operations/estimate/estimate.ts");
  const { estimateReport } = await import("../terminal/sync_estimate.ts");
  const { version, limits } = order;
  const companies = companiesOf(order.config, order.selection.company);
  const estimate = await estimateSync(order, companies, { ...tools, version, maxRequests: limits.maxRequests });
  return { document: estimate, text: look => estimateReport(estimate, look, verbose) };
}

/** What a run did; `command` goes on after a stop. */
export async function runOutcome(report: RunReport, config: Config, command?: string): Promise<Outcome> {
  const { syncReport } = await import("../terminal/sync_report.ts");
  const readers = await whereToRead(config);
  return { document: report, text: (look, tookMs) => syncReport(report, readers, look, tookMs, command) };
}

/** Where the tables are, in a sentence; empty where no version could be published yet. */
async function whereToRead({ destination }: Config): Promise<string> {
  const { schema } = destination;
  if (!isFile(destination)) return `Readers find the tables in schema ${schema}: \`tributary query\``;
  if ((await entryAt(destination.path).catch(() => undefined)) === undefined) return "";
  return `Readers find the tables in ${destination.path}, schema ${schema}: \`duckdb -readonly ${inShell(destination.path)}\`, or \`tributary query\``;
}
