import type { Config } from "../../config/config.ts";

/** Where the daemon's configuration comes from, again and again. */
export interface ConfigSource {
  /** Whether there is a new one since it was last asked or loaded. */
  changed(): Promise<boolean>;
  /** @throws ConfigError for one that can't be used */
  load(): Promise<Config>;
}

/** What tells one state of a file from another; undefined while there is no file. */
export type Stamp = () => Promise<string | undefined>;

/**
 * A file's changes, told once each and only when two looks in a row found the same: a file is empty for a moment while it
 * is written, and an empty one would be a configuration of defaults.
 */
export async function watchChanges(stamp: Stamp): Promise<() => Promise<boolean>> {
  let known = await stamp();
  let seen = known;
  return async () => {
    const before = seen;
    seen = await stamp();
    if (seen === undefined || seen !== before || seen === known) return false;
    known = seen;
    return true;
  };
}
