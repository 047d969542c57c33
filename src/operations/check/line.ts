import { type ExitCode, TributaryError } from "../../errors.ts";

/** One thing that was looked at. `exitCode` is what a run would end with because of it. */
export interface CheckLine {
  readonly name: string;
  readonly level: "ok" | "warn" | "fail";
  readonly message: string;
  /** What to do; null when there is nothing to do. */
  readonly advice: string | null;
  readonly exitCode: ExitCode;
}

export function ok(name: string, message: string): CheckLine {
  return { name, level: "ok", message, advice: null, exitCode: 0 };
}

export function warning(name: string, message: string, advice: string | null): CheckLine {
  return { name, level: "warn", message, advice, exitCode: 0 };
}

/** A failure as a line: the first line or sentence of its message, and the others as advice. Bugs are rethrown. */
export function failure(name: string, error: unknown): CheckLine {
  if (!(error instanceof TributaryError)) throw error;
  const { message, advice } = sentences(error.message);
  return { name, level: "fail", message, advice, exitCode: error.exitCode };
}

export function doubt(name: string, error: TributaryError): CheckLine {
  return { ...failure(name, error), level: "warn", exitCode: 0 };
}

function sentences(text: string): { message: string; advice: string | null } {
  const [, first, rest] = /^(.*?)\n(.*)$/s.exec(text) ?? /^(.*?[.!?])\s+(?=[A-Z`])(.*)$/.exec(text) ?? [];
  return first === undefined || rest === undefined ? { message: text, advice: null } : { message: first, advice: rest };
}
