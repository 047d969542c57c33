import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { stringify } from "yaml";
import { type Simulator, startSimulator } from "../../../simulator/simulator.ts";
import { loadConfig } from "../../../src/config/load.ts";
import type { DaemonEvent } from "../../../src/daemon/schedule/events.ts";
import { readPast } from "../../../src/daemon/schedule/past_runs.ts";
import { ScheduleDaemon } from "../../../src/daemon/schedule/schedule.ts";
import { watchChanges } from "../../../src/daemon/schedule/source.ts";
import { StoppedError } from "../../../src/errors.ts";
import { runSync } from "../../../src/sync/run/run.ts";
import { identityEndpoint } from "../../../streams/identity.ts";
import { streams } from "../../../streams/index.ts";
import { relationsOf } from "../../../streams/relations.ts";
import { sentence, silentLog } from "../../support/log.ts";
import { models } from "../../support/models.ts";
import type { Warehouse } from "../../support/warehouse.ts";
import { type Doorway, doorway } from "./door.ts";
import { type VirtualClock, virtualClock } from "./virtual_clock.ts";

/** A service, a warehouse, a clock, and the daemon between them. */
export interface Place {
  readonly clock: VirtualClock;
  readonly simulator: Simulator;
  readonly warehouse: Warehouse;
  readonly way: Doorway;
  /** Everything that the daemons told, the dead ones too. */
  readonly events: readonly DaemonEvent[];
  /** Puts a key where the configuration looks for it. */
  writeKey(key: string): Promise<void>;
  /** Writes the configuration with another time for the nightly run. */
  reschedule(cron: string): Promise<void>;
  startDaemon(): Promise<void>;
  /** As SIGTERM would. Resolves when the daemon has ended, with whether its run could be saved. */
  stopDaemon(): Promise<boolean>;
  /** Lets time pass to a moment. Runs that begin meanwhile have ended when it resolves. */
  passTo(moment: number): Promise<void>;
}

interface Running {
  readonly daemon: ScheduleDaemon;
  readonly stopping: AbortController;
  readonly served: Promise<boolean>;
  /** Reads what earlier daemons did: it may begin a run any moment. */
  isReading: boolean;
  /** How many sleeps had begun before what it does now. */
  sleepsBefore: number;
}

const sizes = { orders: 60, invoices: 60, items: 0, findings: 20, ingested: 120 };
/** How long the daemon sleeps at most; five seconds of its own would be half a million looks a month. */
const WAKE_MS = 600_000;

export async function openPlace(make: () => Promise<Warehouse>, start: number): Promise<Place> {
  let heard = (): void => undefined;
  const clock = virtualClock(start, () => heard());
  const simulator = await startSimulator({ sizes, now: clock.date, key: "key-of-the-first-days" });
  onTestFinished(() => simulator.close());
  const way = await doorway(simulator, clock.ran.asks);
  const warehouse = await make();
  const folder = await mkdtemp(join(tmpdir(), "tributary-month-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [file, keyFile] = [join(folder, "config.yaml"), join(folder, "key")];
  const writeKey = (key: string) => writeFile(keyFile, `${key}\n`);
  const reschedule = (cron: string) =>
    writeFile(file, stringify(configuration(way.service.url, keyFile, warehouse, cron)));
  await writeKey(simulator.key);
  await reschedule("30 2 * * *");

  const events: DaemonEvent[] = [];
  const died: unknown[] = [];
  let running: Running | undefined;
  const isBusy = ({ daemon, isReading, sleepsBefore }: Running): boolean =>
    isReading || daemon.live() !== undefined || clock.sleepers() === 0 || clock.sleeps() === sleepsBefore;
  const settle = async (): Promise<void> => {
    while (running !== undefined && isBusy(running)) {
      const { promise, resolve } = Promise.withResolvers<void>();
      heard = resolve;
      await promise;
    }
    if (died.length > 0) throw died[0];
  };

  return {
    clock,
    simulator,
    warehouse,
    way,
    events,
    writeKey,
    reschedule,
    async startDaemon() {
      const load = async () => (await loadConfig(file, {})).config;
      const stamp = () => stat(file).then(({ ino, size, mtimeMs }) => `${ino} ${size} ${mtimeMs}`);
      const daemon = new ScheduleDaemon(await load(), {
        clock: clock.daemon,
        // Short pauses: all tries of a request lie within its run's minute.
        random: () => 0.1,
        log: silentLog,
        redact: text => text,
        run(order, tools) {
          clock.ran.begins();
          return runSync(order, { ...tools, clock: clock.runs });
        },
        past: ({ destination, schedules }) =>
          readPast(destination, [schedules[0]!.name]).finally(() =>
            // What follows from it follows in this turn.
            setImmediate(() => {
              if (running !== undefined) running.isReading = false;
              heard();
            }),
          ),
        source: { ...(await watchChanges(stamp)), load: async () => ({ config: await load(), changed: [] }) },
        defaults: { version: "0.0.0", catalogue: streams, models, relations: relationsOf, identity: identityEndpoint },
        wakeMs: WAKE_MS,
      });
      daemon.listen(event => {
        events.push(event);
        heard();
      });
      const stopping = new AbortController();
      const begun = {
        daemon,
        stopping,
        isReading: true,
        sleepsBefore: clock.sleeps(),
        served: daemon.serve(stopping.signal),
      };
      running = begun;
      begun.served
        .catch(error => died.push(error))
        .finally(() => {
          running = undefined;
          heard();
        });
    },
    async stopDaemon() {
      if (running === undefined) throw new Error("expected a daemon that is up");
      const { stopping, served } = running;
      stopping.abort(new StoppedError(sentence("Stopped by SIGTERM"), 143));
      return served;
    },
    async passTo(moment) {
      await settle();
      await clock.pass(moment, before => {
        if (running !== undefined) running.sleepsBefore = before;
        return settle();
      });
    },
  };
}

function configuration(url: string, keyFile: string, warehouse: Warehouse, cron: string): object {
  return {
    company: "acme",
    api: { base_url: url, key: `\${file:${keyFile}}` },
    destination: warehouse.destination,
    views: false,
    streams: { exclude: ["purchase_order*", "items"], settings: { ingested: { full_scan_pages: 1 } } },
    schedules: [{ name: "nightly", cron, timezone: "Europe/Berlin", max_time: "4h", retries: 2, retry_after: "5m" }],
  };
}
