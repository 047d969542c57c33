import { type Command, Option } from "commander";
import { runDefaults } from "../../library/connector.ts";
import type { VerifyOrder } from "../../operations/verify/verify.ts";
import type { CliContext } from "../invocation/context.ts";
import {
  attachOptions,
  type CommonOptions,
  limitsOf,
  runOptions,
  streamsArgument,
  whole,
} from "../invocation/options.ts";

interface VerifyOptions extends CommonOptions {
  readonly sample: number;
  readonly all?: true;
}

/** Details of each kind that are asked for unless it is said otherwise. */
const SAMPLE = 200;

export function register(command: Command, context: CliContext): void {
  command
    .addArgument(streamsArgument())
    .description(
      "Read streams once more and compare every field with the warehouse: lists whole, details by a sample of their own paths. What the service has changed since it was loaded is told apart from what is wrong. Changes no table; the result is kept in _tributary.verifications. Exit code 1: there are differences, something could not be compared, or not one row was equal, as the service has changed all.",
    )
    .option("--sample <n>", "how many details of each kind to ask for", whole(0), SAMPLE)
    .addOption(new Option("--all", "ask for all details").conflicts("sample"));
  attachOptions(
    command,
    runOptions.filter(option => option !== "dryRun"),
    "tributary verify",
    "tributary verify purchase_orders purchase_order_details --sample 50",
    "tributary verify 'invoice*' --all --max-requests 5000",
    "tributary verify --json | jq '.differences[] | select(.kind != \"changed_since\")'",
  ).action((names: string[], options: VerifyOptions) => verify(names, options, context));
}

async function verify(names: readonly string[], options: VerifyOptions, context: CliContext): Promise<void> {
  const { config, warnings } = await context.openConfig(options);
  const { runOnTerminal } = await import("../invocation/run_tools.ts");
  await runOnTerminal(context, options, warnings, async tools => {
    const order: VerifyOrder = {
      ...(await runDefaults()),
      ...limitsOf(options),
      ...{ config, names, company: options.company },
      sample: options.all ? undefined : options.sample,
    };
    const { verifyReport } = await import("../terminal/verify_report.ts");
    const { verify: compare } = await import("../../operations/verify/verify.ts");
    const report = await compare(order, tools);
    return { document: report, text: look => verifyReport(report, config.destination.stateSchema, look) };
  });
}
