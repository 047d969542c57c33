import { type Logger, pino, stdSerializers } from "pino";
import { type Redactor, redactJson } from "./secrets.ts";

export type { Logger } from "pino";

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
): Logger {
  const stacks = level === "debug" || level === "trace";
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: label => ({ level: label }) },
      serializers: { err: error => errorFields(error, stacks) },
    },
    { write: line => sink.write(format(redactedLine(line, redact))) },
  );
}

/** Lines for a terminal, without the facts that are 0; loads pino-pretty, which nothing but a terminal needs. */
export async function prettyFormat(colorize: boolean): Promise<(line: string) => string> {
  const { prettyFactory } = await import("pino-pretty");
  const pretty = prettyFactory({ colorize, translateTime: "SYS:HH:MM:ss", levelFirst: false, singleLine: true });
  return line => {
    const { level, time, msg = "", err, ...facts } = JSON.parse(line) as Readonly<Record<string, unknown>>;
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
    return `${JSON.stringify(redactJson(JSON.parse(line), redact))}\n`;
  } catch {
    return redacted;
  }
}

export interface Log {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  debug(facts: object, message: string): void;
}
