import type { ExitCode } from "../../errors.ts";
import type { LogSink } from "../../logging.ts";
import type { Message } from "../../message.ts";
import type { RunTools } from "../../sync/run/run_order.ts";
import type { Look } from "../terminal/look.ts";
import { displayClock, type Progress, placeOn, startProgress } from "../terminal/progress.ts";
import type { CliContext } from "./context.ts";
import { interruption } from "./interruption.ts";
import type { CommonOptions } from "./options.ts";

/** What came of a run: the document that --json prints, and the same for people. */
export interface Outcome {
  readonly document: object & { readonly exit_code?: ExitCode; readonly errors?: readonly Message[] };
  /** `tookMs`: since the command began. */
  readonly text: (look: Look, tookMs: number) => string;
}

type Options = Pick<CommonOptions, "logLevel" | "progress" | "json" | "quiet">;

/** Runs with tools that are bound to the terminal, and prints the outcome. */
export async function runOnTerminal(
  context: CliContext,
  options: Options,
  warnings: readonly Message[],
  run: (tools: RunTools) => Promise<Outcome>,
): Promise<void> {
  const { clock, begunAt = clock.now() } = context;
  const { document, text } = await withRunTools(context, options, warnings, run);
  if (document.exit_code !== undefined) context.exit(document.exit_code);
  if (options.json) context.printJson(document);
  else context.print(text(context.look(), clock.now() - begunAt));
  if (options.quiet && !options.json) tellErrors(context, document.errors);
}

/** What --quiet leaves of a report. */
export function tellErrors(context: CliContext, errors: readonly Message[] = []): void {
  for (const { message } of errors) context.stderr.write(`${context.redact(message)}\n`);
}

/** Runs with tools that are bound to the terminal, where the log writes above the progress display. */
export async function withRunTools<T>(
  context: CliContext,
  options: Omit<Options, "json">,
  warnings: readonly Message[],
  run: (tools: RunTools) => Promise<T>,
): Promise<T> {
  let display: Progress | undefined;
  const sink: LogSink = {
    write: line => (display === undefined ? void context.stderr.write(line) : display.sink.write(line)),
  };
  const place = await placeOn(context.stderr, context.env);
  const log = await context.openLog(options.logLevel, sink);
  using stop = interruption(context, log.info);
  try {
    for (const warning of warnings) log.warn(warning);
    return await run({
      ...{ clock: context.clock, random: Math.random, log, signal: stop.signal, redact: context.redact },
      watch: view => {
        display = startProgress(view, place, {
          clock: { ...displayClock, now: context.clock.now },
          enabled: options.progress,
          begun: context.begunAt,
        });
      },
    });
  } finally {
    display?.stop();
  }
}
