import { hostname } from "node:os";
import type { Cause } from "../../catalog/cause.ts";
import type { Stream } from "../../catalog/stream.ts";
import type { Clock } from "../../clock.ts";
import type { ArchiveConfig, Company } from "../../config/config.ts";
import { versionedBy } from "../../config/selection.ts";
import { StoppedError } from "../../errors.ts";
import type { Log } from "../../logging.ts";
import { type Privacy, requireOwnPolicyKey } from "../../privacy/apply_policy.ts";
import { type Archive, type ArchiveTools, openArchive } from "../../source/archive/archive.ts";
import { pruneArchive } from "../../source/archive/pruning.ts";
import { openUnseen } from "../../warehouse/connect/open.ts";
import type { Destination } from "../../warehouse/destination.ts";
import { type Look, lookAt } from "../../warehouse/schema/look.ts";
import { requestsOfDay } from "../../warehouse/state/run_log.ts";
import { holdToWarehouse, type Known } from "./companies.ts";
import type { RunSource } from "./jobs.ts";
import { runMessages } from "./messages.ts";
import type { Attempt, RunOrder, RunTools } from "./run_order.ts";
import { closedService, openService, type Service, type SharedClients, tried } from "./service.ts";

export interface PlannedRun {
  readonly order: RunOrder;
  readonly tools: RunTools;
  readonly attempt: Attempt | undefined;
  readonly runId: string;
  readonly startedAt: string;
  readonly companies: readonly Company[];
  /** All streams there are, those that the configuration switches on, and those that the order selects. */
  readonly streams: {
    readonly all: readonly Stream[];
    readonly on: readonly Stream[];
    readonly selected: readonly Stream[];
  };
  /** Which changes of rows make details of other rows due. */
  readonly causes: readonly Cause[];
  readonly privacy: Privacy;
  readonly source: RunSource;
  readonly sharedClients: SharedClients;
}

/** What a process that conducts a run locks: the run alone. No other process can then end its row. */
export const runLockOf = (runId: string): [name: string, lockGroups: readonly string[]] => [
  `run ${runId}`,
  ["its end"],
];

/** What each attempt at a job of the workers locks, by which the sessions of the one before are found. */
const lockedFirst = ({ source, runId, companies }: PlannedRun): string =>
  source.isShared === true ? runLockOf(runId)[0] : companies[0]!.name;

/** Who holds the locks of a run. */
export const holderOf = (command: string, startedAt: string) => ({
  ...{ pid: process.pid, host: hostname(), command, startedAt },
});

/** What a run holds open while it lasts: the destination with its locks, the companies' clients and archives, and its time limit. */
export class RunResources {
  readonly archives: Archives;
  readonly #plan: PlannedRun;
  readonly #leaving = new AbortController();
  /** Aborted when no answer is waited for any more. */
  readonly #asked: AbortSignal;
  #opening: readonly Promise<Service>[] = [];
  #destination: Destination | undefined;
  #limit = new AbortController();
  readonly #prepared = new AbortController();
  /** How long the companies' services were waited for: no part of --max-time before the first stream. */
  #askedMs = 0;

  constructor(plan: PlannedRun) {
    const { order, tools, runId, privacy, source } = plan;
    const { clock, log, redact } = tools;
    const archive = source.asksService ? order.config.archive : undefined;
    this.#plan = plan;
    this.archives = openArchives(archive, { run: runId, privacy: privacy.policy.id, clock, log, redact });
    this.#asked = AbortSignal.any([tools.signal, this.#leaving.signal]);
  }

