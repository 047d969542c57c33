import { isDeepStrictEqual } from "node:util";
import type { Config } from "../../config/config.ts";

export interface Reloaded {
  readonly config: Config;
  readonly changed: readonly string[];
}

export interface ConfigSource {
  /** Whether there is a new one since it was last asked or loaded. */
  changed(): Promise<boolean>;
  /** @throws ConfigError for one that can't be used */
  load(): Promise<Reloaded>;
}

/** Changes whenever the file does; undefined while there is no file. */
export type Stamp = () => Promise<string | undefined>;

/**
 * A file's changes, told once each and only when two looks in a row found the same: a file is empty for a moment while it
 * is written, and an empty one would be a configuration of defaults. `taken` says that the file as it is now is known.
 */
export async function watchChanges(
  stamp: Stamp,
): Promise<{ readonly changed: () => Promise<boolean>; readonly taken: () => Promise<void> }> {
  let known = await stamp();
  let seen = known;
  return {
    async changed() {
      const before = seen;
      seen = await stamp();
      if (seen === undefined || seen !== before || seen === known) return false;
      known = seen;
      return true;
    },
    async taken() {
      known = await stamp();
      seen = known;
    },
  };
}

/** `api.timeout`, `schedules`: the keys in which two configurations differ, without their values. A list is one value. */
export function changedKeys(before: unknown, after: unknown, path: readonly string[] = []): readonly string[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (!isMapping(before) || !isMapping(after)) return [path.join(".")];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap(key => changedKeys(before[key], after[key], [...path, key]));
}

const isMapping = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
