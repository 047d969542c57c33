import type { StreamGroup } from "../../catalog/stream.ts";
import type { Config } from "../../config/config.ts";
import { flag, type Given } from "../../options/options.ts";
import type { CliContext } from "../invocation/context.ts";
import { type CommonOptions, defined } from "../invocation/options.ts";

const own = { serve: flag("serve the status page at the configuration's server.listen, until Ctrl-C") };

type StatusOptions = CommonOptions & Given<typeof own>;

export const register = defined({
  description:
    "Show the last and the running run, and of every stream how fresh it is, its rows and its problems; of details how old they get, and how many change unseen. Never waits for a run.",
  options: [own, "company", "config", "json", "log"],
  examples: [
    "tributary status",
    "tributary status --json | jq '.streams[] | {stream, complete_to}'",
    "tributary status --serve",
  ],
  run: status,
});

async function status(options: StatusOptions, context: CliContext): Promise<void> {
  const { config } = await context.openConfig(options, { local: true });
  const { companiesOf } = await import("../../sync/run/run.ts");
  const { groups, streams } = await import("../../../streams/index.ts");
  companiesOf(config, options.company);
  if (options.serve) return serve(options, config, groups, context);
  const { readStatus } = await import("../../operations/status.ts");
  const found = await readStatus(config, streams, options.company, context.clock);
  if (options.json) return context.printJson(found);
  const { statusReport } = await import("../terminal/status_report.ts");
  context.print(statusReport(found, context.clock.now(), context.look(), options.verbose));
}

/** The page without a daemon behind it: it shows what the warehouse tells. */
async function serve(
  options: StatusOptions,
  config: Config,
  groups: readonly StreamGroup[],
  context: CliContext,
): Promise<void> {
  const { servePage } = await import("../../daemon/page/server.ts");
  const { warehouseSource } = await import("../../daemon/page/source.ts");
  const { statusCacheOf } = await import("../../daemon/cached_status.ts");
  const { systemClock: clock } = await import("../../clock.ts");
  const catalogue = groups.flatMap(group => group.streams);
  const found = statusCacheOf(() => config, catalogue, options.company, { clock, daemon: undefined });
  const ended = Promise.withResolvers<void>();
  const forget = context.onSignal(() => ended.resolve());
  const page = await servePage({
    listen: config.server,
    access: () => config.server,
    source: warehouseSource(() => config, found, { company: options.company, groups }, undefined),
    routes: [],
    log: await context.openLog(options.logLevel),
    clock,
    redact: context.redact,
  });
  const { url } = page;
  if (options.json) context.printJson({ url });
  else
    context.print(
      `The status page is at ${url}${config.server.token === undefined ? "" : "/?token=<server.token>"}. Ctrl-C ends it.`,
    );
  await ended.promise;
  forget();
  await page.close();
}
