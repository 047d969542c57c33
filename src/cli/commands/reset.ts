import { Argument } from "commander";
import { counted } from "../../counted.ts";
import type { ResetLine, ResetOrder } from "../../operations/reset.ts";
import { flag, type Given } from "../../options/options.ts";
import { packageVersion } from "../../package_root.ts";
import { askConsent } from "../invocation/asking.ts";
import type { CliContext } from "../invocation/context.ts";
import { type CommonOptions, defined } from "../invocation/options.ts";
import type { Look } from "../terminal/look.ts";
import { streamTable } from "../terminal/table.ts";
import { commandMessages } from "./messages.ts";

const own = { drop: flag("remove this company's rows too, and tables in which no company has rows") };

type ResetOptions = CommonOptions & Given<typeof own>;

export const register = defined({
  arguments: [
    new Argument("<stream...>", "names, patterns such as 'invoice*', presets; a list brings its details along"),
  ],
  description:
    "Forget how far streams were read, so that the next run reads them from the start. Their rows stay, unless --drop.",
  options: [own, "company", "config", "json", "dry_run", "wait", "log", "yes"],
  examples: [
    "tributary reset items",
    "tributary reset 'invoice*' --dry-run",
    "tributary reset '*' --drop --company acme --yes",
  ],
  run: runReset,
});

async function runReset(names: readonly string[], options: ResetOptions, context: CliContext): Promise<void> {
  const { config } = await context.openConfig(options, { local: true });
  const { companiesOf, newRunId } = await import("../../sync/run/run.ts");
  const { planReset, reset } = await import("../../operations/reset.ts");
  const { systemClock } = await import("../../clock.ts");
  const { streams } = await import("../../../streams/index.ts");
  const companies = companiesOf(config, options.company).map(company => company.name);
  const order: ResetOrder = { config, catalogue: streams, names, companies, drop: options.drop ?? false };
  const plan = await planReset(order);
  if (plan === undefined)
    return told(options, context, [], [], "Nothing has been loaded yet: there is nothing to forget.");
  if (options.dryRun) return told(options, context, plan, [], "Nothing was forgotten: --dry-run.");
  if (!options.json) context.print(costs(plan, order.drop, context.look()));
  if (!options.yes) await consent(order, context);
  const runId = newRunId(new Date(systemClock.now()).toISOString(), Math.random);
  const done = await reset(order, { runId, clock: systemClock, waitMs: options.waitMs, version: packageVersion() });
  if (options.json) return context.printJson({ streams: plan, done });
  context.print(`\n${done.join("\n")}`);
}

function told(
  options: ResetOptions,
  context: CliContext,
  plan: readonly ResetLine[],
  done: readonly string[],
  sentence: string,
): void {
  if (options.json) return context.printJson({ streams: plan, done });
  context.print(
    [...(plan.length > 0 ? [costs(plan, options.drop ?? false, context.look()), ""] : []), sentence].join("\n"),
  );
}

/** The requests of the next run. */
function costs(plan: readonly ResetLine[], drop: boolean, look: Look): string {
  const table = streamTable(plan, [["requests of the next run", line => line.requests ?? "unknown", "right"]], look);
  const sum = plan.reduce((total, { requests }) => total + (requests ?? 0), 0);
  const least = plan.some(line => line.requests === null) ? "at least " : "";
  const rowsToo = drop
    ? " Their rows are removed too, and the earlier versions that were kept of them, which nothing can load again."
    : "";
  return `${table}\n\nThe next run will read them from the start: ${least}${counted(sum, "request")}.${rowsToo}`;
}

function consent({ drop, companies }: ResetOrder, context: CliContext): Promise<void> {
  const message = drop ? `Forget them, and remove the rows of ${companies.join(", ")}?` : "Forget them?";
  return askConsent(context, message, {
    offTerminal: commandMessages.reset_off_terminal(),
    refused: commandMessages.reset_refused(),
  });
}
