import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { parseDuration } from "../../duration.ts";
import type { LogLevel } from "../../logging.ts";

/** What the options that commands share become; a command sees those that it attached. */
export interface CommonOptions {
  readonly company?: string;
  readonly config?: string;
  readonly json?: true;
  readonly dryRun?: true;
  /** Milliseconds. */
  readonly maxTime?: number;
  readonly maxRequests?: number;
  /** Milliseconds; 0 when it was not given. */
  readonly wait: number;
  readonly logLevel: LogLevel;
  readonly logFormat?: "json" | "pretty";
  /** Nothing but errors, and what --json prints. */
  readonly quiet?: true;
  /** Tables whole, and the log from debug on. */
  readonly verbose?: true;
  readonly progress: boolean;
  readonly yes?: true;
}

// Not taken from logging.ts: it would load pino for every --help.
const levels = ["trace", "debug", "info", "warn", "error", "silent"] as const satisfies readonly LogLevel[];

const options = {
  company: () => new Option("--company <name>", "work for this company of the configuration only"),
  config: () => new Option("--config <file>", "the configuration (default: $TRIBUTARY_CONFIG, else config.yaml)"),
  json: () => new Option("--json", "print one JSON document on stdout, nothing else there"),
  dryRun: () => new Option("--dry-run", "say what it would request and how long that takes; write nothing"),
  maxTime: () =>
    new Option("--max-time <duration>", "stop at a safe point after e.g. 4h, exit code 5").argParser(duration),
  maxRequests: () =>
    new Option("--max-requests <n>", "stop at a safe point after n requests, exit code 5").argParser(whole(0)),
  wait: () =>
    new Option("--wait <duration>", "wait for another run to end, e.g. 30m")
      .argParser(duration)
      .default(0, "not at all"),
  logLevel: () => new Option("--log-level <level>", "what of the log goes to stderr").choices(levels).default("info"),
  logFormat: () =>
    new Option("--log-format <format>", "how (default: pretty on a terminal, else json)").choices(["json", "pretty"]),
  quiet: () =>
    new Option("--quiet", "say nothing but errors; the exit code tells the rest")
      .conflicts(["verbose", "logLevel"])
      .implies({ progress: false }),
  verbose: () =>
    new Option("--verbose", "show tables whole, and log more (as --log-level debug)").implies({ logLevel: "debug" }),
  noProgress: () => new Option("--no-progress", "don't show progress"),
  yes: () => new Option("--yes", "ask nothing"),
} as const;

export type CommonOption = keyof typeof options;

// In this order, as --verbose implies a level: beside --quiet it is named, not what it implies.
const logOptions = ["quiet", "verbose", "logLevel", "logFormat"] as const satisfies readonly CommonOption[];

/** Options that most commands have and that mean the same in each: the program's help describes them. */
const global = ["config", "company", "json", ...logOptions, "noProgress"] as const satisfies readonly CommonOption[];

export const globalOptions = (): readonly Option[] =>
  global.map(name =>
    options[name]().helpGroup("Options of all commands (a command's help names those that it takes):"),
  );

/** Adds shared options to a command, in the order given (`log` stands for all options of output and log), and examples below its help. */
export function attachOptions(
  command: Command,
  names: readonly (CommonOption | "log")[],
  ...lines: readonly string[]
): Command {
  const taken: readonly CommonOption[] = names.flatMap(each => (each === "log" ? logOptions : each));
  for (const name of taken) command.addOption(options[name]().hideHelp(isGlobal(name)));
  const elsewhere = taken.filter(isGlobal).map(name => options[name]().long);
  return command.addHelpText(
    "after",
    `\nAlso, as \`tributary --help\` describes them:\n  ${elsewhere.join(", ")}\n${examples(...lines)}`,
  );
}

const isGlobal = (name: CommonOption): boolean => global.some(each => each === name);

/** The options of commands that request many streams. */
export const runOptions = [
  "company",
  "config",
  "json",
  "dryRun",
  "maxTime",
  "maxRequests",
  "wait",
  "log",
  "noProgress",
] as const satisfies readonly (CommonOption | "log")[];

/** What a run takes of the common options. */
export function limitsOf({ maxTime: maxTimeMs, maxRequests, wait: waitMs }: CommonOptions) {
  return { maxTimeMs, maxRequests, waitMs };
}

export const streamsArgument = (): Argument =>
  new Argument(
    "[stream...]",
    "names, patterns such as 'invoice_*', presets such as preset:standard (default: all that are on)",
  );

/** Milliseconds of `4h`. @throws InvalidArgumentError, which commander turns into an answer about the option. */
export function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new InvalidArgumentError("Expected a duration such as 30s, 10m, 4h or 7d.");
  return ms;
}

/** Reads a whole number within bounds. */
export function whole(min: number, max = 1_000_000_000): (text: string) => number {
  return text => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`);
  };
}

/** A path to write to: not an address, of which a folder called `s3:` would be made. */
export function localPath(text: string): string {
  if (text !== "" && !/^[a-z][a-z\d+.-]+:\/\//i.test(text)) return text;
  throw new InvalidArgumentError("Expected a path on this machine: write to a disk, and copy from there.");
}

/** The lines below a command's help. */
export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map(line => `  ${line}`).join("\n")}`;
}
