import type { Kysely, RawBuilder, Transaction } from "kysely";
import type { StateTables } from "./state_tables.ts";

/** A session of the warehouse's database, which knows the state tables. */
export type Db = Kysely<StateTables>;

/** A transaction of it that is under way. */
export type Trx = Transaction<StateTables>;

/** A piece of SQL. */
export type Fragment = RawBuilder<unknown>;
