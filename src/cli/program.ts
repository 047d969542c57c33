import { Command, type CommanderError, Help } from "commander";
import { ConfigError } from "../errors.ts";
import { nearest } from "../nearest_name.ts";
import { versionInWords } from "../package_root.ts";
import type { CliContext } from "./invocation/context.ts";
import { cliMessages } from "./invocation/messages.ts";
import { examples, globalOptions } from "./invocation/options.ts";

interface CommandModule {
  readonly register: (command: Command, context: CliContext) => void;
}

/** Name, summary and file of each command. Only the one that is called gets loaded. */
export const commands: readonly (readonly [string, string, () => Promise<CommandModule>])[] = [
  ["init", "write config.yaml, asking for the few values that matter", () => import("./commands/init.ts")],
  ["check", "look whether a run would go well, and say what to do", () => import("./commands/check.ts")],
  ["config", "print the effective configuration, secrets masked", () => import("./commands/config.ts")],
  ["streams", "list what can be read, and the tables it becomes", () => import("./commands/streams.ts")],
  ["sync", "bring the tables up to date", () => import("./commands/sync.ts")],
  ["schedule", "stay up and run syncs by the clock", () => import("./commands/schedule.ts")],
  ["work", "take jobs of runs that many machines share", () => import("./commands/work.ts")],
  ["refresh", "fetch the details of some rows now", () => import("./commands/refresh.ts")],
  ["backfill", "load history, by windows of dates", () => import("./commands/backfill.ts")],
  ["replay", "load again from the archive, without a request", () => import("./commands/replay.ts")],
  ["upload", "send files to the service, and wait for what they become", () => import("./commands/upload.ts")],
  ["status", "show runs, freshness, rows and problems", () => import("./commands/status.ts")],
  ["rejects", "show what could not be loaded, and why", () => import("./commands/rejects.ts")],
  ["meanings", "show what the models take rows for, and by which values", () => import("./commands/meanings.ts")],
  ["verify", "compare the warehouse with the service, field by field", () => import("./commands/verify.ts")],
  ["reset", "forget high-water marks and cursors of streams, or their rows too", () => import("./commands/reset.ts")],
  ["move", "fill another database from this one", () => import("./commands/move.ts")],
  ["ddl", "print the SQL of the warehouse", () => import("./commands/ddl.ts")],
  ["dbt", "write a dbt package for the warehouse", () => import("./commands/dbt.ts")],
  ["docs", "write the data dictionary, as a page and as Markdown", () => import("./commands/docs.ts")],
  ["query", "ask the warehouse in SQL", () => import("./commands/query.ts")],
  ["report", "write a page of charts and tables to look at", () => import("./commands/report.ts")],
  ["read", "write what changed to stdout, for programs and platforms", () => import("./protocols/read.ts")],
  ["airbyte", "be a source for Airbyte and PyAirbyte", () => import("./protocols/airbyte.ts")],
  ["singer", "be a tap for Singer's targets and Meltano", () => import("./protocols/singer.ts")],
  ["export", "write the tables as Parquet files, for Spark, Trino, BigQuery", () => import("./commands/export.ts")],
  ["simulate", "run a simulated service to try everything with", () => import("./commands/simulate.ts")],
];

/** Runs the command that the words name. @throws TributaryError for words that are no use of it */
export async function runCommand(argv: readonly string[], context: CliContext): Promise<void> {
  const program = new Command("tributary")
    .description(
      "Keeps a SQL warehouse (DuckDB, PostgreSQL or DuckLake) in step with the Procurement Intelligence Service.",
    )
    .version(versionInWords())
    .configureOutput({
      writeOut: text => context.stdout.write(text),
      writeErr: text => context.stderr.write(text),
      outputError: () => undefined,
    })
    .configureHelp({
      visibleOptions: command => [
        ...new Help().visibleOptions(command),
        ...(command.parent === null ? globalOptions() : []),
      ],
    })
    .addHelpText("after", examples("tributary init && tributary check && tributary sync", "tributary sync --help"));
  const words = argv.filter(word => !word.startsWith("-"));
  const called = words[0] === "help" ? words[1] : words[0];
  for (const [name, summary, load] of commands) {
    const command = program.command(name).summary(summary);
    if (name === called) (await load()).register(command, context);
  }
  for (const command of [program, ...program.commands])
    command.exitOverride(error => {
      throw usageError(error, command, argv);
    });
  program.hook("preAction", (_program, action) => context.heed(action.opts()));
  const names = commands.map(([name]) => name);
  // Commander would print the program's help.
  if (words[0] === "help" && called !== undefined && !names.includes(called)) throw unknownCommand(called, names);
  await program.parseAsync(argv, { from: "user" });
}

/** Commander's error as a ConfigError with advice; the end of --help and --version is returned unchanged. */
function usageError(error: CommanderError, command: Command, argv: readonly string[]): Error {
  if (error.exitCode === 0) return error;
  const known = command.parent === null ? command.commands.map(each => each.name()) : [];
  // Commander has shown the help on stderr already.
  if (error.code === "commander.help") return new ConfigError(cliMessages.no_command());
  if (error.code === "commander.unknownCommand") return unknownCommand(quotedIn(error.message), known);
  if (error.code === "commander.unknownOption") return unknownOption(quotedIn(error.message), command, argv);
  const message = error.message.replace(/^error: /, "");
  const reason = `${message.charAt(0).toUpperCase()}${message.slice(1)}`;
  return new ConfigError(cliMessages.usage({ reason, command: nameOf(command) }));
}

function unknownCommand(name: string, known: readonly string[]): ConfigError {
  return new ConfigError(cliMessages.unknown_command({ name, suggestion: nearest(name, known) }));
}

function unknownOption(option: string, command: Command, argv: readonly string[]): ConfigError {
  const [name = "", value] = option.replace(/^-+/, "").split("=", 2);
  const known = command.options.flatMap(({ long }) => (long === undefined || long === null ? [] : [long.slice(2)]));
  const own = nameOf(command);
  if (value !== undefined && known.includes(name))
    return new ConfigError(cliMessages.option_with_value({ option: `--${name}`, given: option, command: own }));
  const near = nearest(name, known);
  const suggestion = near === undefined ? undefined : `--${near}`;
  if (own !== undefined) return new ConfigError(cliMessages.unknown_option({ option, suggestion, command: own }));
  const called = argv.find(word => command.commands.some(each => each.name() === word)) ?? "sync";
  return new ConfigError(cliMessages.option_before_command({ option, suggestion, command: called }));
}

/** Undefined for the program itself. */
const nameOf = (command: Command): string | undefined => (command.parent === null ? undefined : command.name());

const quotedIn = (message: string): string => /'(.*)'/s.exec(message)?.[1] ?? "";
