import type { Message } from "../../../src/message.ts";
import type { VerifyReport } from "../../../src/operations/verify/report.ts";
import type { RunReport } from "../../../src/sync/run/run.ts";
import type { Program } from "../world/catalogue.ts";
import type { Death, Place } from "./deaths.ts";

/** What a process that runs the engine is asked to do. */
export interface Job {
  readonly command: "sync" | "backfill" | "reset" | "replay" | "verify";
  /** Path of the configuration, and the keys that stand in their places. */
  readonly config: string;
  readonly key: string;
  readonly otherKey: string;
  readonly company: string;
  readonly program: Program;
  readonly names: readonly string[];
  readonly full: boolean;
  readonly allDetails: boolean;
  readonly confirmDeletes: boolean;
  readonly drop: boolean;
  /** A replay of the rejects, not of the archive. */
  readonly rejects: boolean;
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly restart: boolean;
  readonly maxTimeMs: number | undefined;
  readonly maxRequests: number | undefined;
  /** Of the run's own clock. */
  readonly startsAt: number;
  /** Sleeps this long are alarms: they end when so much time has passed, and pass none themselves. */
  readonly alarms: readonly number[];
  readonly seed: number;
  readonly death: Death | undefined;
}

/** How it ended. */
export interface Done {
  readonly exit: number;
  readonly report: RunReport | undefined;
  readonly verified: VerifyReport | undefined;
  /** Those of its report, or what ended it before it had one. */
  readonly errors: readonly Message[];
  readonly endsAt: number;
  readonly touches: Readonly<Record<Place, number>>;
  readonly said: readonly string[];
}

/** Its errors in words. */
export const toldBy = (done: Done | undefined): string => (done?.errors ?? []).map(({ message }) => message).join(" ");

/** A request of the process to its parent: end the server, or a backend of it, or take a lake's files away for a moment. */
export interface Strike {
  readonly strike: Exclude<Death["of"], "process">;
  readonly backend: number | undefined;
}
