import type { Config } from "../../config/config.ts";
import { ConfigError } from "../../errors.ts";
import { runDefaults } from "../../library/connector.ts";
import type { BackfillOrder } from "../../operations/backfill/backfill.ts";
import type { Estimate } from "../../operations/estimate/estimate.ts";
import { backfillOptions, type Given } from "../../options/options.ts";
import { askConsent } from "../invocation/asking.ts";
import type { CliContext } from "../invocation/context.ts";
import { type CommonOptions, defined, limitsOf, runOptions, streamsArgument } from "../invocation/options.ts";
import { commandMessages } from "./messages.ts";
import { runOutcome } from "./sync.ts";

type BackfillOptions = CommonOptions & Given<typeof backfillOptions>;

export const register = defined({
  arguments: [streamsArgument()],
  description:
    "Load history: feeds by windows of dates, several at once; lists whole, and details of their rows that are dated in the range (without --to also of those without a date). What was begun is kept: the same command goes on where it was left. While another run waits for the lock, it goes first.",
  options: [backfillOptions, ...runOptions, "yes"],
  examples: [
    "tributary backfill --from 2023-01-01 --dry-run",
    "tributary backfill --from 2023-01-01",
    "tributary backfill --resume",
    "tributary backfill 'invoice*' --from 2024-01-01 --to 2024-07-01 --yes",
  ],
  run: backfill,
});

async function backfill(names: readonly string[], options: BackfillOptions, context: CliContext): Promise<void> {
  refuseContradictions(options);
  const { config, warnings } = await context.openConfig(options);
  const { runOnTerminal } = await import("../invocation/run_tools.ts");
  const { planBackfill, runBackfill } = await import("../../operations/backfill/backfill.ts");
  const { estimateReport } = await import("../terminal/sync_estimate.ts");
  await runOnTerminal(context, options, warnings, async tools => {
    const order = await backfillOrder(names, options, config);
    if (options.dryRun) {
      const estimate = await planBackfill(order, tools);
      return { document: estimate, text: look => estimateReport(estimate, look) };
    }
    const consent = options.yes
      ? undefined
      : (estimate: Estimate) => requireConsent(estimate, estimateReport(estimate, context.look()), config, context);
    const again = options.workers ? "tributary backfill --resume --workers" : "tributary backfill --resume";
    return runOutcome(await runBackfill(order, tools, consent), config, again);
  });
}

function refuseContradictions({ from, to, resume, restart }: BackfillOptions): void {
  if (resume && restart) throw new ConfigError(commandMessages.backfill_resume_and_restart());
  if (resume && (from !== undefined || to !== undefined))
    throw new ConfigError(commandMessages.backfill_resume_with_dates());
}

async function backfillOrder(
  names: readonly string[],
  options: BackfillOptions,
  config: Config,
): Promise<BackfillOrder> {
  return {
    ...(await runDefaults()),
    command: "tributary backfill",
    config,
    selection: { names, company: options.company },
    limits: limitsOf(options),
    range: { from: options.from, to: options.to },
    resume: options.resume ?? false,
    restart: options.restart ?? false,
    workers: options.workers ?? false,
  };
}

async function requireConsent(estimate: Estimate, shown: string, config: Config, context: CliContext): Promise<void> {
  const { confirmAbove } = config.backfill;
  if (context.stdin.isTTY) context.stderr.write(`${context.redact(shown)}\n`);
  await askConsent(context, "Load it?", {
    offTerminal: commandMessages.backfill_unconfirmed({ requests: estimate.requests, confirm_above: confirmAbove }),
    refused: commandMessages.backfill_refused(),
  });
}
