import { type Command, InvalidArgumentError } from "commander";
import { ConfigError } from "../../errors.ts";
import { runDefaults } from "../../library/connector.ts";
import type { CliContext } from "../invocation/context.ts";
import { attachOptions, type CommonOptions, streamsArgument } from "../invocation/options.ts";
import { commandMessages } from "./messages.ts";
import { runOutcome } from "./sync.ts";

interface ReplayOptions extends CommonOptions {
  /** Milliseconds since 1970. */
  readonly from?: number;
  readonly to?: number;
  readonly rejects?: true;
}

const DAY_MS = 86_400_000;

export function register(command: Command, context: CliContext): void {
  command
    .addArgument(streamsArgument())
    .description(
      "Load again from the archive of raw answers, without one request: the tables become what direct runs had made them. Streams that were never loaded, or were dropped, get everything that is archived; others what their last whole reading and the runs since then brought.",
    )
    .option("--from <date>", "only what was read from this day or moment on (UTC)", beginning)
    .option("--to <date>", "only what was read up to this day, itself included, or before this moment (UTC)", end);
  command.option("--rejects", "not the archive: try the rows again that could not be stored");
  attachOptions(
    command,
    ["company", "config", "json", "maxTime", "wait", "log", "noProgress"],
    "tributary replay",
    "tributary reset invoices --drop && tributary replay invoices",
    "tributary replay --rejects",
    "tributary replay 'invoice*' --from 2026-03-01 --to 2026-03-31 --json",
  ).action((names: string[], options: ReplayOptions) => replay(names, options, context));
}

const beginning = (text: string): number => momentOf(text).at;

/** A day ends when the next one begins. */
function end(text: string): number {
  const { at, isDay } = momentOf(text);
  return isDay ? at + DAY_MS : at;
}

function momentOf(text: string): { readonly at: number; readonly isDay: boolean } {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const isMoment = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})?$/.test(text);
  const at =
    isDay || isMoment ? Date.parse(/(Z|[+-]\d{2}:\d{2})$/.test(text) && !isDay ? text : utc(text)) : Number.NaN;
  // Date.parse takes the 31st of February for one of March.
  const isReal = !Number.isNaN(at) && (!isDay || new Date(at).toISOString().startsWith(text));
  if (!isReal)
    throw new InvalidArgumentError(
      "Expected a calendar date such as 2024-01-31, or a moment such as 2024-01-31T06:00Z.",
    );
  return { at, isDay };
}

const utc = (text: string): string => (text.includes("T") ? `${text}Z` : `${text}T00:00:00Z`);

async function replay(names: readonly string[], options: ReplayOptions, context: CliContext): Promise<void> {
  if (options.rejects && (options.from !== undefined || options.to !== undefined))
    throw new ConfigError(commandMessages.replay_rejects_with_dates());
  const { from, to } = options;
  if (from !== undefined && to !== undefined && from >= to) {
    const [began, ended] = [from, to].map(at => new Date(at).toISOString());
    throw new ConfigError(commandMessages.replay_span({ from: began!, to: ended! }));
  }
  const { config, warnings } = await context.openConfig(options, { local: true });
  const { runOnTerminal } = await import("../invocation/run_tools.ts");
  const { runReplay } = await import("../../operations/replay/replay.ts");
  await runOnTerminal(context, options, warnings, async tools => {
    const order = {
      ...(await runDefaults()),
      command: "tributary replay",
      config,
      selection: { names, company: options.company },
      limits: { maxTimeMs: options.maxTime, maxRequests: undefined, waitMs: options.wait },
      span: { from, to },
      rejects: options.rejects ?? false,
    };
    return runOutcome(await runReplay(order, tools), config, order.command);
  });
}
