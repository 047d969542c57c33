import { systemClock } from "../../clock.ts";
import type { LogLevel, LogSink } from "../../logging.ts";
import type { RunTools } from "../../sync/run/run_order.ts";
import { displayClock, type Progress, placeOn, startProgress } from "../terminal/progress.ts";
import type { CliContext } from "./context.ts";
import { interruption } from "./interruption.ts";

/** A run's tools, bound to the terminal; `finish` ends the progress display and gives the signals back. */
export interface TerminalRun {
  readonly tools: RunTools;
  finish(): void;
}

/** The log writes above the progress display from the moment there is one. */
export async function terminalRun(
  context: CliContext,
  { logLevel, progress }: { readonly logLevel: LogLevel; readonly progress: boolean },
): Promise<TerminalRun> {
  let display: Progress | undefined;
  const sink: LogSink = {
    write: line => (display === undefined ? void context.stderr.write(line) : display.sink.write(line)),
  };
  const place = await placeOn(context.stderr);
  const log = await context.openLog(logLevel, sink);
  const { renewExports } = await import("../../outputs/export/renewing.ts");
  const { signal, release } = interruption(context, text => log.info({}, text));
  return {
    tools: {
      clock: systemClock,
      random: Math.random,
      log,
      signal,
      redact: context.redact,
      watch: view => {
        display = startProgress(view, place, { clock: displayClock, enabled: progress });
      },
      renewExports,
    },
    finish: () => {
      display?.stop();
      display = undefined;
      release();
    },
  };
}
