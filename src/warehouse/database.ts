import type { Kysely, RawBuilder, Transaction } from "kysely";
import type { StateTables } from "./state_tables.ts";

/** A session of the warehouse's database, which knows the state tables. */
export type Db = Kysely<StateTables>;

/** A transaction of it that is under way. */
export type Trx = Transaction<StateTables>;

/** A piece of SQL. */
export type Fragment = RawBuilder<unknown>;

/** Where a warehouse's tables are: its data, and its state. */
export interface Schemas {
  readonly schema: string;
  readonly stateSchema: string;
}

/** A name as it is quoted in SQL. */
export const quotedName = (name: string): string => `"${name.replaceAll('"', '""')}"`;
