import type { Kysely } from "kysely";
import type { Destination } from "../destination.ts";
import type { StateTables } from "../state_tables.ts";
import type { LoadTarget } from "./load_target.ts";
import type { TemporaryNames } from "./temporary_tables.ts";

/** What every step of a publish needs. */
export interface Publishing {
  readonly trx: Kysely<StateTables>;
  readonly destination: Destination;
  readonly target: LoadTarget;
  readonly timestamp: string;
  readonly names: TemporaryNames;
  /** Streams of which every version of a row is kept: among the published one and its details. */
  readonly versioned: ReadonlySet<string>;
}
