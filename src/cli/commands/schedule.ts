import { stat } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { systemClock } from "../../clock.ts";
import type { Config } from "../../config/config.ts";
import type { LoadedConfig } from "../../config/load.ts";
import type { DaemonTools, ScheduleDaemon } from "../../daemon/schedule/schedule.ts";
import type { ConfigSource } from "../../daemon/schedule/source.ts";
import { ConfigError } from "../../errors.ts";
import { configuredStreams, runDefaults } from "../../library/connector.ts";
import type { Log } from "../../logging.ts";
import { textsOf } from "../../message.ts";
import type { Given } from "../../options/options.ts";
import type { Surroundings } from "../invocation/attachments.ts";
import type { CliContext } from "../invocation/context.ts";
import { interruption } from "../invocation/interruption.ts";
import { type CommonOptions, defined, textOption, unless } from "../invocation/options.ts";
import { commandMessages } from "./messages.ts";

const own = {
  once: textOption(
    "run this schedule now, end with the run's exit code: for cron, a systemd timer, a CronJob",
    "<name>",
  ),
  server: unless("don't serve the status page"),
};

type ScheduleOptions = CommonOptions & Given<typeof own>;

/** A stop is over in less than the ten seconds that service managers wait at least. */
const STOP_MS = 9_700;

export const register = defined({
  description:
    "Stay up and run what `schedules` in the configuration says, one run at a time. A run that was missed is caught up once, a failed one is tried again. With `workers` in the configuration they do it, and of several such commands one asks them.",
  options: [own, "config", "json", "log", "progress"],
  signals: `
Signals:
  SIGTERM, SIGINT  ends within 10 seconds; the run under way saves what it read. Exit code 0. A second one leaves at once.
  SIGHUP           reads the configuration again, as a change of its file does. One that can't be used is refused.`,
  examples: [
    "tributary schedule",
    "tributary schedule --config /etc/tributary/config.yaml --no-server",
    "tributary schedule --once nightly --json",
  ],
  run: schedule,
});

async function schedule(options: ScheduleOptions, context: CliContext): Promise<void> {
  if (options.once !== undefined) return runOnce(options.once, options, context);
  let daemon: ScheduleDaemon | undefined;
  let reloadAsked = false;
  // Without a listener SIGHUP ends the process, and starting may take as long as waiting for the warehouse.
  const deafen = context.onHangup(() => {
    reloadAsked = true;
    daemon?.reload();
  });
  const loaded = await openSchedules(options, context);
  if (options.json) throw new ConfigError(commandMessages.schedule_json_without_once());
  const log = await context.openLog(options.logLevel);
  for (const warning of loaded.warnings) log.warn(warning);
  const { ScheduleDaemon } = await import("../../daemon/schedule/schedule.ts");
  const { readPast } = await import("../../daemon/schedule/past_runs.ts");
  const running = await runnerOf(loaded.config);
  daemon = new ScheduleDaemon(loaded.config, {
    clock: systemClock,
    random: Math.random,
    log,
    redact: context.redact,
    run: running.run,
    past: async ({ destination, schedules }) =>
      readPast(
        destination,
        schedules.map(({ name }) => name),
        await running.goOn(),
      ),
    source: await sourceOf(loaded, options, context, log),
    defaults: await runDefaults(),
  });
  if (reloadAsked) daemon.reload();
  await serve(daemon, { context, log, server: options.server, isLeading: running.isLeading });
  await running.close();
  deafen();
}

interface Runner {
  readonly run: DaemonTools["run"];
  /** Runs that go on though this process began none. */
  readonly goOn: () => Promise<ReadonlySet<string>>;
  /** Whether this is the one of several daemons that tells people. */
  readonly isLeading: () => Promise<boolean>;
  readonly close: () => Promise<void>;
}

/** Runs what is due in this process, or has the workers do it. */
async function runnerOf(config: Config): Promise<Runner> {
  const { runAttempts } = await import("../../sync/run/attempts.ts");
  const runHere: Runner["run"] = (order, tools) => runAttempts(order, tools);
  if (config.workers === undefined) {
    return {
      run: runHere,
      goOn: async () => new Set(),
      isLeading: async () => true,
      close: async () => undefined,
    };
  }
  const { openFleet } = await import("../../fleet/opening.ts");
  const { runOnWorkers } = await import("../../fleet/following.ts");
  const { occurrenceOf } = await import("../../daemon/schedule/order.ts");
  const fleet = await openFleet(config, { clock: systemClock }, { supervises: false });
  let leads = false;
  return {
    // Some rows' details are a few requests: this process asks for them itself.
    run: (order, tools, turn) =>
      turn.rows === undefined
        ? runOnWorkers(order, { ...tools, ...fleet }, occurrenceOf(turn, order.config))
        : runHere(order, tools, turn),
    goOn: fleet.openRuns,
    // Where the warehouse is out of reach the last one tells people of that.
    isLeading: async () => {
      leads = await fleet.lead().catch(() => leads);
      return leads;
    },
    close: () => fleet.close(),
  };
}

