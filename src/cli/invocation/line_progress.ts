import type { Log, LogSink } from "../../logging.ts";
import { displayClock, placeOn } from "../terminal/progress.ts";
import type { CliContext } from "./context.ts";
import { interruption } from "./interruption.ts";
import type { CommonOptions } from "./options.ts";

const LINE_MS = 30_000;

/** How work goes on, in one line: in place on a terminal, elsewhere every 30 seconds. */
export interface LineProgress extends Disposable {
  readonly log: Log;
  /** Aborted with a StoppedError by the first Ctrl-C. */
  readonly signal: AbortSignal;
  show(line: string): void;
  /** No more progress, no more signals. */
  finish(): void;
}

/** `words`: what a signal does to the work. */
export async function lineProgress(
  context: CliContext,
  { logLevel, progress }: Pick<CommonOptions, "logLevel" | "progress">,
  words: Parameters<typeof interruption>[2],
): Promise<LineProgress> {
  const { screen } = await placeOn(context.stderr, context.env);
  const shown = progress ? screen : undefined;
  const sink: LogSink = {
    write: line => (shown === undefined ? void context.stderr.write(line) : shown.persist(line.trimEnd())),
  };
  const log = await context.openLog(logLevel, sink);
  const stop = interruption(context, log.info, words);
  let last = "";
  const quiet =
    shown !== undefined || !progress
      ? () => undefined
      : displayClock.every(LINE_MS, () => void (last !== "" && context.stderr.write(`${last}\n`)));
  const finish = () => {
    quiet();
    shown?.clear();
    stop[Symbol.dispose]();
  };
  return {
    ...{ log, signal: stop.signal, finish, [Symbol.dispose]: finish },
    show(line) {
      last = line;
      shown?.(line);
    },
  };
}
