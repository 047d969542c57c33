import type { Death } from "../engine/deaths.ts";
import type { Program } from "../world/catalogue.ts";
import type { Change, Troubles, WorldFacts } from "../world/world.ts";

export type Database = "duckdb" | "postgres" | "ducklake";

/** What the configuration says in a scenario, beside what never changes. */
export interface Settings {
  readonly on: readonly string[];
  readonly volatileTitles: boolean;
  readonly start: string | undefined;
  readonly audit: number;
  readonly maxDetails: number | undefined;
  readonly publishEvery: "7s" | "15m";
  readonly statuses: boolean;
  readonly guarded: boolean;
  readonly fewRejects: boolean;
  readonly concurrency: number;
  readonly unknownFields: "keep" | "column" | "fail";
  readonly history: boolean;
  /** What becomes of the titles. */
  readonly titles: "keep" | "exclude" | "hash" | "mask";
}

/** A run as the story has it; requests are counted from its first one. */
export interface RunStep {
  readonly do: "run";
  readonly command: "sync" | "backfill" | "replay";
  /** A replay of the rejects, not of the archive. */
  readonly rejects: boolean;
  readonly names: readonly string[];
  readonly full: boolean;
  readonly allDetails: boolean;
  readonly confirmDeletes: boolean;
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly restart: boolean;
  readonly maxTimeMs: number | undefined;
  readonly maxRequests: number | undefined;
  readonly during: readonly { readonly at: number; readonly change: Change }[];
  readonly troubles: Partial<Troubles>;
  /** From this request on. */
  readonly troublesAt: number;
  readonly death: Death | undefined;
  /** At this request a second run is started. */
  readonly second: number | undefined;
  /** At this request a run of the neighbour's, which goes on beside it. */
  readonly beside: number | undefined;
  /** By the program that was there before an upgrade: the run, or the neighbour's beside it. */
  readonly older: "run" | "neighbour" | undefined;
  /** At these requests a reader looks. */
  readonly looks: readonly number[];
}

/** The work file, taken away or torn; or a run's answers of one stream, from the archive. */
export type Loss = "removed" | "torn" | "archive";

/** The neighbour's service changes, and it loads that, or resets a stream before; nothing else is at work. */
export interface NeighbourStep {
  readonly do: "neighbour";
  readonly change: Change | undefined;
  readonly full: boolean;
  readonly reset: { readonly names: readonly string[]; readonly drop: boolean } | undefined;
  readonly death: Death | undefined;
}

export type Step =
  | RunStep
  | { readonly do: "change"; readonly change: Change }
  | NeighbourStep
  | { readonly do: "clock"; readonly ms: number }
  | { readonly do: "configure"; readonly settings: Settings }
  /** From here on runs are made by a later program. */
  | { readonly do: "upgrade" }
  /** Between two runs; DuckDB's work file only where readers have versions of their own. */
  | { readonly do: "lose"; readonly how: Loss }
  | {
      readonly do: "reset";
      readonly names: readonly string[];
      readonly drop: boolean;
      readonly death: Death | undefined;
    };

/** A scenario: a service, a warehouse, and what happens. */
export interface Story {
  readonly seed: number;
  readonly database: Database;
  readonly facts: WorldFacts;
  readonly streams: readonly string[];
  readonly readers: "snapshot" | "direct";
  /** Answers are kept, so that they can be loaded again. */
  readonly archived: boolean;
  /** A second company is loaded into the warehouse. */
  readonly neighbour: boolean;
  /** Rows move between pages while they are read: then those that hide may not come back in the same scan. */
  readonly hiding: boolean;
  readonly steps: readonly Step[];
}

/** Histories are kept from the beginning in a third of the scenarios, and change with every change of the configuration. */
export function firstSettings(streams: readonly string[], seed = 1): Settings {
  return {
    on: streams,
    volatileTitles: false,
    start: undefined,
    audit: 0,
    maxDetails: undefined,
    publishEvery: "15m",
    statuses: false,
    guarded: false,
    fewRejects: false,
    concurrency: 1,
    unknownFields: "keep",
    history: seed % 3 === 0,
    titles: "keep",
  };
}

/** The program that a scenario is upgraded to: where fields get columns of their own, theirs have to be of the same types. */
export const laterProgram = ({ steps }: Pick<Story, "steps">): Program =>
  steps.some(step => step.do === "configure" && step.settings.unknownFields === "column") ? "plain" : "typed";

/** What changes at the service, between the runs and in the middle of them. */
export const changesOf = ({ steps }: Story): readonly Change[] =>
  steps.flatMap(step => {
    if (step.do === "change") return [step.change];
    return step.do === "run" ? step.during.map(({ change }) => change) : [];
  });
