import type { Clock } from "../../clock.ts";
import type { LoadedConfig } from "../../config/load.ts";
import { type ExitCode, TributaryError } from "../../errors.ts";
import { codeOf } from "../../files.ts";
import type { Log, LogLevel, LogSink } from "../../logging.ts";
import { createRedactor, type Redactor, redactJson } from "../../secrets.ts";
import { hasColours, type Look, lookOf } from "../terminal/look.ts";
import { wrapText } from "../terminal/table.ts";
import { cliMessages } from "./messages.ts";
import type { CommonOptions } from "./options.ts";

/** What a command may touch of the process around it. */
export interface Surface {
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly cwd: string;
  readonly clock: Clock;
  /** When the process began, in ms since the epoch. */
  readonly begunAt?: number;
  /** Hears of SIGINT and SIGTERM instead of dying of them, until the returned function is called. */
  readonly onSignal: (listener: (signal: "SIGINT" | "SIGTERM") => void) => () => void;
  /** Hears of SIGHUP instead of dying of it, until the returned function is called. */
  readonly onHangup: (listener: () => void) => () => void;
  /** Is given the errors that nobody caught, which end the process otherwise, until the returned function is called. */
  readonly onStray: (listener: (error: unknown) => void) => () => void;
  /** Notes the code to end with; the process ends when the command's promise settles. */
  readonly exit: (code: ExitCode) => void;
  /** Ends the process at once, whatever is under way. */
  readonly leave: (code: ExitCode) => never;
}

/** The common options that decide how output is written. */
type Manner = Pick<CommonOptions, "logFormat" | "quiet" | "verbose">;

/** A command's surface, and the configuration and log that all commands have in common. */
export interface CliContext extends Surface {
  /** Redacts everything secret that has become known so far. */
  readonly redact: Redactor;
  /** Loads the configuration and makes its secrets known to `redact`; `local`: without the service's keys. @throws ConfigError */
  readonly openConfig: (
    options: { readonly config?: string | undefined },
    how?: { readonly local: true },
  ) => Promise<LoadedConfig>;
  /** A log to stderr: readable on a terminal, JSON lines elsewhere, or as --log-format says. `sink` stands in for stderr while progress is shown. */
  readonly openLog: (level: LogLevel, sink?: LogSink) => Promise<Log>;
  /** Writes one redacted JSON document and a line break to stdout. */
  readonly printJson: (value: unknown) => void;
  /** Writes redacted text and a line break to stdout, wrapped at a terminal's width; nothing with --quiet. */
  readonly print: (text: string) => void;
  /** The same for what is to be taken as it is: neither wrapped nor left out. */
  readonly printWhole: (text: string) => void;
  /** What texts for stdout are made for. */
  readonly look: () => Look;
  /** Takes the options of the command that is called, before it begins. */
  readonly heed: (options: Manner) => void;
}

/** Writes to stdout, and resolves once the bytes are written. Rejects with EPIPE when the reader has closed the pipe. @throws TributaryError */
export const writePiece = ({ stdout }: Pick<Surface, "stdout">, piece: Buffer | string): Promise<void> =>
  new Promise((resolve, reject) =>
    stdout.write(piece, error => {
      if (error) reject(codeOf(error) === "EPIPE" ? error : unwritten(error));
      else resolve();
    }),
  );

/** What was printed did not arrive. */
export const unwritten = (cause: Error): TributaryError =>
  new TributaryError(cliMessages.output_not_written({ reason: cause.message }), 1, cause);

export function createContext(surface: Surface): CliContext {
  const secrets = new Set<readonly string[]>();
  let known = 0;
  let redactor = createRedactor([]);
  let manner: Manner = {};
  // A configuration that another one has replaced may still be at work, and its lists grow when a key is refreshed.
  const current = () => {
    const all = new Set([...secrets].flat());
    if (all.size !== known) redactor = createRedactor([...all]);
    known = all.size;
    return redactor;
  };
  const redact: Redactor = Object.assign((text: string) => current()(text), {
    leaves: (bytes: Buffer) => current().leaves?.(bytes) ?? false,
  });
  const look = () => lookOf(surface.stdout, surface.env, manner.verbose === true);
  return {
    ...surface,
    redact,
    openConfig: async ({ config }, how) => {
      const { loadFor } = await import("../../library/connector.ts");
      const loaded = await loadFor(config, surface.env, how);
      secrets.add(loaded.secrets);
      return loaded;
    },
    openLog: async (level, sink = { write: line => void surface.stderr.write(line) }) => {
      const { createLogger, prettyFormat } = await import("../../logging.ts");
      // Not an option that --quiet implies: the two exclude each other.
      const told = manner.quiet ? "error" : level;
      const { logFormat = surface.stderr.isTTY ? "pretty" : "json" } = manner;
      if (logFormat === "json") return createLogger(told, sink, redact);
      const format = await prettyFormat(hasColours(surface.stderr, surface.env));
      return createLogger(told, sink, redact, line => {
        const { width } = lookOf(surface.stderr, surface.env, !surface.stderr.isTTY);
        return width === undefined ? format(line) : wrapText(format(line), width);
      });
    },
    printJson: value => {
      surface.stdout.write(`${JSON.stringify(redactJson(value, redact), null, 2)}\n`);
    },
    print: text => {
      if (manner.quiet) return;
      const { width } = look();
      const told = redact(text);
      surface.stdout.write(`${width === undefined ? told : wrapText(told, width)}\n`);
    },
    printWhole: text => void surface.stdout.write(`${redact(text)}\n`),
    look,
    heed: options => {
      manner = options;
    },
  };
}
