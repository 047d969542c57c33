import { asksNothing, waitsFor } from "../../catalog/lookup.ts";
import { inDependencyOrder, type Model } from "../../catalog/model.ts";
import type { StreamGroup } from "../../catalog/stream.ts";
import type { Config } from "../../config/config.ts";
import { LockedError } from "../../errors.ts";
import type { Status } from "../../operations/status.ts";
import { looking, type WarehouseReading } from "../../warehouse/connect/reading.ts";
import { type History, historyOf } from "../../warehouse/read/run_history.ts";
import { type StreamRecord, streamRecordOf } from "../../warehouse/read/stream_record.ts";
import { RECENT_RUNS } from "../../warehouse/state/run_log.ts";
import type { StatusCache } from "../cached_status.ts";
import type { Daemon } from "../schedule/events.ts";

export interface PageSource {
  /** Data older than this is late. */
  lateAfterMs(): number;
  /** The same object until it is read again. */
  status(): Promise<Status>;
  /** Undefined where nothing can be read at this moment. */
  history(): Promise<History | undefined>;
  /** Undefined where nothing can be read at this moment. */
  record(company: string, stream: string): Promise<StreamRecord | undefined>;
  /** What is read after the stream, or out of its tables. */
  feeds(stream: string): Feeds;
  /** The streams by subject. */
  readonly groups: readonly Subject[];
  /** Undefined where the page is served without a daemon. */
  readonly daemon: Pick<Daemon, "live" | "nextRuns" | "last" | "refusal" | "listen"> | undefined;
}

/** What the page has of a group of the catalogue. */
export interface Subject {
  readonly title: string;
  readonly streams: readonly { readonly name: string }[];
}

/** Names of what a stream's rows serve. */
export interface Feeds {
  readonly tables: readonly string[];
  /** Streams that are asked for each of its rows, or for values of them. */
  readonly details: readonly string[];
  /** Streams that are asked with values of its columns. */
  readonly lookups: readonly string[];
  /** Models that read its tables, themselves or over other models. */
  readonly models: readonly string[];
}

/** What the page shows: of one company, or of all, and the streams and models that there are. */
export interface Shown {
  readonly company: string | undefined;
  readonly groups: readonly StreamGroup[];
  readonly models: readonly Model[];
}

/** The warehouse of the configuration as it is at each look: a daemon may load another one meanwhile. */
export function warehouseSource(
  config: () => Config,
  status: StatusCache,
  { company, groups, models }: Shown,
  daemon: PageSource["daemon"],
): PageSource {
  return {
    lateAfterMs: () => config().freshness.lateAfterMs,
    status: status.read,
    history: async () => {
      const history = await readHistory(config().destination);
      return company === undefined ? history : history && ofCompany(history, company);
    },
    record: (of, stream) => lookingIfFree(config().destination, reading => streamRecordOf(reading, of, stream)),
    feeds: stream => feedsOf(stream, config(), groups, models),
    groups,
    daemon,
  };
}

function feedsOf(
  name: string,
  { streams: { settings }, views }: Config,
  groups: readonly StreamGroup[],
  models: readonly Model[],
): Feeds {
  const catalogue = groups.flatMap(({ streams }) => streams);
  const { main, children } = catalogue.find(stream => stream.name === name)!.tables;
  const tables = [main, ...children].map(table => table.name);
  const namesOf = (streams: readonly { readonly name: string }[]) => streams.map(stream => stream.name);
  // Models stand after those that they read.
  const reached = new Set(tables);
  const reading = inDependencyOrder(models).filter(model => {
    const isReached = [...model.needs, ...model.optional].some(needed => reached.has(needed));
    if (isReached) reached.add(model.name);
    return isReached;
  });
  return {
    tables,
    details: namesOf(catalogue.filter(({ mode }) => mode.kind === "detail" && mode.of === name)),
    lookups: namesOf(
      catalogue.filter(stream =>
        waitsFor(stream, { ...asksNothing, ...settings[stream.name] }).some(table => tables.includes(table)),
      ),
    ),
    models: views === false ? [] : namesOf(reading),
  };
}

function ofCompany(history: History, company: string): History {
  const own = (part: { readonly company: string }) => part.company === company;
  return {
    runs: history.runs.map(run => ({ ...run, streams: run.streams.filter(own) })),
    streams: history.streams.filter(own),
  };
}

/** Reads the last so many runs without a lock; undefined where nothing can be read at this moment. @throws DestinationError, ConfigError */
export const readHistory = (where: Parameters<typeof looking>[0], count = RECENT_RUNS): Promise<History | undefined> =>
  lookingIfFree(where, reading => historyOf(reading, count));

/** Undefined where nothing was loaded yet, or a run has a DuckDB file with `readers: direct`. */
async function lookingIfFree<T>(
  where: Parameters<typeof looking>[0],
  look: (reading: WarehouseReading) => Promise<T>,
): Promise<T | undefined> {
  try {
    return await looking(where, look);
  } catch (error) {
    if (error instanceof LockedError) return undefined;
    throw error;
  }
}
