import type { Command } from "commander";
import type { CliContext } from "./context.ts";
import { attachOptions, type CommonOptions, examples } from "./options.ts";

/** `status`: last and running run, freshness, row counts. */
export function registerStatus(program: Command, context: CliContext): void {
  const command = program
    .command("status")
    .description(
      "Show the last and the running run, and of every stream how fresh it is, its rows and its problems. Never waits for a run.",
    );
  attachOptions(command, "company", "config", "json", "logLevel")
    .addHelpText(
      "after",
      examples("tributary status", "tributary status --json | jq '.streams[] | {stream, complete_to}'"),
    )
    .action((options: CommonOptions) => status(options, context));
}

async function status(options: CommonOptions, context: CliContext): Promise<void> {
  const { config } = await context.openConfig(options);
  const { readStatus } = await import("../status.ts");
  const { companiesOf } = await import("../run.ts");
  const { streams } = await import("../../streams/index.ts");
  companiesOf(config, options.company);
  const found = await readStatus(config, streams, options.company);
  if (options.json) return context.printJson(found);
  const { statusReport } = await import("./status_report.ts");
  context.print(statusReport(found, context.now()));
}
