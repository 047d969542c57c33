import type { Command, CommanderError } from "commander";
import { ConfigError } from "../../errors.ts";
import { nearest } from "../../nearest_name.ts";
import { cliMessages } from "./messages.ts";

/** Commander's error as a ConfigError with advice; the end of --help and --version is returned unchanged. */
export function usageError(error: CommanderError, command: Command, argv: readonly string[]): Error {
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

export function unknownCommand(name: string, known: readonly string[]): ConfigError {
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
