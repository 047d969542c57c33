import { sql } from "kysely";
import type { Message } from "../../message.ts";
import type { Db, Fragment, Schemas } from "../database.ts";
import { stateTables } from "../state_tables.ts";
import { tablesMessages } from "./messages.ts";

/**
 * PostgreSQL: what has to be said of somebody's own foreign keys to these tables. A publish deletes a row that changed and
 * inserts it again: a key that is checked at once would refuse that, and ON DELETE CASCADE take somebody's rows with it. One
 * that is checked when the transaction ends finds the row where it was.
 */
export async function foreignKeysInTheWay(db: Db, schema: string, tables: readonly string[]): Promise<Message[]> {
  const { rows } = await sql<{ table: string; name: string; to: string; action: string }>`
    select format('%I.%I', m.nspname, f.relname) as "table", format('%I', c.conname) as name,
      format('%I.%I', n.nspname, t.relname) as "to", c.confdeltype as action
    from pg_catalog.pg_constraint c
    join pg_catalog.pg_class f on f.oid = c.conrelid
    join pg_catalog.pg_namespace m on m.oid = f.relnamespace
    join pg_catalog.pg_class t on t.oid = c.confrelid
    join pg_catalog.pg_namespace n on n.oid = t.relnamespace
    where c.contype = 'f' and c.conparentid = 0 and n.nspname = ${schema} and t.relname = any(${tables}::text[])
      and coalesce(to_jsonb(c) ->> 'conenforced', 'true') = 'true' and not (c.condeferred and c.confdeltype = 'a')
    order by 1, 2`.execute(db);
  return rows.map(({ table, name, to, action }) =>
    tablesMessages.foreign_key({ name, table, refers_to: to, cascades: action !== "a" && action !== "r" }),
  );
}

interface Found {
  readonly name: string;
  readonly table: string;
}

/**
 * PostgreSQL: rules and triggers of somebody's that decide what these tables and those of the state store, each as a message.
 * They may write something else than what was asked, or nothing, and the database calls that a success: rows would be lost
 * and the run green.
 */
export async function interferences(db: Db, place: Schemas, tables: readonly string[]): Promise<Message[]> {
  const { rows: rules } = await sql<Found>`
    select format('%I', r.rulename) as name, format('%I.%I', n.nspname, c.relname) as "table"
    from pg_catalog.pg_rewrite r
    join ${ours(place, tables)} c on c.oid = r.ev_class join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where r.ev_type <> '1' and r.is_instead and r.ev_enabled <> 'D' order by 1, 2`.execute(db);
  // Bit 1: for each row, bit 2: before it is stored.
  const { rows: triggers } = await sql<Found>`
    select format('%I', t.tgname) as name, format('%I.%I', n.nspname, c.relname) as "table"
    from pg_catalog.pg_trigger t
    join ${ours(place, tables)} c on c.oid = t.tgrelid join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where t.tgtype & 3 = 3 and not t.tgisinternal and t.tgenabled <> 'D' order by 1, 2`.execute(db);
  return [...rules.map(tablesMessages.foreign_rule), ...triggers.map(tablesMessages.foreign_trigger)];
}

const ours = ({ schema, stateSchema }: Schemas, tables: readonly string[]): Fragment =>
  sql`(select own.* from pg_catalog.pg_class own join pg_catalog.pg_namespace m on m.oid = own.relnamespace
    where own.relkind in ('r', 'p') and m.nspname = any(${[schema, stateSchema]}::text[])
      and own.relname = any(${[...tables, ...Object.keys(stateTables)]}::text[]))`;
