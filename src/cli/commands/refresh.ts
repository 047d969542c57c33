import { Argument } from "commander";
import { ConfigError } from "../../errors.ts";
import { runDefaults } from "../../library/connector.ts";
import type { CliContext } from "../invocation/context.ts";
import { type CommonOptions, defined, limitsOf, runOptions } from "../invocation/options.ts";
import { commandMessages } from "./messages.ts";
import { dryRun, runOutcome } from "./sync.ts";

/** More keys than this are work for a sync. */
const MOST_KEYS = 1_000;

export const register = defined({
  arguments: [
    new Argument("<list>", "the list that the rows are in, by its name"),
    new Argument("<key...>", "keys of its rows: the text of the list's first key column, as it is in the table"),
  ],
  description:
    "Fetch the details of some rows now, whether they are due or not: those of each detail stream of the list that is on. The row itself comes with the next sync, as the service has no endpoint for one row of a list. Details of details, and those asked for by a value that rows carry, are left to a sync; rows from before streams.start are left out.",
  options: runOptions,
  examples: ["tributary refresh purchase_orders PO-17 PO-18", "tributary refresh invoices 4711 --wait 10m --json"],
  run: refresh,
});

async function refresh(
  list: string,
  keys: readonly string[],
  options: CommonOptions,
  context: CliContext,
): Promise<void> {
  if (keys.length > MOST_KEYS)
    throw new ConfigError(commandMessages.refresh_too_many_keys({ most: MOST_KEYS, keys: keys.length }));
  const { config, warnings } = await context.openConfig(options);
  const { runOnTerminal } = await import("../invocation/run_tools.ts");
  const { refreshOrder } = await import("../../operations/refresh.ts");
  const { runAttempts } = await import("../../sync/run/attempts.ts");
  await runOnTerminal(context, options, warnings, async tools => {
    const given = { ...(await runDefaults()), command: "tributary refresh", config, limits: limitsOf(options) };
    const order = refreshOrder(given, { list, keys }, options.company);
    if (options.dryRun) return dryRun(order, tools, options);
    return runOutcome(await runAttempts(order, tools), config, `tributary refresh ${list} …`);
  });
}
