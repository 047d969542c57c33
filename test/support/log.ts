import type { Log } from "../../src/logging.ts";
import type { Message } from "../../src/message.ts";

/** A log that hands each line on: its sentence, its facts, and the message where it is one. */
export function logTo(line: (text: string, facts: object, level: keyof Log, message?: Message) => void): Log {
  const at =
    (level: "info" | "warn" | "error") =>
    (message: Message, facts: object = {}) =>
      line(message.message, facts, level, message);
  return {
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    debug: (event, facts = {}) => line(event, facts, "debug"),
  };
}

export const silentLog: Log = logTo(() => undefined);

/** A message that no catalog knows. */
export const sentence = (message: string): Message => ({ code: "test.sentence", message, fields: {} });
