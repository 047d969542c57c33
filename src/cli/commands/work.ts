import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { z } from "zod";
import { systemClock } from "../../clock.ts";
import type { Config } from "../../config/config.ts";
import type { CachedStatus } from "../../daemon/cached_status.ts";
import type { WorkerHealth } from "../../daemon/page/health.ts";
import { ConfigError } from "../../errors.ts";
import { runDefaults } from "../../library/connector.ts";
import type { Log } from "../../logging.ts";
import { reworded } from "../../message.ts";
import type { Status } from "../../operations/status.ts";
import { whole } from "../../options/fields.ts";
import { type Given, option } from "../../options/options.ts";
import type { CliContext } from "../invocation/context.ts";
import { interruption } from "../invocation/interruption.ts";
import { type CommonOptions, defined, unless } from "../invocation/options.ts";
import { commandMessages } from "./messages.ts";

const own = {
  local: option(whole(1, 64), "start so many workers as processes of this machine", "<n>"),
  drain: option(
    z.union([z.string(), z.literal(true)]),
    "have a worker, or all, finish what they are doing and leave",
    "[worker]",
  ),
  stop: option(
    z.string().regex(/^\d{8}T\d{6}-[0-9a-f]{8}$/, {
      error: "expected the id of a run such as 20261126T020000-1a2b3c4d: `tributary status` shows it",
    }),
    "end a run at its next safe point",
    "<run>",
  ),
  server: unless("don't serve health and metrics"),
};

type WorkOptions = CommonOptions & Given<typeof own>;

const words = {
  stopping: commandMessages.work_stopping(),
  stopped: commandMessages.work_stopped,
};

export const register = defined({
  description:
    "Stay up and work on the runs of `tributary schedule` and `tributary sync --workers`, a company at a time. Any number of machines may do so, for one warehouse in PostgreSQL or one lake; one process at a time works on a company.",
  options: [own, "config", "log"],
  signals: `
Signals:
  SIGTERM, SIGINT  ends within 10 seconds; what was read is stored, and other workers go on with it. Exit code 0.`,
  examples: ["tributary work", "tributary work --local 4 --no-server", "tributary work --drain"],
  run: work,
});

async function work(options: WorkOptions, context: CliContext): Promise<void> {
  if (options.local !== undefined) return workLocally(options.local, options, context);
  const { config, warnings } = await context.openConfig(options);
  const log = await context.openLog(options.logLevel);
  for (const warning of warnings) log.warn(warning);
  const { openFleet } = await import("../../fleet/opening.ts");
  const { reaching } = await import("../../sync/run/attempts.ts");
  using stop = interruption(context, log.info, words);
  const { signal } = stop;
  const tools = { clock: systemClock, log, signal };
  await using fleet = await reaching(() => openFleet(config, tools), { config }, tools);
  if (options.stop !== undefined) {
    await fleet.stop(options.stop);
    return context.print(`Run ${options.stop} ends at its next safe point.`);
  }
  if (options.drain !== undefined) {
    const asked = await fleet.drain(options.drain === true ? undefined : options.drain);
    if (asked.length === 0) throw new ConfigError(commandMessages.work_drain_unknown());
    return context.print(`${asked.join(", ")}: finishing, then leaving.`);
  }
  const { Worker } = await import("../../fleet/worker.ts");
  const id = `${hostname()}-${process.pid}-${randomUUID().slice(0, 4)}`;
  const worker = new Worker({
    ...{ id, config, log, clock: systemClock, random: Math.random, redact: context.redact },
    ...{ queue: fleet.queue, beat: fleet.beat },
    defaults: await runDefaults(),
  });
  if (process.channel) process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
  const { messageFor } = await import("../../sync/run/report.ts");
  const letThrough = context.onStray(error => log.error(messageFor(error), { err: error }));
  const closeServer = await serveHealth(config, options, () => worker, { context, log });
  log.info(commandMessages.work_started(), { worker: id });
  try {
    await worker.serve(signal);
  } finally {
    await closeServer();
    await fleet.forget(id).catch(() => undefined);
    letThrough();
  }
  log.info(commandMessages.work_left(), { worker: id });
}

