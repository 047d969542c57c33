import { basename, dirname, join, resolve } from "node:path";
import { ConfigError } from "../../../errors.ts";
import { duckdbMessages } from "./messages.ts";

/** Whether analysts open published versions behind a link, or the very file a run writes. */
export type Readers = "snapshot" | "direct";

/** Where everything of one warehouse lies. `home` holds what is tributary's own beside the file that analysts open. */
export interface Layout {
  readonly readers: Readers;
  /** What analysts open, absolute. */
  readonly path: string;
  /** The same with, or without, its extension: its versions would lie in the same `home`. */
  readonly twin: string;
  readonly file: string;
  readonly home: string;
  /** The database that a run writes; `path` itself when readers are direct. */
  readonly work: string;
  readonly stage: string;
  readonly spill: string;
  readonly holder: string;
}

/** The layout of `destination.path`; see contract, 'The published file'. @throws ConfigError for a path that DuckDB cannot open */
export function layoutOf(settings: { readonly path: string; readonly readers: Readers }): Layout {
  const path = resolve(settings.path);
  // It would look for the file's log at another place.
  if (path.includes("?")) throw new ConfigError(duckdbMessages.question_mark({ path }));
  const name = basename(path).replace(/\.duckdb$/, "");
  const file = `${name}.duckdb`;
  const direct = settings.readers === "direct";
  const home = direct ? `${path}.stage` : join(dirname(path), `${name}.versions`);
  return {
    readers: settings.readers,
    path,
    twin: join(dirname(path), basename(path) === name ? file : name),
    file,
    home,
    work: direct ? path : join(home, "work.duckdb"),
    stage: direct ? home : join(home, "stage"),
    spill: join(home, "spill"),
    holder: join(home, "holder.json"),
  };
}

/** Whether a folder is called as those of stages are: with readers: direct these lie among all else in `home`, whatever their company is called. */
export function isStageFolder(name: string): boolean {
  return /-[0-9a-f]{10}$/.test(name);
}

/** What a rename to the path is prepared as: beside it, because the versions may lie on another disk. */
export const PLACED = ".tributary.new";
