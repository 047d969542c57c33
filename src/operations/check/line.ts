import { type ExitCode, TributaryError } from "../../errors.ts";
import { type Message, reworded } from "../../message.ts";

/** One thing that was checked. `exitCode` is what a run would end with because of it. */
export interface CheckLine extends Message {
  readonly name: string;
  readonly level: "ok" | "warn" | "fail";
  /** What to do; null when there is nothing to do. */
  readonly advice: string | null;
  readonly exitCode: ExitCode;
}

export function ok(name: string, message: Message): CheckLine {
  return { name, level: "ok", ...message, advice: null, exitCode: 0 };
}

/** The first line or sentence of a message as the line, the others as advice. */
export function warning(name: string, message: Message): CheckLine {
  return { name, level: "warn", ...parted(message), exitCode: 0 };
}

/** A failure as a line. Bugs are rethrown. */
export function failure(name: string, error: unknown): CheckLine {
  if (!(error instanceof TributaryError)) throw error;
  return { name, level: "fail", ...parted(error), exitCode: error.exitCode };
}

export function doubt(name: string, error: TributaryError): CheckLine {
  return { ...failure(name, error), level: "warn", exitCode: 0 };
}

function parted(whole: Message): Message & { readonly advice: string | null } {
  const { message } = whole;
  const [, first, rest] = /^(.*?)\n(.*)$/s.exec(message) ?? /^(.*?[.!?])\s+(?=[A-Z`])(.*)$/.exec(message) ?? [];
  if (first === undefined || rest === undefined) return { ...reworded(whole, message), advice: null };
  return { ...reworded(whole, first), advice: rest };
}