  /**
   * Opens destination and services side by side: neither needs the other, and both take a round trip and more. With `lock` no
   * request is sent before it resolves, and a company that is not itself is for the caller to fail.
   */
  async open(
    lock?: (destination: Destination) => Promise<void>,
  ): Promise<{ readonly destination: Destination; readonly look: Look; readonly services: readonly Service[] }> {
    const { order, tools, privacy, streams } = this.#plan;
    const { clock } = tools;
    // Nothing is fetched that could only be stored under another key than what is there.
    const early = lock === undefined && privacy.policy.keyId === undefined ? this.#askServices() : undefined;
    const destination = await this.#openDestination();
    // Before its first stream only waits for others' locks are cut; those for our own have --wait.
    const preparing = AbortSignal.any([this.#prepared.signal, this.#leaving.signal]);
    this.#limitTime(-order.limits.waitMs, preparing, this.#limit);
    const look = await lookAt(destination, {
      clock,
      readers: order.config.destination.grantSelectTo,
      functions: versionedBy(streams.all, order.config.streams).size > 0,
    });
    if (early === undefined) await requireOwnPolicyKey(destination, privacy);
    if (lock !== undefined) await lock(destination);
    const { day } = this.#plan.sharedClients;
    if (order.config.api.requestsPerDay !== undefined)
      day.note(await requestsOfDay(destination, new Date(clock.now())), order.config.companies);
    const openedAt = clock.now();
    const services = await this.#acceptServices({ ...look, schema: destination.schema }, early, lock !== undefined);
    this.#askedMs = Math.max(0, clock.now() - openedAt);
    return { destination, look, services };
  }

  /** Everything is prepared: from now on the time limit ends streams. Aborts when it is over. */
  beginStreams(): AbortSignal {
    this.#prepared.abort();
    this.#limit = new AbortController();
    // It may have been over by the time the services had answered.
    if (this.#leaving.signal.aborted) this.#limit.abort(this.#leaving.signal.reason);
    else this.#limitTime(this.#askedMs, this.#leaving.signal, this.#limit);
    return this.#limit.signal;
  }

  async close(): Promise<void> {
    const { sharedClients, tools } = this.#plan;
    this.#leaving.abort();
    await Promise.allSettled(this.#opening);
    for (const api of sharedClients.apis) await api.close();
    // Where no service has answered, nothing says that our clock is right.
    const isAnswered = this.#prepared.signal.aborted && sharedClients.apis.some(({ stats }) => stats.bytes > 0);
    await this.archives.end(isAnswered ? tools.clock.now() : undefined);
    await this.#destination?.close();
  }

  #askServices(): Promise<Service[]> {
    const { order, tools, companies, privacy, source, sharedClients } = this.#plan;
    const { config, version, identity, limits } = order;
    const { clock, random, log } = tools;
    const { maxRequests } = limits;
    const answers = { treat: privacy.ofAnswers, archiveOf: this.archives.of };
    const serviceTools = { clock, random, log, signal: this.#asked, version, maxRequests, ...answers };
    this.#opening = companies.map(async each => {
      if (!source.asksService) return closedService(each, config.api, clock);
      return openService(each, config.api, identity, serviceTools, sharedClients);
    });
    const asking = Promise.all(this.#opening);
    // Nobody may be waiting for them yet.
    asking.catch(() => undefined);
    return asking;
  }

  async #openDestination(): Promise<Destination> {
    const { order, tools, runId, startedAt, source, sharedClients } = this.#plan;
    const { clock, log, signal } = tools;
    // Whoever waits for a lock stops waiting at the first signal.
    const patience: Clock = { now: () => clock.now(), sleep: (ms, until) => clock.sleep(ms, until ?? signal) };
    const opener = {
      waiting(who: string, ms: number) {
        const waiting = runMessages.waiting_for_lock({ holder: who, wait_ms: ms });
        log.info(waiting);
        tools.waits?.(waiting.message);
      },
      runId,
      holder: holderOf(order.command, startedAt),
      clock: patience,
      memory: sharedClients.memory,
      makesRoom: source.givesWay,
      takesOver: order.begun?.isRetry === true ? lockedFirst(this.#plan) : undefined,
      stopReason: () => (signal.aborted ? signal : this.#limit.signal).reason,
    };
    this.#destination = await openUnseen(order.config.destination, opener, order.limits.waitMs);
    return this.#destination;
  }

  /** Waiting for the lock has a limit of its own, waiting for the service --max-time. */
  async #acceptServices(known: Known, early: Promise<Service[]> | undefined, mayBeNone: boolean): Promise<Service[]> {
    const { order, streams } = this.#plan;
    const answered = new AbortController();
    this.#limitTime(0, AbortSignal.any([answered.signal, this.#leaving.signal]), this.#leaving);
    const accept = (service: Service) => tried(service, streams.selected, this.#asked);
    const opened = await (early ?? this.#askServices());
    const { version, acceptsAddress } = order;
    const services = await holdToWarehouse(opened, known, version, accept, mayBeNone, acceptsAddress);
    answered.abort();
    return services;
  }

  #limitTime(spentMs: number, signal: AbortSignal, ending: AbortController): void {
    const { order, tools } = this.#plan;
    const outcome = "everything read so far is stored, the next run goes on from there.";
    const { maxTimeMs, spentMs: before = 0 } = order.limits;
    const limit = { maxTimeMs, spentMs: before + spentMs, outcome };
    limitTime(limit, tools.clock, signal, error => ending.abort(error));
  }
}

export interface Archives {
  of(company: string): Archive | undefined;
  /** Closes the files. `now`: removes those that are too old by then. */
  end(now: number | undefined): Promise<void>;
}

const none: Archives = { of: () => undefined, end: async () => undefined };

function openArchives(
  config: ArchiveConfig | undefined,
  { log, ...tools }: Omit<ArchiveTools, "company"> & { readonly log: Log },
): Archives {
  if (config === undefined) return none;
  const open = new Map<string, Archive>();
  return {
    of(company) {
      const archive = open.get(company) ?? openArchive(config, { ...tools, company });
      open.set(company, archive);
      return archive;
    },
    async end(now) {
      for (const archive of open.values()) await archive.close();
      if (now === undefined) return;
      try {
        const removed = await pruneArchive(config.path, now - config.keepMs);
        if (removed > 0) log.debug("removed from the archive what was older than archive.keep", { files: removed });
      } catch (error) {
        log.warn(runMessages.archive_not_pruned({ path: config.path }), { err: error });
      }
    },
  };
}

interface TimeLimit {
  readonly maxTimeMs: number | undefined;
  readonly spentMs: number;
  /** What becomes of the work so far, for the message. */
  readonly outcome: string;
}

/** Calls `stop` with a StoppedError when what is left of --max-time is over, unless the signal comes first. */
export function limitTime(
  { maxTimeMs, spentMs, outcome }: TimeLimit,
  clock: Clock,
  signal: AbortSignal,
  stop: (error: unknown) => void,
): void {
  if (maxTimeMs === undefined) return;
  clock.sleep(Math.max(0, maxTimeMs - spentMs), signal).then(
    () => stop(new StoppedError(runMessages.time_over({ max_time_ms: maxTimeMs, outcome }), 5)),
    () => undefined,
  );
}
