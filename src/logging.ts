import { pino, stdSerializers } from "pino";
import type { Message } from "./message.ts";
import { type Redactor, redactJson } from "./secrets.ts";

/** From the most to the least. */
export type LogLevel = "trace" | "debug" | "info" | "warn" | "error" | "silent";

/** Where finished lines go, each with its line break. */
export interface LogSink {
  write(line: string): void;
}

/**
 * A pino logger whose every line goes through the redactor: JSON lines, or readable ones when `format` turns a JSON
 * line into text (see `prettyFormat`). Stacks of errors are written at the levels debug and trace only.
 */
export function createLogger(
  level: LogLevel,
  sink: LogSink,
  redact: Redactor,
  format: (line: string) => string = line => line,
): Log {
  const stacks = level === "debug" || level === "trace";
  const logger = pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: label => ({ level: label }) },
      serializers: { err: error => errorFields(error, stacks) },
    },
    { write: line => sink.write(format(redactedLine(line, redact))) },
  );
  const writing =
    (level: "info" | "warn" | "error") =>
    ({ code, message, fields }: Message, facts: object = {}) =>
      logger[level]({ code, fields, ...facts }, message);
  return {
    info: writing("info"),
    warn: writing("warn"),
    error: writing("error"),
    debug: (event, facts = {}) => logger.debug(facts, event),
  };
}

/** Lines for a terminal, without code and fields, which the sentence has, and facts that are 0; loads pino-pretty, which nothing but a terminal needs. */
export async function prettyFormat(colorize: boolean): Promise<(line: string) => string> {
  const { prettyFactory } = await import("pino-pretty");
  const pretty = prettyFactory({ colorize, translateTime: "SYS:HH:MM:ss", levelFirst: false, singleLine: true });
  return line => {
    const {
      level,
      time,
      msg = "",
      err,
      code: _code,
      fields: _fields,
      ...facts
    } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    const said = Object.entries(facts).filter(([, fact]) => fact !== 0 && fact !== null);
    const words = said.map(([name, fact]) => `${name}=${typeof fact === "string" ? fact : JSON.stringify(fact)}`);
    return pretty({ level, time, msg: [msg, ...words].join(" "), ...(err === undefined ? {} : { err }) }) ?? line;
  };
}

function errorFields(error: unknown, stacks: boolean): unknown {
  if (!(error instanceof Error)) return error;
  if (stacks) return stdSerializers.err(error);
  return { type: error.name, message: error.message };
}

// A line is looked at whole first: most hold no secret, and the ones that do must stay JSON.
function redactedLine(line: string, redact: Redactor): string {
  const redacted = redact(line);
  if (redacted === line) return line;
  try {
    const parsed = JSON.parse(line) as { readonly code?: string };
    // A code is ours, whatever the password is: `postgres.connection_lost`.
    return `${JSON.stringify(Object.assign(redactJson(parsed, redact) as object, { code: parsed.code }))}\n`;
  } catch {
    return redacted;
  }
}

/** Writes messages with their codes and fields; `facts` are further fields of the line. */
export interface Log {
  info(message: Message, facts?: object): void;
  warn(message: Message, facts?: object): void;
  error(message: Message, facts?: object): void;
  /** For developers: no message, so without a code. */
  debug(event: string, facts?: object): void;
}
