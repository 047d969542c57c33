import { CommanderError } from "commander";
import { type ExitCode, TributaryError } from "../../errors.ts";
import type { Message } from "../../message.ts";
import { redactMessage } from "../../secrets.ts";
import type { CliContext } from "./context.ts";
import { cliMessages } from "./messages.ts";

/** Tells what ended the command, redacted: a paragraph on stderr, or with --json one document on stdout. */
export function reportFailure(error: unknown, argv: readonly string[], context: CliContext): ExitCode {
  // Help and version end a command by an error, too.
  if (error instanceof CommanderError && error.exitCode === 0) return 0;
  const { failure, exitCode, stack } = failureOf(error);
  const { code, message, fields } = redactMessage(failure, context.redact);
  if (wantsJson(argv)) context.printJson({ ok: false, error: { code, message, fields, exit_code: exitCode } });
  else context.stderr.write(`${message}\n`);
  if (stack !== undefined && (exitCode === 70 || wantsStacks(argv))) {
    const shown = wantsStacks(argv) ? stack : "Run it again with --log-level debug to see where.";
    context.stderr.write(`${context.redact(shown)}\n`);
  }
  return exitCode;
}

interface Failure {
  readonly failure: Message;
  readonly exitCode: ExitCode;
  readonly stack: string | undefined;
}

export function failureOf(error: unknown): Failure {
  // Closing failed too, as it does when what was worked on is gone.
  if (error instanceof SuppressedError) return failureOf(error.suppressed);
  if (error instanceof TributaryError) {
    return { failure: error, exitCode: error.exitCode, stack: stackOf(error) };
  }
  const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return { failure: cliMessages.bug({ what }), exitCode: 70, stack: stackOf(error) };
}

function stackOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const cause = error.cause === undefined ? "" : `\ncaused by ${String(error.cause)}\n${stackOf(error.cause) ?? ""}`;
  // The message has been told by then; only a cause's has not.
  const frames = (error.stack ?? "").replace(`${error.name}: ${error.message}\n`, "");
  return `${frames}${cause}`;
}

// Also `--json=…`, though it takes no value. After `--` it would be a stream's name.
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return argv.slice(0, end < 0 ? undefined : end).some(word => /^--json(=|$)/.test(word));
}

// Read from argv, as parsing the options may be what failed.
function wantsStacks(argv: readonly string[]): boolean {
  return argv.some((word, index) => {
    const level = word === "--log-level" ? argv[index + 1] : /^--log-level=(.*)$/.exec(word)?.[1];
    return level === "debug" || level === "trace";
  });
}
