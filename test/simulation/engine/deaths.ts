/** What a process can be in the middle of. */
export const places = ["fs", "duckdb", "pg", "http", "copy", "rename", "write", "commit"] as const;
export type Place = (typeof places)[number];

/** Where a run's process dies (or its connection, or the server): at the n-th thing of a kind that it does. */
export interface Death {
  readonly at: Place;
  readonly nth: number;
  readonly when: "before" | "during" | "after";
  /** The process itself, the session's backend, or the whole server. */
  readonly of: "process" | "backend" | "server";
}

/** In words: `fs 3 (rename) after`. */
export const deathInWords = ({ at, nth, when, of }: Death): string =>
  `${of === "process" ? "the process is killed" : `the ${of} is killed`} ${when} its ${at} touch ${nth}`;
