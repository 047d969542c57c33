import type { Command } from "commander";
import type { CliContext } from "../invocation/context.ts";
import { attachOptions, type CommonOptions } from "../invocation/options.ts";

export function register(command: Command, context: CliContext): void {
  command.description(
    "Print the effective configuration: the file, with defaults and variables filled in and secrets masked.",
  );
  attachOptions(
    command,
    ["config", "json", "log"],
    "tributary config",
    "tributary config --json | jq .destination",
  ).action((options: CommonOptions) => printConfig(options, context));
}

async function printConfig(options: CommonOptions, context: CliContext): Promise<void> {
  const { effective, warnings, file } = await context.openConfig(options, { local: true });
  for (const warning of warnings) context.stderr.write(`${context.redact(warning.message)}\n`);
  if (options.json) return context.printJson(effective);
  const { stringify } = await import("yaml");
  const { redactJson } = await import("../../secrets.ts");
  const masked = redactJson(effective, context.redact);
  context.printWhole(`# ${file}, with defaults filled in\n${stringify(masked, { lineWidth: 0 }).trimEnd()}`);
}
