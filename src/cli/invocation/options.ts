import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { z } from "zod";
import type { LogLevel } from "../../logging.ts";
import {
  flag,
  type Given,
  limitOptions,
  mannerOf,
  type Options,
  option,
  required,
  selectionOptions,
} from "../../options/options.ts";
import { bareSchema, programForm, programName } from "../../options/program_form.ts";

// Not taken from logging.ts: it would load pino for every --help.
const levels = ["trace", "debug", "info", "warn", "error", "silent"] as const satisfies readonly LogLevel[];

export const textOption = (help: string, argument: string) => option(z.string(), help, argument);

/** A flag `--no-…`. */
export const unless = (help: string) => required(z.boolean().default(true), help);

const common = {
  company: selectionOptions.company,
  config: textOption("the configuration (default: $TRIBUTARY_CONFIG, else config.yaml)", "<file>"),
  json: flag("print one JSON document on stdout, nothing else there"),
  dry_run: flag("say what it would request or send, and how long its requests take; write nothing"),
  ...limitOptions,
  wait: limitOptions.wait.unwrap().prefault("0s"),
  log_level: required(z.enum(levels).default("info"), "what of the log goes to stderr", "<level>"),
  log_format: option(z.enum(["json", "pretty"]), "how (default: pretty on a terminal, else json)", "<format>"),
  quiet: flag("say nothing but errors; the exit code tells the rest", {
    ...{ conflicts: ["verbose", "logLevel"], implies: { progress: false } },
  }),
  verbose: flag("show tables whole, and log more (as --log-level debug)", { implies: { logLevel: "debug" } }),
  progress: unless("don't show progress"),
  yes: flag("ask nothing"),
};

/** What the options that commands share become; a command sees those that it attached. */
export type CommonOptions = Given<typeof common>;

type CommonOption = keyof typeof common;

// In this order, as --verbose implies a level: beside --quiet it is named, not what it implies.
const logOptions: readonly CommonOption[] = ["quiet", "verbose", "log_level", "log_format"];

/** Options that most commands have and that mean the same in each: the program's help describes them. */
const global: readonly CommonOption[] = ["config", "company", "json", ...logOptions, "progress"];

export const globalOptions = (): readonly Option[] =>
  global.map(name =>
    optionOf(name, common[name]).helpGroup("Options of all commands (a command's help names those that it takes):"),
  );

/** An option for commander, made of its schema. */
function optionOf(key: string, schema: z.ZodType): Option {
  const { help, argument, otherwise, short, conflicts = [], implies = {} } = mannerOf(schema)!;
  const bare = bareSchema(schema);
  const fallback = schema.safeParse(undefined).data;
  const letter = short === undefined ? "" : `-${short}, `;
  const name = `${letter}--${fallback === true ? "no-" : ""}${key.replaceAll("_", "-")}`;
  const made = new Option(argument === undefined ? name : `${name} ${argument}`, help);
  if (argument !== undefined) made.argParser((given: string, before: unknown) => parsed(schema, given, before));
  if (bare instanceof z.ZodEnum) made.choices(bare.options.map(String));
  if (fallback !== undefined) made.default(programForm(schema, fallback, ""), otherwise);
  made.conflicts([...conflicts]).implies(implies);
  made.makeOptionMandatory(!schema.safeParse(undefined).success);
  const property = programName(key, schema);
  return Object.assign(made, { attributeName: () => property });
}

/** A value, or with those before it for an option that can be repeated. @throws InvalidArgumentError, which commander turns into an answer about the option */
function parsed(schema: z.ZodType, given: string, before: unknown): unknown {
  const isList = bareSchema(schema) instanceof z.ZodArray;
  const { data, error } = schema.safeParse(isList ? [...(before as readonly unknown[]), given] : given);
  if (error === undefined) return programForm(schema, data, "");
  const { message } = error.issues[0]!;
  throw new InvalidArgumentError(`${message.charAt(0).toUpperCase()}${message.slice(1)}.`);
}

/** Options by their schemas, and those that commands share by their names; `log` stands for all of output and log. */
type Taken = readonly (Options | CommonOption | "log")[];

/** Adds options to a command, in this order. Returns those that the program's help describes. */
export function attachOptions(command: Command, taken: Taken): readonly Option[] {
  const options = taken.flatMap(each => {
    const names = each === "log" ? logOptions : typeof each === "string" ? [each] : [];
    const own = typeof each === "string" ? Object.fromEntries(names.map(name => [name, common[name]])) : each;
    return Object.entries(own).map(([key, schema]) =>
      optionOf(key, schema).hideHelp(typeof each === "string" && global.some(name => name === key)),
    );
  });
  for (const each of options) command.addOption(each);
  return options.filter(({ hidden }) => hidden);
}

interface Definition {
  readonly arguments?: readonly Argument[];
  readonly description: string;
  readonly options: Taken;
  readonly signals?: string;
  readonly examples: readonly string[];
  readonly notes?: string;
  /** Is given the values of the arguments, the options and the context. */
  readonly run: (...given: never[]) => Promise<void>;
}

/** A command, from its parts in the order of its help; its context is what the program gives. */
export function defined({
  arguments: all = [],
  description,
  options,
  signals,
  examples: lines,
  notes,
  run,
}: Definition) {
  return (command: Command, context: unknown): void => {
    command.description(description);
    for (const each of all) command.addArgument(each);
    const elsewhere = attachOptions(command, options).map(({ long }) => long);
    if (signals !== undefined) command.addHelpText("after", signals);
    const also = `\nAlso, as \`tributary --help\` describes them:\n  ${elsewhere.join(", ")}`;
    command.addHelpText("after", `${also}\n${examples(...lines)}`);
    if (notes !== undefined) command.addHelpText("after", notes);
    // Commander gives the command after the options.
    command.action((...given) => run(...([...given.slice(0, -1), context] as never[])));
  };
}

/** The options of commands that request many streams. */
export const runOptions: Taken = [
  ...(["company", "config", "json", "dry_run", "max_time", "max_requests", "wait", "log", "progress"] as const),
];

/** What a run takes of the common options. */
export const limitsOf = ({ maxTimeMs, maxRequests, waitMs }: CommonOptions) => ({ maxTimeMs, maxRequests, waitMs });

export const streamsArgument = (): Argument =>
  new Argument(
    "[stream...]",
    "names, patterns such as 'invoice_*', presets such as preset:standard (default: all that are on)",
  );

/** A path to write to: not an address, of which a folder called `s3:` would be made. */
export const localPath = () =>
  z.string().regex(/^(?![a-z][a-z\d+.-]+:\/\/)./i, {
    error: "expected a path on this machine: write to a disk, and copy from there",
  });

/** The lines below a command's help. */
export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map(line => `  ${line}`).join("\n")}`;
}
