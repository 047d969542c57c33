import type { CliContext } from "../invocation/context.ts";
import { type CommonOptions, defined } from "../invocation/options.ts";

export const register = defined({
  description: "Print the effective configuration: the file, with defaults and variables filled in and secrets masked.",
  options: ["config", "json", "log"],
  examples: ["tributary config", "tributary config --json | jq .destination"],
  run: printConfig,
});

async function printConfig(options: CommonOptions, context: CliContext): Promise<void> {
  const { effective, warnings, file } = await context.openConfig(options, { local: true });
  for (const warning of warnings) context.stderr.write(`${context.redact(warning.message)}\n`);
  if (options.json) return context.printJson(effective);
  const { stringify } = await import("yaml");
  const { redactJson } = await import("../../secrets.ts");
  const masked = redactJson(effective, context.redact);
  context.printWhole(`# ${file}, with defaults filled in\n${stringify(masked, { lineWidth: 0 }).trimEnd()}`);
}
