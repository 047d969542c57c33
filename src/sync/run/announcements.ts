import { counted } from "../../counted.ts";
import { ApiError, meetsOthers } from "../../errors.ts";
import type { Log } from "../../logging.ts";
import { messageOf } from "./report.ts";

/** What a run says in the log, each thing once. */
export interface Announcements {
  /** Says a company's failures when they arise. Streams that meet the same after the first are named by the run's end alone. */
  failuresOf(log: Log): (error: unknown, facts: object) => void;
  failed(error: unknown): void;
  /** What the run before warned of too is counted for the end. */
  warn(warnings: readonly string[]): void;
  end(): void;
}

/** `before`: what the run before warned of. */
export function announce(log: Log, before: readonly string[]): Announcements {
  const said = new Set<string>();
  const known = new Set(before);
  let repeated = 0;
  const isNew = (fact: string) => !said.has(fact) && said.add(fact) !== undefined;
  return {
    failuresOf(own) {
      const met = new Set<string>();
      return (error, facts) => {
        const message = messageOf(error);
        const cause = causeOf(error);
        if (met.has(cause)) own.debug(facts, message);
        else own.warn(facts, message);
        met.add(cause);
        said.add(message);
      };
    },
    failed(error) {
      const message = messageOf(error);
      if (isNew(message)) log.warn({}, message);
    },
    warn(warnings) {
      for (const warning of warnings.filter(isNew)) {
        if (known.has(warning)) repeated++;
        else log.warn({}, warning);
      }
    },
    end() {
      if (repeated === 0) return;
      log.warn(
        { repeated },
        `${counted(repeated, "warning")} as in the run before: \`tributary status\` shows them in full.`,
      );
    },
  };
}

function causeOf(error: unknown): string {
  // What every request may meet of the service, or of the way to it: its messages differ in the request alone.
  if (!(error instanceof ApiError && (meetsOthers(error) || error.failure === "unavailable"))) return messageOf(error);
  const { failure, status, code } = error;
  // What was not sent because another request met a limit met the same one.
  return failure === "limited" ? failure : JSON.stringify([failure, status, code]);
}
