import type { Kysely, RawBuilder, Transaction } from "kysely";
import type { StateTables } from "./state_tables.ts";

export type Db = Kysely<StateTables>;

export type Trx = Transaction<StateTables>;

export type Fragment = RawBuilder<unknown>;

export interface Schemas {
  readonly schema: string;
  readonly stateSchema: string;
}

export const quotedName = (name: string): string => `"${name.replaceAll('"', '""')}"`;
