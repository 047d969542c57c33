import { StoppedError } from "../../errors.ts";
import type { Message } from "../../message.ts";
import type { CliContext } from "./context.ts";
import { cliMessages } from "./messages.ts";

/** What a signal means to a run: the first one ends it at the next safe point, the second one the process. */
export interface Interruption extends Disposable {
  /** Aborted with a StoppedError. */
  readonly signal: AbortSignal;
}

const codes = { SIGINT: 130, SIGTERM: 143 } as const;

/** What a first signal brings: now, and once the work has ended by it. */
interface Stop {
  readonly stopping: Message;
  readonly stopped: (fields: { readonly signal: string }) => Message;
}

const ofRuns: Stop = { stopping: cliMessages.run_stopping(), stopped: cliMessages.run_stopped };

/** Listens for SIGINT and SIGTERM until it is disposed. `say` gets a message about what happens next. */
export function interruption(
  context: Pick<CliContext, "onSignal" | "leave">,
  say: (message: Message) => void,
  { stopping, stopped } = ofRuns,
): Interruption {
  const controller = new AbortController();
  const stopListening = context.onSignal(name => {
    if (controller.signal.aborted) context.leave(codes[name]);
    say(stopping);
    controller.abort(new StoppedError(stopped({ signal: name }), codes[name]));
  });
  return { signal: controller.signal, [Symbol.dispose]: stopListening };
}
