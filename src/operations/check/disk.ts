import { DestinationError } from "../../errors.ts";
import { type CheckLine, failure, ok, warning } from "./line.ts";

/** What a first load or a night with many changes should find, whatever the warehouse has now. */
const LITTLE_BYTES = 1e9;

/** A warehouse file and its disk, in bytes; see `Room`. */
export interface Disk {
  readonly folder: string;
  readonly free: number;
  readonly size: number;
  readonly versions: number | undefined;
  readonly spill: string;
}

/** Whether the disk has room for what the next runs write: the versions that are still to come, at least one copy of the file. */
export function diskLine({ folder, free, size, versions, spill }: Disk, keepVersions: number): CheckLine {
  // A publish writes the new version before it removes the oldest.
  const copies = versions === undefined ? 1 : Math.max(1, keepVersions + 1 - versions);
  const need = copies * size;
  const what =
    versions === undefined
      ? "as much again as the file has, for a run in which everything changes"
      : copies === 1
        ? "a copy of the work file for the next publish"
        : `${copies} copies of the work file (${amount(size)}) until ${keepVersions} versions are kept`;
  const needed = size === 0 ? "nothing is loaded yet" : `needed is ${amount(need)}, ${what}`;
  const message = `${amount(free)} free in ${folder}; ${needed}; DuckDB's own temporary files go to ${spill}`;
  const lower = versions === undefined || keepVersions < 2 ? "" : ", or lower destination.keep_versions";
  const advice = `Make room${lower}: twice what is needed is a safe amount, and 1 GB the least.`;
  if (free < need) return failure("disk", new DestinationError(`${message}.\n${advice}`));
  return free < Math.max(2 * need, LITTLE_BYTES) ? warning("disk", message, advice) : ok("disk", message);
}

/** In the units that disks are sold in. */
const amount = (bytes: number): string =>
  bytes < 1e8 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
