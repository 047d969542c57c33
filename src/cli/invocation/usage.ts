import type { Command, CommanderError } from "commander";
import { ConfigError } from "../../errors.ts";
import { uncoded } from "../../message.ts";
import { nearest } from "../../nearest_name.ts";

/** Commander's error as a ConfigError with advice; the end of --help and --version is returned unchanged. */
export function usageError(error: CommanderError, command: Command, argv: readonly string[]): Error {
  if (error.exitCode === 0) return error;
  const known = command.parent === null ? command.commands.map(each => each.name()) : [];
  // Commander has shown the help on stderr already.
  if (error.code === "commander.help") return new ConfigError(uncoded("Name a command."));
  if (error.code === "commander.unknownCommand") return unknownCommand(quotedIn(error.message), known);
  if (error.code === "commander.unknownOption") return unknownOption(quotedIn(error.message), command, argv);
  const message = error.message.replace(/^error: /, "");
  return withHelp(`${message.charAt(0).toUpperCase()}${message.slice(1)}`, command);
}

export function unknownCommand(name: string, known: readonly string[]): ConfigError {
  return withHelp(`Unknown command '${name}'${meant(name, known, "")}`, undefined);
}

function unknownOption(option: string, command: Command, argv: readonly string[]): ConfigError {
  const [name = "", value] = option.replace(/^-+/, "").split("=", 2);
  const known = command.options.flatMap(({ long }) => (long === undefined || long === null ? [] : [long.slice(2)]));
  if (value !== undefined && known.includes(name))
    return withHelp(`Option '--${name}' takes no value, got '${option}'.`, command);
  const sentence = `Unknown option '${option}'${meant(name, known, "--")}`;
  if (command.parent !== null) return withHelp(sentence, command);
  const called = argv.find(word => command.commands.some(each => each.name() === word)) ?? "sync";
  return withHelp(
    `${sentence}. A command comes first, its options after it: \`tributary ${called} ${option} …\`.`,
    undefined,
  );
}

function meant(name: string, known: readonly string[], before: string): string {
  const near = nearest(name, known);
  return near === undefined ? "" : ` (did you mean ${before}${near}?)`;
}

function withHelp(sentence: string, command: Command | undefined): ConfigError {
  const name = command === undefined || command.parent === null ? "" : ` ${command.name()}`;
  return new ConfigError(uncoded(`${sentence}\n\`tributary${name} --help\` lists what there is.`));
}

const quotedIn = (message: string): string => /'(.*)'/s.exec(message)?.[1] ?? "";
