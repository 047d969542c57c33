import { z } from "zod";
import { formatCount } from "../../counted.ts";
import { type Given, required } from "../../options/options.ts";
import type { CliContext } from "../invocation/context.ts";
import { type CommonOptions, defined } from "../invocation/options.ts";
import { inShell } from "../terminal/look.ts";
import { commandMessages } from "./messages.ts";

const own = { to: required(z.string(), "a configuration, the destination of which is to be filled", "<file>") };

type MoveOptions = CommonOptions & Given<typeof own>;

export const register = defined({
  description:
    "Fill an empty warehouse, of whatever database, from this one: tables, versions of rows, state. No request is sent, every table is compared row by row, and this warehouse keeps its rows. Stopped, nothing was copied.",
  options: [own, "config", "json", "wait", "log", "progress"],
  examples: ["tributary move --to postgres.yaml"],
  run: move,
});

async function move(options: MoveOptions, context: CliContext): Promise<void> {
  const { config } = await context.openConfig(options, { local: true });
  const { config: to } = await context.openConfig({ config: options.to }, { local: true });
  const { moveWarehouse } = await import("../../operations/move_warehouse.ts");
  const { newRunId } = await import("../../sync/run/run.ts");
  const { runDefaults } = await import("../../library/connector.ts");
  const { lineProgress } = await import("../invocation/line_progress.ts");
  const { systemClock: clock } = await import("../../clock.ts");
  using progress = await lineProgress(context, options, {
    stopping: commandMessages.move_stopping(),
    stopped: commandMessages.move_stopped,
  });
  const { log, signal, show } = progress;
  const runId = newRunId(new Date(clock.now()).toISOString(), Math.random);
  const report = await moveWarehouse(
    { ...(await runDefaults()), config, to },
    {
      ...{ clock, log, signal, runId, waitMs: options.waitMs },
      watch: ({ table, nth, of }) => show(`copying ${table}: table ${nth} of ${of}`),
    },
  );
  progress.finish();
  if (options.json) return context.printJson(report);
  const { tables, rows, left } = report;
  context.print(
    [
      `${report.from} is in ${report.to} now: ${formatCount(tables)} tables, ${formatCount(rows)} rows, each compared.`,
      ...(left.length === 0 ? [] : [`Of no stream, and left where they are: ${left.join(", ")}.`]),
      `Run \`tributary sync --config ${inShell(options.to)}\` from now on. The former warehouse keeps its rows.`,
    ].join("\n"),
  );
}
