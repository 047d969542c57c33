import { sql } from "kysely";
import type { TableSet } from "../../catalog/columns.ts";
import type { Db, Fragment } from "../database.ts";
import type { Destination, Stage } from "../destination.ts";
import type { ChildStream, Parents, ValueSource } from "../details/parents.ts";
import { dropTables, temporaryName } from "../sql_fragments.ts";

/** One company's stream, ready to be published from its stage. */
export interface LoadTarget {
  readonly company: string;
  readonly stream: string;
  readonly tables: TableSet;
  readonly stage: Stage;
  /** Which columns the hashes cover; see `schemaFingerprint`. */
  readonly schemaFingerprint: number;
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
  /** What else is due when its rows change: details of rows that they name, or that name them. */
  readonly causes?: readonly LoadCause[];
  /** Of a detail: the work list that was worked through, with `parent_key` and `reason`; absent: why they were asked for is not known. */
  readonly work?: Fragment | undefined;
  /** A missing row counts as missed before where an earlier scan noted it by then (ISO 8601); undefined: whenever it did. */
  readonly missedBy?: string | undefined;
  /** The list is asked for from a day on only: rows whose timestamp lies before it are not missing, they were not asked for. */
  readonly scope: { readonly column: string; readonly from: string } | undefined;
}

/** A change of a row makes details due of the parents that its `column` tells: by their key, or by a column of their own table. */
export interface LoadCause {
  readonly column: string;
  readonly parents: TableSet;
  readonly parentColumn: string | undefined;
  readonly details: readonly string[];
}

/** What a publish would do. `updated` includes rows that came back; `refreshed` ones differ in volatile fields only. */
export interface Diff {
  /** Rows staged, every version. */
  readonly staged: number;
  readonly distinct: number;
  /** Keys under which different rows came, of which the last one is kept; undefined: none. */
  readonly conflicting?: { readonly keys: number; readonly example: string } | undefined;
  readonly inserted: number;
  readonly updated: number;
  readonly refreshed: number;
  /** Staged rows of which anything has to be written, the row state's note that they are missing included. */
  readonly touched: number;
  /** Live rows that the scan did not see (0 when not asked for). */
  readonly missing: number;
  /** Of those, the ones that an earlier complete scan missed too, by `missedBy`. */
  readonly missedBefore: number;
  /** Rows of the row state, deleted ones included, and those that are live. */
  readonly known: number;
  readonly live: number;
  /** The scan is the one that was published last, by its digest: there is nothing to apply, and no temporary table. */
  readonly isSame?: true;
}

/** Whether a missing row was missed before, as a condition. */
export const wasMissed = ({ missedBy }: LoadTarget): Fragment =>
  missedBy === undefined ? sql`missing_since is not null` : sql`missing_since <= cast(${missedBy} as timestamptz)`;

export interface Publishing {
  readonly trx: Db;
  readonly destination: Destination;
  readonly target: LoadTarget;
  readonly timestamp: string;
  readonly names: TemporaryNames;
  /** Streams of which every version of a row is kept: among the published one and its details. */
  readonly versioned: ReadonlySet<string>;
}

/** The temporary tables that `compare` leaves for `applyDiff`. */
export interface TemporaryNames {
  readonly staged: string;
  readonly changed: string;
  /** Live rows that a whole scan did not show; `is_gone`: those of them that are to be soft-deleted. */
  readonly missing: string;
  /** Values that live rows carry, of a detail that is asked for by them. */
  readonly parents: string;
  /** Of a detail with many rows an answer: which of the staged rows each parent's last answer is. */
  readonly answers: string;
}

export function temporaryNames({ company, stream }: LoadTarget): TemporaryNames {
  const name = (purpose: string) => temporaryName(purpose, company, stream);
  return {
    staged: name("staged"),
    changed: name("changed"),
    missing: name("missing"),
    parents: name("parents"),
    answers: name("answers"),
  };
}

export async function dropTemporary(db: Db, target: LoadTarget): Promise<void> {
  const { staged, changed, missing, parents, answers } = temporaryNames(target);
  const made = [staged, changed, missing];
  if (target.parent?.kind === "values") made.push(parents);
  if (target.many === true) made.push(answers);
  await dropTables(
    db,
    made.map(name => sql.id(name)),
  );
}
