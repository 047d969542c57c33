import { catalog, template } from "../../message.ts";
import { makers } from "../../messages.ts";

type Maybe = string | undefined;

const withHelp = (sentence: string, command: Maybe): string =>
  `${sentence}\n\`tributary${command === undefined ? "" : ` ${command}`} --help\` lists what there is.`;

const meant = (suggestion: Maybe): string => (suggestion === undefined ? "" : ` (did you mean ${suggestion}?)`);

/** Messages of the program around its commands. */
export const cliMessages = catalog("cli", {
  bug: template(
    { what: "TypeError: x is not a function" },
    ({ what }) =>
      `This is a bug in tributary: ${what}\nWhat was saved before it is safe, and the next run goes on from there. Please report it ${makers.bugs}.`,
  ),
  no_command: "Name a command.",
  option_before_command: template(
    { option: "--json", suggestion: undefined as Maybe, command: "sync" },
    ({ option, suggestion, command }) =>
      withHelp(
        `Unknown option '${option}'${meant(suggestion)}. A command comes first, its options after it: \`tributary ${command} ${option} …\`.`,
        undefined,
      ),
  ),
  option_with_value: template({ option: "--json", given: "--json=1", command: "sync" as Maybe }, given =>
    withHelp(`Option '${given.option}' takes no value, got '${given.given}'.`, given.command),
  ),
  output_not_written:
    "Expected to write to stdout, but: {reason=ENOSPC: no space left on device, write}. What went before it is done.",
  page_served: "the status page is served",
  report_without_views:
    "The report is made from the views for analysts, and the configuration has `views: false`. Set `views: true`, run `tributary sync`, and call the report again.",
  run_stopped: "Stopped by {signal=SIGTERM}: what was read is stored, the next run goes on from there.",
  run_stopping:
    "stopping at the next safe point, which saves what was read; once more leaves at once, and loses nothing either",
  unknown_command: template({ name: "snyc", suggestion: "sync" as Maybe }, ({ name, suggestion }) =>
    withHelp(`Unknown command '${name}'${meant(suggestion)}`, undefined),
  ),
  unknown_option: template(
    { option: "--ful", suggestion: "--full" as Maybe, command: "sync" },
    ({ option, suggestion, command }) => withHelp(`Unknown option '${option}'${meant(suggestion)}`, command),
  ),
  usage: template(
    {
      reason: "Option '--wait <duration>' argument '30' is invalid. Expected a duration such as 30s, 10m, 4h or 7d.",
      command: "sync" as Maybe,
    },
    ({ reason, command }) => withHelp(reason, command),
  ),
});
