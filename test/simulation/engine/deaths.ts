/** What a process can be in the middle of. */
export const places = ["fs", "duckdb", "pg", "http", "copy", "rename", "write", "commit"] as const;
export type Place = (typeof places)[number];

/** Where a run's process dies (or its connection, or the server): at the n-th thing of a kind that it does. */
export interface Death {
  readonly at: Place;
  readonly nth: number;
  readonly when: "before" | "during" | "after";
  /** The process itself, its session's backend (all sessions, where the touch has none of its own), the whole server, or a lake's files for a moment. */
  readonly of: "process" | "backend" | "server" | "store";
  /** So long after it has begun a call of DuckDB's, during which the process is killed, gets, ms. */
  readonly afterMs?: number;
}

/** In words: `fs 3 (rename) after`. */
export const deathInWords = ({ at, nth, when, of, afterMs }: Death): string =>
  `the ${of} ${of === "store" ? "goes away" : "is killed"} ${when} its ${at} touch ${nth}${afterMs === undefined ? "" : `, ${afterMs} ms after it began`}`;

/** Whether what it strikes is not the run's alone: others that are at work may end of it. */
export const struckTogether = (death: Death | undefined): boolean =>
  death !== undefined &&
  (death.of === "server" || death.of === "store" || (death.of === "backend" && death.at !== "pg"));
