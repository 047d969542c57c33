import type { TableSet } from "../../catalog/columns.ts";
import type { Stage } from "../destination.ts";
import type { ChildStream } from "../details/child_stream.ts";
import type { Parents, ValueSource } from "../details/parents.ts";

/** One company's stream, ready to be published from its stage. */
export interface LoadTarget {
  readonly company: string;
  readonly stream: string;
  readonly tables: TableSet;
  readonly stage: Stage;
  /** Which columns the hashes cover; see `schemaFingerprint`. */
  readonly schemaFingerprint: number;
  /** The column that a row is which came as a bare value instead of an object. */
  readonly scalar?: string | undefined;
  /** What it is asked for, when it is a detail: rows of parents that are no longer live are skipped. */
  readonly parent: Parents | undefined;
  /** An answer holds many rows, all that its parent has: those of an earlier answer that it lacks are gone. */
  readonly many?: boolean;
  /** The parents are known whole: what belongs to a value that none carries any more is gone. */
  readonly parentsComplete?: boolean;
  /** Its details: they go and come back with its rows. */
  readonly details: readonly ChildStream[];
  /** Details that are asked for by values of its rows. */
  readonly valueDriven?: readonly { readonly stream: string; readonly source: ValueSource }[];
  /** The list is asked for from a day on only: rows whose timestamp lies before it are not missing, they were not asked for. */
  readonly scope: { readonly column: string; readonly from: string } | undefined;
}

/** What a publish would do. `updated` includes rows that came back; `refreshed` ones differ in volatile fields only. */
export interface Diff {
  /** Rows staged, every version. */
  readonly staged: number;
  readonly distinct: number;
  readonly inserted: number;
  readonly updated: number;
  readonly refreshed: number;
  /** Staged rows of which anything has to be written, the row state's note that they are missing included. */
  readonly touched: number;
  /** Live rows that the scan did not see (0 when not asked for). */
  readonly missing: number;
  /** Of those, the ones that the complete scan before missed too. */
  readonly missedBefore: number;
  /** Rows of the row state, deleted ones included, and those that are live. */
  readonly known: number;
  readonly live: number;
}