/** Serves health and metrics at `server.listen`, but not with --no-server. Returns the function that stops the server. @throws ConfigError */
async function serveHealth(
  config: Config,
  { server }: WorkOptions,
  look: (cachedStatus: () => Promise<CachedStatus>) => WorkerHealth | Promise<WorkerHealth>,
  { context, log }: { readonly context: CliContext; readonly log: Log },
): Promise<() => Promise<void>> {
  if (!server) return async () => undefined;
  const { statusCacheOf } = await import("../../daemon/cached_status.ts");
  const { workerRoutes } = await import("../../daemon/page/health.ts");
  const { workerMetrics } = await import("../../daemon/page/metrics.ts");
  const { servePage } = await import("../../daemon/page/server.ts");
  const { packageVersion } = await import("../../package_root.ts");
  const { catalogue } = await runDefaults();
  const clock = systemClock;
  const { look: cachedStatus } = statusCacheOf(() => config, catalogue, undefined, { clock, daemon: undefined });
  const startedAt = new Date(clock.now()).toISOString();
  const { url, close } = await servePage({
    ...{ listen: config.server, access: () => config.server, source: undefined, log, clock, redact: context.redact },
    routes: [
      workerMetrics({ version: packageVersion(), startedAt, cachedStatus }),
      ...workerRoutes(() => look(cachedStatus)),
    ],
  }).catch(error => {
    // A schedule of the same machine, or another worker, has the configuration's address.
    throw error instanceof ConfigError
      ? new ConfigError(reworded(error, `${error.message} With --no-server this worker serves nothing.`), error)
      : error;
  });
  log.info(commandMessages.work_served(), { url });
  return close;
}

/** How long a worker that ended by itself is waited for before the next one is started in its place. */
const AGAIN_MS = 2_000;

/** Workers as processes of their own: one core each is what limits one. Their parent serves what is said of them. */
async function workLocally(count: number, options: WorkOptions, context: CliContext): Promise<void> {
  const { config: loaded } = await context.openConfig(options);
  const log = await context.openLog(options.logLevel);
  using stop = interruption(context, log.info, words);
  const { signal } = stop;
  const config = options.config === undefined ? [] : ["--config", options.config];
  const said = options.quiet ? ["--quiet"] : ["--log-level", options.logLevel];
  const format = options.logFormat === undefined ? [] : ["--log-format", options.logFormat];
  const args = ["work", "--no-server", ...said, ...format, ...config];
  const children = new Set<ChildProcess>();
  const closeServer = await serveHealth(
    loaded,
    options,
    async cachedStatus => healthOf([...children], (await cachedStatus()).status),
    { context, log },
  );
  signal.addEventListener("abort", () => {
    for (const child of children) child.disconnect();
  });
  const keep = async (): Promise<void> => {
    while (!signal.aborted) {
      const child = spawn(process.execPath, [...process.execArgv, process.argv[1]!, ...args], {
        // Of a group of its own, or Ctrl-C would reach it beside the parent's word; it leaves with its parent, which it hears by the channel.
        detached: true,
        stdio: ["ignore", "inherit", "inherit", "ipc"],
      });
      children.add(child);
      const code = await new Promise<number | null>(resolve => child.once("exit", resolve));
      children.delete(child);
      // 0: it was drained. 2: the configuration is wrong, and a new worker would end with 2 again.
      if (code === 0 || code === 2) return code === 2 ? context.exit(2) : undefined;
      if (signal.aborted) return;
      log.warn(commandMessages.work_restarted(), { exit_code: code });
      await systemClock.sleep(AGAIN_MS, signal).catch(() => undefined);
    }
  };
  await Promise.all(Array.from({ length: count }, keep));
  await closeServer();
}

/** How workers of this machine stand, as they have told the queue: one that does its work is enough. */
function healthOf(children: readonly ChildProcess[], status: Status | undefined): WorkerHealth {
  const own = (status?.workers?.workers ?? []).filter(
    ({ up, host, pid }) => up && host === hostname() && children.some(child => child.pid === pid),
  );
  const refusals = own.map(({ refusal }) => refusal ?? undefined);
  return {
    isConnected: own.length > 0,
    isDraining: own.every(({ draining }) => draining),
    refusal: refusals.includes(undefined) ? undefined : refusals[0],
  };
}
