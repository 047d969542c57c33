import type { Command } from "commander";
import type { CliContext } from "../invocation/context.ts";
import { attachOptions, type CommonOptions } from "../invocation/options.ts";

export function register(command: Command, context: CliContext): void {
  command
    .argument("[streams...]", "streams of details, their lists, patterns or presets (default: all that are on)")
    .description(
      "Tell what the next run spends on details: which are due, how the looks at unchanged rows are divided, how many details have changed unseen and will have in a month, and whether `fresh` is kept. Asks the service for nothing, writes nothing, never waits for a run.",
    );
  attachOptions(
    command,
    ["company", "config", "json", "log"],
    "tributary plan",
    "tributary plan purchase_orders",
    "tributary plan --json | jq '.[] | {stream, expected_wrong, promise}'",
  ).action((names: readonly string[], options: CommonOptions) => plan(names, options, context));
}

async function plan(names: readonly string[], options: CommonOptions, context: CliContext): Promise<void> {
  const { config } = await context.openConfig(options, { local: true });
  const { streams } = await import("../../../streams/index.ts");
  const { readPlan } = await import("../../operations/plan.ts");
  const found = await readPlan(config, streams, { names, company: options.company }, context.clock);
  if (options.json) return context.printJson(found);
  const { planReport } = await import("../terminal/plan_report.ts");
  context.print(planReport(found, context.look()));
}
