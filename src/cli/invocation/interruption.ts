import { StoppedError } from "../../errors.ts";
import { uncoded } from "../../message.ts";
import type { CliContext } from "./context.ts";

/** What a signal means to a run: the first one ends it at the next safe point, the second one the process. */
export interface Interruption extends Disposable {
  /** Aborted with a StoppedError. */
  readonly signal: AbortSignal;
}

const codes = { SIGINT: 130, SIGTERM: 143 } as const;

const ofRuns = {
  stopping:
    "stopping at the next safe point, which saves what was read; once more leaves at once, and loses nothing either",
  stopped: "what was read is stored, the next run goes on from there",
};

/** Listens for SIGINT and SIGTERM until it is disposed. `say` gets a sentence about what happens next. */
export function interruption(
  context: Pick<CliContext, "onSignal" | "leave">,
  say: (text: string) => void,
  { stopping, stopped } = ofRuns,
): Interruption {
  const controller = new AbortController();
  const stopListening = context.onSignal(name => {
    if (controller.signal.aborted) context.leave(codes[name]);
    say(stopping);
    controller.abort(new StoppedError(uncoded(`Stopped by ${name}: ${stopped}.`), codes[name]));
  });
  return { signal: controller.signal, [Symbol.dispose]: stopListening };
}
