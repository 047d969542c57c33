import { z } from "zod";
import { formatCount } from "../../counted.ts";
import { type Given, required } from "../../options/options.ts";
import type { CliContext } from "../invocation/context.ts";
import { type CommonOptions, defined } from "../invocation/options.ts";
import { inShell } from "../terminal/look.ts";
import { commandMessages } from "./messages.ts";

const own = { to: required(z.string(), "a configuration, whose destination is filled", "<file>") };

type MoveOptions = CommonOptions & Given<typeof own>;

export const register = defined({
  description:
    "Copy this warehouse into an empty one, in the same or another database: tables, versions of rows, state. It sends no request, compares every table row by row, and leaves this warehouse as it is. A move that is stopped copies nothing.",
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
      `Copied ${formatCount(tables)} tables with ${formatCount(rows)} rows, and compared each row.`,
      `From: ${report.from}`,
      `To:   ${report.to}`,
      ...(left.length === 0 ? [] : [`Not copied, because no stream fills them: ${left.join(", ")}.`]),
      `From now on run \`tributary sync --config ${inShell(options.to)}\`. The old warehouse stays as it is: remove it once nothing reads it.`,
    ].join("\n"),
  );
}
