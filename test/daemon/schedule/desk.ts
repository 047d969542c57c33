import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { stringify } from "yaml";
import type { Config } from "../../../src/config/config.ts";
import type { LoadedConfig } from "../../../src/config/load.ts";
import { loadConfig } from "../../../src/config/load.ts";
import type { DaemonEvent } from "../../../src/daemon/schedule/events.ts";
import type { Past } from "../../../src/daemon/schedule/past_runs.ts";
import { ScheduleDaemon } from "../../../src/daemon/schedule/schedule.ts";
import { changedKeys } from "../../../src/daemon/schedule/source.ts";
import { type ExitCode, StoppedError } from "../../../src/errors.ts";
import type { Message } from "../../../src/message.ts";
import type { RunReport } from "../../../src/sync/run/run.ts";
import type { RunOrder, RunTools } from "../../../src/sync/run/run_order.ts";
import { identityEndpoint } from "../../../streams/identity.ts";
import { streams } from "../../../streams/index.ts";
import { relationsOf } from "../../../streams/relations.ts";
import { logTo, sentence } from "../../support/log.ts";
import { models } from "../../support/models.ts";
import { type MovedClock, movedClock } from "./moved_clock.ts";

/** A run as a test writes it: how long it takes, and how it ends; default: a minute, well. */
export interface Script {
  readonly ms?: number;
  readonly code?: ExitCode;
  readonly throws?: unknown;
  /** Does not end when it is asked to. */
  readonly deaf?: true;
  /** Knows its streams after so long. */
  readonly knowsAfterMs?: number;
  readonly streams?: Readonly<Record<string, RunReport["streams"][number]["status"]>>;
}

/** A run that was made. */
export interface Made {
  readonly at: string;
  readonly order: RunOrder;
  readonly cause: string | undefined;
  stopped?: unknown;
}

export interface Desk {
  readonly daemon: ScheduleDaemon;
  readonly clock: MovedClock;
  readonly made: Made[];
  readonly events: DaemonEvent[];
  readonly said: Message[];
  /** Scripts of the runs to come, in order. */
  readonly scripts: Script[];
  /** The next look at the configuration finds this one, or this fault. */
  offer(config: Config | Error): void;
  /** `schedule hh:mm:ss` of the runs so far, with the date from the second day on. */
  starts(): string[];
  end(reason?: Error): Promise<boolean>;
}

/** A configuration out of a real file. */
export async function configOf(more: Readonly<Record<string, unknown>>): Promise<LoadedConfig> {
  const file = join(mkdtempSync(join(tmpdir(), "schedule-")), "config.yaml");
  writeFileSync(file, stringify({ api: { base_url: "https://service.invalid", key: "k-never-used" }, ...more }));
  return loadConfig(file, {});
}

/** A daemon whose runs are scripted, at work from `start` on. */
export async function desk(
  start: string,
  more: Readonly<Record<string, unknown>>,
  given: { readonly past?: () => Promise<Past | undefined>; readonly random?: () => number } = {},
): Promise<Desk> {
  const clock = movedClock(start);
  const { config } = await configOf(more);
  const made: Made[] = [];
  const said: Message[] = [];
  const scripts: Script[] = [];
  const events: DaemonEvent[] = [];
  let offered: Config | Error | undefined;
  const daemon = new ScheduleDaemon(config, {
    clock,
    random: given.random ?? (() => 0),
    log: logTo((_text, _facts, _level, message) => message && said.push(message)),
    redact: text => text.replaceAll("secret", "•••"),
    past: given.past ?? (async () => new Map()),
    defaults: { version: "0.0.0", catalogue: streams, models, relations: relationsOf, identity: identityEndpoint },
    source: {
      changed: async () => offered !== undefined,
      async load() {
        const found = offered ?? config;
        offered = undefined;
        if (found instanceof Error) throw found;
        return { config: found, changed: changedKeys(config, found) };
      },
    },
    run: async (order, tools) => {
      const at = new Date(clock.now()).toISOString();
      const run: Made = { at, order, cause: daemon.live()?.cause };
      made.push(run);
      return perform(run, scripts.shift() ?? {}, tools);
    },
  });
  daemon.listen(event => void events.push(event));
  const stop = new AbortController();
  const served = daemon.serve(stop.signal);
  onTestFinished(() => stop.abort(new Error("the test is over")));
  await clock.settle();
  return {
    daemon,
    clock,
    made,
    events,
    said,
    scripts,
    offer(found) {
      offered = found;
    },
    starts: () => made.map(({ at, order }) => `${order.command.split(" ")[2]} ${at.slice(8, 19).replace("T", " ")}`),
    end: async (reason = new StoppedError(sentence("Stopped by SIGTERM."), 143)) => {
      stop.abort(reason);
      return served;
    },
  };
}

async function perform(
  run: Made,
  script: Script,
  { clock, signal, watch }: Pick<RunTools, "clock" | "signal" | "watch">,
): Promise<RunReport> {
  const { ms = 60_000, code = 0, throws, deaf, knowsAfterMs, streams: told = {} } = script;
  let ended: ExitCode = code;
  if (knowsAfterMs !== undefined)
    void clock
      .sleep(knowsAfterMs)
      .then(() => watch({ snapshot: () => ({ streams: [], limitedBy: "", inFlight: 0, ceiling: 0, limited429: 0 }) }));
  try {
    await clock.sleep(ms, deaf ? undefined : signal);
  } catch (reason) {
    run.stopped = reason;
    ended = reason instanceof StoppedError ? (reason.exitCode as ExitCode) : 70;
  }
  if (throws !== undefined) throw throws;
  const finished = new Date(clock.now()).toISOString();
  const none = { requests: 0, retries: 0, pages: 0, rows_read: 0, inserted: 0, updated: 0, unchanged: 0, repeated: 0 };
  const rest = {
    carried: 0,
    missing: 0,
    deleted: 0,
    child_deleted: 0,
    rejected: 0,
    problems: 0,
    rounded: 0,
    before_start: 0,
    bytes: 0,
    error: null,
  };
  const unproven = { service_rows: null, table_rows: null, difference: null, difference_reason: null };
  const lines = Object.entries(told).map(([name, status]) => {
    const [company = "", stream = ""] = name.includes("/") ? name.split("/") : ["acme", name];
    const times = { started_at: run.at, finished_at: finished };
    return { run_id: "r", company, stream, status, ...times, ...none, ...rest, ...unproven };
  });
  return {
    run_id: "r",
    status: ended === 0 ? "succeeded" : [5, 130, 143].includes(ended) ? "stopped" : "failed",
    exit_code: ended,
    started_at: run.at,
    finished_at: finished,
    warnings: [],
    notes: [],
    errors: ended === 0 ? [] : [sentence("what went wrong")],
    streams: lines,
  };
}
