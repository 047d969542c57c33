import type { Models } from "../../catalog/model.ts";
import type { Relation } from "../../catalog/relation.ts";
import type { IdentityEndpoint, Stream } from "../../catalog/stream.ts";
import type { Clock } from "../../clock.ts";
import type { Config } from "../../config/config.ts";
import type { Log } from "../../logging.ts";
import type { Destination } from "../../warehouse/destination.ts";
import type { StreamWork } from "../stream/sync_stream.ts";
import type { runCompany } from "./jobs.ts";
import type { RunView } from "./report.ts";
import type { SharedClients } from "./service.ts";

/** A run, as the command line or a schedule asks for it. Times in ms. */
export interface RunOrder {
  readonly command: string;
  readonly version: string;
  readonly config: Config;
  readonly catalogue: readonly Stream[];
  readonly models: Models;
  /** Which rows of these streams' tables belong together. */
  readonly relations: (streams: readonly Stream[]) => readonly Relation[];
  readonly identity: IdentityEndpoint;
  /** Names, patterns, presets; empty: all that the config switches on. */
  readonly names: readonly string[];
  /** Those of the names that a person asked for; absent: all. */
  readonly named?: readonly string[];
  readonly company: string | undefined;
  readonly full: boolean;
  readonly allDetails: boolean;
  /** `full` and `allDetails` go on with what a stopped run began; absent: they begin afresh. */
  readonly resume?: boolean;
  readonly confirmDeletes: boolean;
  readonly maxTimeMs: number | undefined;
  readonly maxRequests: number | undefined;
  readonly waitMs: number;
  /** When it was asked for, with the configuration as it was then (ISO 8601); absent: now. */
  readonly askedAt?: string;
  readonly background?: Background;
  /** Whether the same command has had a connection to the destination before. */
  readonly reached?: boolean;
  readonly attempt?: Attempt;
  /** Instead of asking the service: how a company's streams are loaded from what is at hand. */
  readonly again?: typeof runCompany;
}

/** A run with low priority: others go first, and it waits for the lock without asking the holder to make room. */
export interface Background {
  /** With the locks held and the tables made, before the first stream. */
  begin(destination: Destination, companies: readonly string[], catalogue: readonly Stream[]): Promise<void>;
  /** Instead of `sync`'s way to work on a stream. */
  readonly work: StreamWork;
}

/** What a run is given. */
export interface RunTools {
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  /** Aborted with a StoppedError by the first Ctrl-C. */
  readonly signal: AbortSignal;
  readonly redact: (text: string) => string;
  /** Told once, before the first request of a stream, where to look for progress. */
  readonly watch: (view: RunView) => void;
  /** Told in a sentence what a run waits for before it knows its streams. */
  readonly waits?: (what: string) => void;
  /** Called once values are stored as the configuration asks: makes the exports anew that hold them as they were. */
  readonly renewExports: (destination: Destination, renewing: Renewing) => Promise<Renewed>;
}

/** What making exports anew takes beside the warehouse. */
export interface Renewing {
  readonly catalogue: readonly Stream[];
  /** The streams that are on. */
  readonly on: readonly Stream[];
  readonly version: string;
  /** The policy that values are stored under. */
  readonly privacy: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly holder: {
    readonly runId: string;
    readonly pid: number;
    readonly host: string;
    readonly command: string;
    readonly startedAt: string;
  };
}

/** What was made anew, in sentences, and what could not be: a person has to do that. */
export interface Renewed {
  readonly done: readonly string[];
  readonly warnings: readonly string[];
}

/** One of the runs that an order takes when its destination is lost on the way. */
export interface Attempt {
  /** The same for all: --max-requests counts for all of them, and a pause that the service asked for lasts. */
  readonly sharedClients: SharedClients;
  /** Told under which id it goes, before anything is locked. */
  start(runId: string): void;
  /** With the locks held and the tables made. */
  begin(destination: Destination): Promise<void>;
  /** Whether an earlier one has done it, as far as the destination knows that has begun. */
  isDone(company: string, stream: string): boolean;
  /** Told what went wrong. */
  end(errors: readonly unknown[]): void;
}
