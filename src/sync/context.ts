import type { Cause } from "../catalog/cause.ts";
import type { Mode, Stream } from "../catalog/stream.ts";
import type { Clock } from "../clock.ts";
import type { Config, StreamDefaults, StreamSettings } from "../config/config.ts";
import type { Log } from "../logging.ts";
import type { Hasher } from "../rows/hash.ts";
import type { Formats } from "../rows/moment.ts";
import type { Api } from "../source/api.ts";
import type { Limiter } from "../source/limit.ts";
import type { Destination } from "../warehouse/destination.ts";
import type { StreamProgress } from "./stream_progress.ts";

export type StreamPolicy = Omit<StreamSettings, "volatile" | "key" | keyof StreamDefaults> &
  Omit<StreamDefaults, "history" | "details"> & {
    readonly details: StreamDefaults["details"] & Pick<NonNullable<StreamSettings["details"]>, "refreshMs">;
  };

/** What is read beyond what is due, and accepted beyond what the deletion guard allows. */
export interface Refresh {
  /** Lists and feeds whole, high-water marks ignored. */
  readonly full: boolean;
  /** Details of all live parents, whatever the detail state says. */
  readonly allDetails: boolean;
  /** Nothing but the details of the rows with these keys, as `parent_key` has them: no list, and whatever the detail state says. */
  readonly only?: readonly string[] | undefined;
  /** `full` and `allDetails` go on with what a stopped run began; absent: they begin afresh. */
  readonly resume?: boolean;
  /** The deletion guard's limits don't hold. */
  readonly confirmDeletes: boolean;
}

export const asDue: Refresh = { full: false, allDetails: false, confirmDeletes: false };

/** Whether an order has a selected stream worked on: a list is selected with its details even where only these are asked for. */
export const isWorkedOn = ({ only }: Refresh, { mode }: Stream): boolean =>
  only === undefined || mode.kind === "detail";

export interface RunPolicy extends Omit<Refresh, "resume"> {
  /** Since when what `full` and `allDetails` ask for is read afresh, ISO 8601: what was begun before is not gone on with. Absent: it is. */
  readonly afreshSince?: string | undefined;
  readonly deletes: Config["deletes"];
  readonly problems: Config["problems"];
  readonly start: Config["streams"]["start"];
  /** Requests beyond which what an earlier `start` leaves in is not read by itself. */
  readonly confirmAbove: number;
  /** YYYY-MM-DD; details of parents from then on are left to other runs. */
  readonly to?: string | undefined;
  /** Details of parents that are dated outside a range are left to other runs, also those that the config's start would leave in. */
  readonly ranged?: boolean;
  readonly publishEveryMs: number;
  readonly ofStream: (name: string) => StreamPolicy;
}

/** Answers that came long ago, and are loaded again. */
export interface EarlierAnswers {
  /** When they were read, milliseconds since 1970. */
  readonly at: number;
  /** How far the tables are complete already, ISO 8601: that is not taken back. */
  readonly completeTo: string | null;
  readonly scan: string;
}

/** How far the tables are complete with what was read at a moment; null: no further than before. */
export function completeWith({ earlier }: Pick<SyncContext, "earlier">, date: string | null): string | null {
  if (date === null || earlier === undefined || earlier.completeTo === null) return date;
  return date < earlier.completeTo ? null : date;
}

/** Who answers a company's requests. */
export interface ServiceAccess {
  readonly baseUrl: string;
  readonly api: Api;
  readonly limiter: Limiter;
  /** How many streams of details began before this one: its requests give way to theirs, so that not all end at once. */
  readonly turn: number;
  /** Resolves when every answer so far is in the archive of raw pages; at once where there is none. */
  readonly archived: () => Promise<void>;
}

/** The same work, with answers from elsewhere. */
export const askedBy = (context: SyncContext, api: Api): SyncContext => ({
  ...context,
  service: { ...context.service, api },
});

export interface Encoding {
  readonly formats: Formats;
  readonly hasher: Hasher;
  /** Takes every secret out of a text that is going to be stored. */
  readonly redact: (text: string) => string;
}

/** One company's part of a run: everything a stream needs to be synced, handed in. */
export interface SyncContext {
  readonly runId: string;
  readonly company: string;
  readonly service: ServiceAccess;
  readonly destination: Destination;
  /** Publishes one after another: side by side all would end with the last, and details would wait for every list instead of their own. */
  readonly inTurn: <T>(publish: () => Promise<T>) => Promise<T>;
  readonly clock: Clock;
  readonly encoding: Encoding;
  /** Aborts with a StoppedError (the run ends at the next safe point), or with the ApiError that stopped the company. */
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly policy: RunPolicy;
  readonly streams: {
    /** All streams there are, for parents, details and fixed paths. */
    readonly catalogue: readonly Stream[];
    /** Names of the streams that this run or, by the configuration, another one reads. */
    readonly wanted: ReadonlySet<string>;
    /** Which changes of rows make details of other rows due. */
    readonly causes: readonly Cause[];
    /** Streams that the order names one by one, not by a pattern or preset. */
    readonly named: ReadonlySet<string>;
  };
  /** Absent: the answers come now. */
  readonly earlier?: EarlierAnswers | undefined;
}

/** One stream's part of a run: everything its steps have in common. */
export interface StreamSync<M extends Mode = Mode> {
  readonly context: SyncContext;
  readonly stream: Stream;
  readonly mode: M;
  readonly progress: StreamProgress;
}
