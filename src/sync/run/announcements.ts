import { ApiError, meetsOthers } from "../../errors.ts";
import type { Log } from "../../logging.ts";
import type { Message } from "../../message.ts";
import { runMessages } from "./messages.ts";
import { messageFor } from "./report.ts";

/** What a run says in the log, each thing once. */
export interface Announcements {
  /** Says a company's failures when they arise. Streams that meet the same after the first are named by the run's end alone. */
  failuresOf(log: Log): (error: unknown, facts: object) => void;
  failed(error: unknown): void;
  /** What the run before warned of too is counted for the end. */
  warn(warnings: readonly Message[]): void;
  end(): void;
}

/** `before`: what the run before warned of. */
export function announce(log: Log, before: readonly Message[]): Announcements {
  const said = new Set<string>();
  const known = new Set(before.map(({ message }) => message));
  let repeated = 0;
  const isNew = ({ message }: Message) => !said.has(message) && said.add(message) !== undefined;
  return {
    failuresOf(own) {
      const met = new Set<string>();
      return (error, facts) => {
        const failure = messageFor(error);
        const cause = causeOf(error);
        if (met.has(cause)) own.debug(failure.message, facts);
        else own.warn(failure, facts);
        met.add(cause);
        said.add(failure.message);
      };
    },
    failed(error) {
      const failure = messageFor(error);
      if (isNew(failure)) log.warn(failure);
    },
    warn(warnings) {
      for (const warning of warnings.filter(isNew)) {
        if (known.has(warning.message)) repeated++;
        else log.warn(warning);
      }
    },
    end() {
      if (repeated === 0) return;
      log.warn(runMessages.warnings_repeated({ warnings: repeated }), { repeated });
    },
  };
}

function causeOf(error: unknown): string {
  // What every request may meet of the service, or of the way to it: its messages differ in the request alone.
  if (!(error instanceof ApiError && (meetsOthers(error) || error.failure === "unavailable")))
    return messageFor(error).message;
  const { failure, status, serviceCode } = error;
  // What was not sent because another request met a limit met the same one.
  return failure === "limited" ? failure : JSON.stringify([failure, status, serviceCode]);
}
