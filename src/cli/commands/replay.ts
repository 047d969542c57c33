import { z } from "zod";
import { ConfigError } from "../../errors.ts";
import { runDefaults } from "../../library/connector.ts";
import { flag, type Given, option } from "../../options/options.ts";
import type { CliContext } from "../invocation/context.ts";
import { type CommonOptions, defined, streamsArgument } from "../invocation/options.ts";
import { commandMessages } from "./messages.ts";
import { runOutcome } from "./sync.ts";

const DAY_MS = 86_400_000;

/** A moment as milliseconds since 1970; with `atEnd` the end of a day. */
const moment = (help: string, atEnd: boolean) => {
  const error = "expected a calendar date such as 2024-01-31, or a moment such as 2024-01-31T06:00Z";
  const at = (text: string) => millisecondsOf(text) + (atEnd && isDay(text) ? DAY_MS : 0);
  const rule = z.string().refine(text => !Number.isNaN(millisecondsOf(text)), { error });
  return option(rule.transform(at), help, "<date>");
};

const own = {
  from: moment("only what was read from this day or moment on (UTC)", false),
  to: moment("only what was read up to this day, itself included, or before this moment (UTC)", true),
  rejects: flag("not the archive: try the rows again that could not be stored"),
};

type ReplayOptions = CommonOptions & Given<typeof own>;

export const register = defined({
  arguments: [streamsArgument()],
  description:
    "Load again from the archive of raw answers, without one request: the tables become what direct runs had made them. Streams that were never loaded, or were dropped, get everything that is archived; others what their last whole reading and the runs since then brought.",
  options: [own, "company", "config", "json", "max_time", "wait", "log", "progress"],
  examples: [
    "tributary replay",
    "tributary reset invoices --drop && tributary replay invoices",
    "tributary replay --rejects",
    "tributary replay 'invoice*' --from 2026-03-01 --to 2026-03-31 --json",
  ],
  run: replay,
});

const isDay = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text);

/** NaN for what is no moment. */
function millisecondsOf(text: string): number {
  const at = Date.parse(/:.{0,12}(Z|[+-]\d{2}:\d{2})$/.test(text) || isDay(text) ? text : `${text}Z`);
  const isMoment = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})?$/.test(text);
  if (!isDay(text)) return isMoment ? at : Number.NaN;
  // Date.parse takes the 31st of February for one of March.
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text) ? at : Number.NaN;
}

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
      limits: { maxTimeMs: options.maxTimeMs, maxRequests: undefined, waitMs: options.waitMs },
      span: { from, to },
      rejects: options.rejects ?? false,
    };
    return runOutcome(await runReplay(order, tools), config, order.command);
  });
}