async function serve(daemon: ScheduleDaemon, surroundings: Surroundings): Promise<void> {
  const { context, log } = surroundings;
  const { attach } = await import("../invocation/attachments.ts");
  const detach = await attach(daemon, surroundings);
  using stop = interruption(context, message =>
    log.info(daemon.live() ? message : commandMessages.schedule_stopping()),
  );
  const { messageFor } = await import("../../sync/run/report.ts");
  const letThrough = context.onStray(error => log.error(messageFor(error), { err: error }));
  let deadline = Number.POSITIVE_INFINITY;
  stop.signal.addEventListener("abort", () => {
    deadline = context.clock.now() + STOP_MS;
  });
  const saved = await daemon.serve(stop.signal);
  if (!saved) log.warn(commandMessages.schedule_run_left_behind());
  await Promise.race([detach(), systemClock.sleep(Math.max(0, deadline - context.clock.now()))]);
  log.info(commandMessages.schedule_stopped());
  letThrough();
}

/** The configuration, its schedules found good. @throws ConfigError */
async function openSchedules(options: ScheduleOptions, context: CliContext): Promise<LoadedConfig> {
  const loaded = await context.openConfig(options);
  const { requireSchedules } = await import("../../config/schedules.ts");
  requireSchedules(loaded, (await configuredStreams(loaded.config)).catalogue, context.clock.now());
  return loaded;
}

async function sourceOf(
  first: LoadedConfig,
  options: ScheduleOptions,
  context: CliContext,
  log: Log,
): Promise<ConfigSource> {
  const { changedKeys, watchChanges } = await import("../../daemon/schedule/source.ts");
  let { mounted, warnings, effective } = first;
  const stampOf = async (path: string): Promise<string | undefined> => {
    const found = await stat(path).catch(() => undefined);
    return found && `${found.ino} ${found.size} ${found.mtimeMs}`;
  };
  // A changed secret file counts as a change of the configuration.
  const stamp = async (): Promise<string | undefined> => {
    const own = await stampOf(first.file);
    return own && [own, ...(await Promise.all(mounted.map(stampOf)))].join(", ");
  };
  const { changed, taken } = await watchChanges(stamp);
  return {
    changed,
    async load() {
      // Marked as seen before it is read: an unusable file is not read again until it changes.
      await taken();
      const before = { mounted, warnings, effective };
      const loaded = await openSchedules(options, context);
      ({ mounted, warnings, effective } = loaded);
      if (!isDeepStrictEqual(mounted, before.mounted)) await taken();
      const known = new Set(textsOf(before.warnings));
      for (const warning of warnings) if (!known.has(warning.message)) log.warn(warning);
      return { config: loaded.config, changed: changedKeys(before.effective, effective) };
    },
  };
}

async function runOnce(name: string, options: ScheduleOptions, context: CliContext): Promise<void> {
  const { config, warnings } = await openSchedules(options, context);
  const { orderOf, turnOf } = await import("../../daemon/schedule/order.ts");
  const chosen = config.schedules.find(one => one.name === name);
  if (chosen === undefined)
    throw new ConfigError(commandMessages.schedule_unknown({ known: config.schedules.map(one => one.name), name }));
  const { runOnTerminal } = await import("../invocation/run_tools.ts");
  const { runAttempts } = await import("../../sync/run/attempts.ts");
  const { runOutcome } = await import("./sync.ts");
  await runOnTerminal(context, options, warnings, async tools => {
    const turn = turnOf(chosen, context.clock.now(), "schedule");
    const report = await runAttempts(orderOf(turn, config, await runDefaults()), tools);
    if (report.exit_code === 0 && config.reports.length > 0) {
      const { deliverReports } = await import("../../daemon/notify/report_delivery.ts");
      const { reportFor } = await import("../invocation/reports.ts");
      const make = (wanted: Config["reports"][number]) => reportFor(wanted, config, context);
      const ended = await deliverReports(config, { schedule: name, outcome: report }, { ...tools, make });
      const errors = ended.flatMap(({ failures }) => failures);
      if (errors.length > 0) return runOutcome({ ...report, exit_code: 1, errors }, config);
    }
    return runOutcome(report, config);
  });
}
