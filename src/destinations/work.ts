import { type Kysely, sql } from "kysely";
import type { Kin, Publication } from "./comparison.ts";
import type { Destination } from "./destination.ts";
import type { Fragment } from "./fragments.ts";
import type { StateTables } from "./state_tables.ts";
import type { TemporaryNames } from "./temporary.ts";

/** What every step of a publish needs. */
export interface Work {
  readonly trx: Kysely<StateTables>;
  readonly destination: Destination;
  readonly publication: Publication;
  readonly moment: string;
  readonly names: TemporaryNames;
  /** Streams of which every version of a row is kept: among the published one and its details. */
  readonly versioned: ReadonlySet<string>;
}

/** The moment of the publish, as SQL. */
export const momentOf = (work: Work): Fragment => sql`cast(${work.moment} as timestamptz)`;

/** The parent's key as the details ledger names it: the parent's column that the detail's key begins with. */
export const parentKey = (of: string, detail: Kin): Fragment => sql`cast(${sql.id(of, detail.on[0]![1])} as varchar)`;
