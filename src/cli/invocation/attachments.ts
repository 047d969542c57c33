import { systemClock } from "../../clock.ts";
import { HOOK, REFRESH } from "../../config/schedules.ts";
import type { StatusCache } from "../../daemon/cached_status.ts";
import type { ScheduleDaemon } from "../../daemon/schedule/schedule.ts";
import type { Log } from "../../logging.ts";
import { packageVersion } from "../../package_root.ts";
import type { CliContext } from "./context.ts";
import { cliMessages } from "./messages.ts";

/** What looks at a daemon from outside, and where it is put together. */
export interface Surroundings {
  readonly context: CliContext;
  readonly log: Log;
  /** Whether the status page, metrics, health and hooks are served. */
  readonly server: boolean;
  /** Whether this daemon sends notifications: of several daemons over one warehouse only the leader does. */
  readonly isLeading: () => Promise<boolean>;
}

/**
 * Attaches journal, notifications and server, and answers how they are taken off again. All of them ask `daemon.config()` each time,
 * so that a reloaded configuration holds; only where the server listens stays as it began.
 */
export async function attach(
  daemon: ScheduleDaemon,
  { context, log, server, isLeading }: Surroundings,
): Promise<() => Promise<void>> {
  const { keepJournal } = await import("../../daemon/schedule/journal.ts");
  const { statusCacheOf } = await import("../../daemon/cached_status.ts");
  const { attachNotifier } = await import("../../daemon/notify/attached.ts");
  const { readPast } = await import("../../daemon/schedule/past_runs.ts");
  const { streams } = await import("../../../streams/index.ts");
  const { redact, env } = context;
  const clock = systemClock;
  const status = statusCacheOf(() => daemon.config(), streams, undefined, { clock, daemon });
  const ends: (() => void | Promise<void>)[] = [keepJournal(daemon, log)];
  const past = () => {
    const config = daemon.config();
    return readPast(config.destination, [...config.schedules.map(({ name }) => name), HOOK, REFRESH]);
  };
  const { end, observeReport: observe } = await attachNotifier({
    daemon,
    settings: () => daemon.config(),
    isLeading,
    past,
    cachedStatus: status.look,
    tools: { clock, log, redact, env },
  });
  ends.push(end);
  const { attachReports } = await import("../../daemon/notify/report_delivery.ts");
  const { reportFor } = await import("./reports.ts");
  type Make = Parameters<typeof attachReports>[3]["make"];
  const make: Make = (report, config) => reportFor(report, config, context);
  ends.push(attachReports(daemon, () => daemon.config(), isLeading, { make, clock, log, redact, observe }));
  if (server) ends.push(await serveAround(daemon, { context, log, status }));
  return async () => {
    for (const end of ends.toReversed()) await end();
  };
}

async function serveAround(
  daemon: ScheduleDaemon,
  { context, log, status }: Pick<Surroundings, "context" | "log"> & { readonly status: StatusCache },
): Promise<() => Promise<void>> {
  const { createMetrics } = await import("../../daemon/page/metrics.ts");
  const { healthRoutes } = await import("../../daemon/page/health.ts");
  const { hookRoute } = await import("../../daemon/page/hook.ts");
  const { servePage } = await import("../../daemon/page/server.ts");
  const { warehouseSource } = await import("../../daemon/page/source.ts");
  const { groups } = await import("../../../streams/index.ts");
  const clock = systemClock;
  const cachedStatus = status.look;
  const lateAfterMs = () => daemon.config().freshness.lateAfterMs;
  const metrics = createMetrics({ version: packageVersion(), clock, daemon, cachedStatus, lateAfterMs });
  const deafen = daemon.listen(metrics.observe);
  const { server } = daemon.config();
  const page = await servePage({
    listen: server,
    access: () => daemon.config().server,
    source: warehouseSource(() => daemon.config(), status, { company: undefined, groups }, daemon),
    routes: [
      metrics.route,
      ...healthRoutes({ clock, daemon, cachedStatus, lateAfterMs }),
      hookRoute({ hooks: () => daemon.config().hooks, daemon, clock }),
    ],
    log,
    clock,
    redact: context.redact,
  });
  log.info(cliMessages.page_served(), { url: page.url });
  return async () => {
    deafen();
    await page.close();
  };
}
