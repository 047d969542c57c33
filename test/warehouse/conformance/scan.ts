import type { Destination } from "../../../src/warehouse/destination.ts";
import { compare, missingKeys } from "../../../src/warehouse/merge/diff.ts";
import type { Diff } from "../../../src/warehouse/merge/load_target.ts";
import { stageRows } from "../../rows/store.ts";

/** A complete scan of these rows, compared and not published. */
export async function scan(destination: Destination, rows: readonly unknown[]): Promise<[Diff, string[]]> {
  const { target } = await stageRows(destination, "2", rows);
  const diff = await compare(destination, target, true);
  const missing = await missingKeys(destination, target, 10);
  return [diff, missing.map(key => key["id"]!)];
}
