import { runDefaults } from "../../library/connector.ts";
import type { VerifyOrder } from "../../operations/verify/verify.ts";
import { whole } from "../../options/fields.ts";
import { flag, type Given, required } from "../../options/options.ts";
import type { CliContext } from "../invocation/context.ts";
import { type CommonOptions, defined, limitsOf, runOptions, streamsArgument } from "../invocation/options.ts";

const own = {
  sample: required(whole(0).default(200), "how many details of each kind to ask for", "<n>"),
  all: flag("ask for all details", { conflicts: ["sample"] }),
};

type VerifyOptions = CommonOptions & Given<typeof own>;

export const register = defined({
  arguments: [streamsArgument()],
  description:
    "Read streams once more and compare every field with the warehouse: lists whole, details by a sample of their own paths. Changes that the service made since the load are counted apart from errors. Changes no table, and stores the result in _tributary.verifications. Exit code 1: there are differences, something could not be compared, or not one row was equal, as the service has changed all.",
  options: [own, ...runOptions.filter(each => each !== "dry_run")],
  examples: [
    "tributary verify",
    "tributary verify purchase_orders purchase_order_details --sample 50",
    "tributary verify 'invoice*' --all --max-requests 5000",
    "tributary verify --json | jq '.differences[] | select(.kind != \"changed_since\")'",
  ],
  run: verify,
});

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
