import { Argument } from "commander";
import { ConfigError } from "../../errors.ts";
import { codeOf } from "../../files.ts";
import { textsOf } from "../../message.ts";
import { checkLines } from "../commands/check.ts";
import { type CliContext, writePiece } from "../invocation/context.ts";
import { failureOf } from "../invocation/failure.ts";
import { defined } from "../invocation/options.ts";
import { protocolMessages } from "./messages.ts";
import {
  configuredTables,
  fileText,
  type ProtocolOptions,
  presentTables,
  protocolOptions,
  readAfterSync,
} from "./protocol_read.ts";

const calls = {
  spec: async (_: ProtocolOptions, context: CliContext) =>
    writePiece(context, (await import("../../operations/changes/airbyte.ts")).specMessage()),
  ...{ check, discover, read },
};

const own = protocolOptions(
  "the configured catalog: which tables are read, and how",
  "the states of the last read; without them everything is read",
);

export const register = defined({
  arguments: [new Argument("<call>", "what the protocol calls").choices(Object.keys(calls))],
  description:
    "A source for Airbyte and PyAirbyte: tables are streams, and a read runs a sync first. Writes a message of Airbyte's protocol a line.",
  options: [own, "config", "max_time", "max_requests", "wait", "log_level"],
  examples: [
    "tributary airbyte spec",
    "tributary airbyte check --config config.json",
    "tributary airbyte read --config config.json --catalog catalog.json --state state.json",
  ],
  notes: "\nThe configuration is config.yaml, in JSON where a platform writes it. docs/platforms.md says more.",
  run: answer,
});

/** Whatever is said is a message, failures too. */
async function answer(call: keyof typeof calls, options: ProtocolOptions, context: CliContext): Promise<void> {
  const { errorMessage, logMessage } = await import("../../operations/changes/airbyte.ts");
  const { createLogger } = await import("../../logging.ts");
  const sink = { write: (text: string) => void context.stdout.write(logMessage(text)) };
  const openLog: CliContext["openLog"] = async level => createLogger(level, sink, context.redact);
  try {
    await calls[call]({ ...options, progress: false }, { ...context, openLog });
  } catch (error) {
    // Its reader has stopped.
    if (codeOf(error) === "EPIPE") return;
    const {
      failure: { message },
      exitCode,
      stack,
    } = failureOf(error);
    const { redact, clock } = context;
    await writePiece(context, errorMessage(redact(message), exitCode, clock.now(), stack && redact(stack)));
    context.exit(exitCode);
  }
}

async function check(options: ProtocolOptions, context: CliContext): Promise<void> {
  const { statusMessage } = await import("../../operations/changes/airbyte.ts");
  const failures: string[] = [];
  for await (const { level, name, message, advice } of checkLines(options, context))
    if (level === "fail") failures.push(`${name}: ${message}${advice === null ? "" : ` ${advice}`}`);
  await writePiece(context, statusMessage(failures.length === 0 ? undefined : context.redact(failures.join("\n"))));
}

async function discover(options: ProtocolOptions, context: CliContext): Promise<void> {
  const { catalogMessage } = await import("../../operations/changes/airbyte.ts");
  const loaded = await context.openConfig(options, { local: true });
  const { on } = await configuredTables(loaded);
  await writePiece(context, catalogMessage((await presentTables(loaded, { tables: on })) ?? on));
}

async function read(options: ProtocolOptions, context: CliContext): Promise<void> {
  const { errorMessage, readConfigured } = await import("../../operations/changes/airbyte.ts");
  const [catalog, state] = [await fileText(options.catalog), await fileText(options.state)];
  if (catalog === undefined) throw new ConfigError(protocolMessages.read_without_catalog());
  const loaded = await context.openConfig(options, options.sync ? undefined : { local: true });
  const { planned } = await configuredTables(loaded);
  const asked = readConfigured(planned, { catalog, state }, context.clock.now);
  const report = await readAfterSync(asked, { loaded, options }, context);
  const { errors = [], exit_code: exitCode = 0 } = report ?? {};
  if (exitCode !== 0)
    await writePiece(context, errorMessage(textsOf(errors).join("\n"), exitCode, context.clock.now()));
}
