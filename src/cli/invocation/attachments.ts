import { systemClock } from "../../clock.ts";
import type { ScheduleDaemon } from "../../daemon/schedule/schedule.ts";
import type { Logger } from "../../logging.ts";
import type { CliContext } from "./context.ts";
import { packageVersion } from "./package_root.ts";

/** How often one look at a file that runs and readers have to share may be taken, and how often at any other warehouse. */
const KEPT_MS = { shared: 60_000, other: 2_000 } as const;

/** What looks at a daemon from outside, and where it is put together. */
export interface Surroundings {
  readonly context: CliContext;
  readonly log: Logger;
  /** Whether the status page, metrics, health and hooks are served. */
  readonly server: boolean;
}

/**
 * Attaches journal, notifications and server, and answers how they are taken off again. All of them ask `daemon.config()` each time,
 * so that a reloaded configuration holds; only where the server listens stays as it began.
 */
export async function attach(
  daemon: ScheduleDaemon,
  { context, log, server }: Surroundings,
): Promise<() => Promise<void>> {
  const { keepJournal } = await import("../../daemon/schedule/journal.ts");
  const { createCachedStatus } = await import("../../daemon/cached_status.ts");
  const { attachNotifier } = await import("../../daemon/notify/attached.ts");
  const { readPast } = await import("../../daemon/schedule/past_runs.ts");
  const { readStatus } = await import("../../operations/status.ts");
  const { streams } = await import("../../../streams/index.ts");
  const { redact, env } = context;
  const clock = systemClock;
  const { destination } = daemon.config();
  const shared = destination.type === "duckdb" && destination.readers === "direct";
  const cachedStatus = createCachedStatus({
    read: () => readStatus(daemon.config(), streams, undefined),
    clock,
    daemon,
    keptMs: shared ? KEPT_MS.shared : KEPT_MS.other,
  });
  const ends: (() => void | Promise<void>)[] = [keepJournal(daemon, log)];
  const past = () => {
    const config = daemon.config();
    return readPast(config.destination, [...config.schedules.map(({ name }) => name), "hook"]);
  };
  ends.push(
    await attachNotifier({
      daemon,
      settings: () => daemon.config(),
      past,
      cachedStatus,
      tools: { clock, log, redact, env },
    }),
  );
  if (server) ends.push(await serveAround(daemon, { context, log, cachedStatus }));
  return async () => {
    for (const end of ends.toReversed()) await end();
  };
}

async function serveAround(
  daemon: ScheduleDaemon,
  {
    context,
    log,
    cachedStatus,
  }: Omit<Surroundings, "server"> & {
    readonly cachedStatus: ReturnType<typeof import("../../daemon/cached_status.ts").createCachedStatus>;
  },
): Promise<() => Promise<void>> {
  const { createMetrics } = await import("../../daemon/page/metrics.ts");
  const { healthRoutes } = await import("../../daemon/page/health.ts");
  const { hookRoute } = await import("../../daemon/page/hook.ts");
  const { servePage } = await import("../../daemon/page/server.ts");
  const { warehouseSource } = await import("../../daemon/page/source.ts");
  const { streams } = await import("../../../streams/index.ts");
  const clock = systemClock;
  const lateAfterMs = () => daemon.config().freshness.lateAfterMs;
  const metrics = createMetrics({ version: packageVersion(), clock, daemon, cachedStatus, lateAfterMs });
  const deafen = daemon.listen(metrics.observe);
  const { server } = daemon.config();
  const page = await servePage({
    listen: server,
    access: () => daemon.config().server,
    source: warehouseSource(() => daemon.config(), streams, undefined, daemon),
    routes: [
      metrics.route,
      ...healthRoutes({ clock, daemon, cachedStatus, lateAfterMs }),
      hookRoute({ hooks: () => daemon.config().hooks, daemon, clock }),
    ],
    log,
    clock,
    redact: context.redact,
  });
  log.info({ url: page.url }, "the status page is served");
  return async () => {
    deafen();
    await page.close();
  };
}
