import type { Destination } from "../../../src/warehouse/destination.ts";
import { compare, missingKeys } from "../../../src/warehouse/merge/compare.ts";
import type { Comparison } from "../../../src/warehouse/merge/publication.ts";
import { stageRows } from "../../rows/store.ts";

/** A complete scan of these rows, compared and not published. */
export async function scan(destination: Destination, rows: readonly unknown[]): Promise<[Comparison, string[]]> {
  const { publication } = await stageRows(destination, "2", rows);
  const comparison = await compare(destination, publication, true);
  const missing = await missingKeys(destination, publication, 10);
  return [comparison, missing.map(key => key["id"]!)];
}
