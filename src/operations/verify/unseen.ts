import { liveCount } from "../../warehouse/ddl/present_tables.ts";
import { liveKeys } from "../../warehouse/read/stored_rows.ts";
import type { Comparing } from "./context.ts";
import { keyText, ofRow } from "./discrepancy.ts";

/** Keys that are looked at together. */
const KEYS_AT_ONCE = 20_000;
const PARENTS_AT_ONCE = 1_000;

/** Reports live rows that the service did not show: they went since they were loaded. `parents`: only rows of these; absent: all of the stream. */
export async function reportUnseen(comparing: Comparing, parents: readonly string[] | undefined): Promise<void> {
  const { context, stream, result } = comparing;
  const { warehouse, company } = context;
  const { tables } = stream;
  const add = (keys: readonly (readonly string[])[]): void => {
    for (const key of keys)
      if (!result.hasSeen(key)) result.add(key, ofRow(tables.main.name, keyText(tables.main, key), "changed_since"));
  };
  if (parents !== undefined) {
    for (let i = 0; i < parents.length; i += PARENTS_AT_ONCE)
      add(await liveKeys(warehouse, company, tables, parents.slice(i, i + PARENTS_AT_ONCE)));
    return;
  }
  const live = (await liveCount(warehouse, company, tables)) ?? 0;
  const of = Math.ceil(live / KEYS_AT_ONCE) || 1;
  for (let nth = 0; nth < of; nth++) add(await liveKeys(warehouse, company, tables, undefined, { nth, of }));
}
