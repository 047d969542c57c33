import type { Models } from "../../catalog/model.ts";
import type { Relation } from "../../catalog/relation.ts";
import type { IdentityEndpoint, Stream } from "../../catalog/stream.ts";
import type { Config } from "../../config/config.ts";
import type { Message } from "../../message.ts";
import type { Redactor } from "../../secrets.ts";
import type { Destination } from "../../warehouse/destination.ts";
import type { Refresh } from "../context.ts";
import type { RunSource } from "./jobs.ts";
import type { RunView } from "./report.ts";
import type { ServiceTools, SharedClients } from "./service.ts";

/** A run, as the command line or a schedule asks for it. */
export interface RunOrder {
  readonly command: string;
  readonly version: string;
  readonly config: Config;
  readonly catalogue: readonly Stream[];
  readonly models: Models;
  /** Which rows of these streams' tables belong together. */
  readonly relations: (streams: readonly Stream[]) => readonly Relation[];
  readonly identity: IdentityEndpoint;
  readonly selection: Selection;
  readonly refresh: Refresh;
  readonly limits: RunLimits;
  /** When it was asked for, with the configuration as it was then (ISO 8601); absent: now. */
  readonly askedAt?: string;
  /** A service that answers at another address than before is compared with what is kept; absent: it is refused. */
  readonly acceptsAddress?: boolean;
  /** What its streams are loaded from; absent: the service. */
  readonly source?: RunSource;
  /** What was decided of the run before this process took it up; absent: it begins here. `startedAt` is ISO 8601; `isRetry`: another process had taken it up before, and is gone. */
  readonly begun?: { readonly runId: string; readonly startedAt: string; readonly isRetry?: boolean };
}

/** What is the same for every run of a program. */
export type RunDefaults = Pick<RunOrder, "version" | "catalogue" | "models" | "relations" | "identity">;

export interface Selection {
  /** Names, patterns, presets; empty: all that the config switches on. */
  readonly names: readonly string[];
  /** Those of the names that a person asked for; absent: all. */
  readonly named?: readonly string[];
  /** Undefined: all that the config has. */
  readonly company: string | undefined;
}

/** Undefined: no limit. Times in ms. */
export interface RunLimits {
  readonly maxTimeMs: number | undefined;
  /** How much of it was over when this run began: earlier ones of the same command took it. */
  readonly spentMs?: number;
  readonly maxRequests: number | undefined;
  /** How long another run's locks are waited for. */
  readonly waitMs: number;
}

export interface RunTools extends Pick<ServiceTools, "clock" | "random" | "log" | "signal"> {
  readonly redact: Redactor;
  /** Told once, before the first request of a stream, where to look for progress. */
  readonly watch: (view: RunView) => void;
  /** Told in a sentence what a run waits for before it knows its streams. */
  readonly waits?: (what: string) => void;
}

/** One of the runs that an order takes when its destination is lost on the way. */
export interface Attempt {
  /** The same for all: --max-requests counts for all of them, and a pause that the service asked for lasts. */
  readonly sharedClients: SharedClients;
  /** Told under which id it goes, before anything is locked. */
  start(runId: string): void;
  begin(destination: Destination): Promise<void>;
  /** Whether an earlier one has done it, as far as the destination knows that has begun. */
  isDone(company: string, stream: string): boolean;
  end(failures: readonly Failure[]): void;
}

export interface Failure {
  readonly error: unknown;
  /** As the run's report has it, with the companies that it struck. */
  readonly message: Message;
}
