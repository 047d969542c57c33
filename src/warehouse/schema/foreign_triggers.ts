import { sql } from "kysely";
import type { Db, Fragment, Schemas } from "../database.ts";
import { stateTables } from "../state_tables.ts";

interface Found {
  readonly name: string;
  readonly on: string;
}

/**
 * PostgreSQL: rules and triggers of somebody's that decide what these tables and those of the state store, each in a sentence.
 * They may write something else than what was asked, or nothing, and the database calls that a success: rows would be lost
 * and the run green.
 */
export async function interferences(db: Db, place: Schemas, tables: readonly string[]): Promise<string[]> {
  const { rows: rules } = await sql<Found>`
    select format('%I', r.rulename) as name, format('%I.%I', n.nspname, c.relname) as "on"
    from pg_catalog.pg_rewrite r
    join ${ours(place, tables)} c on c.oid = r.ev_class join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where r.ev_type <> '1' and r.is_instead and r.ev_enabled <> 'D' order by 1, 2`.execute(db);
  // Bit 1: for each row, bit 2: before it is stored.
  const { rows: triggers } = await sql<Found>`
    select format('%I', t.tgname) as name, format('%I.%I', n.nspname, c.relname) as "on"
    from pg_catalog.pg_trigger t
    join ${ours(place, tables)} c on c.oid = t.tgrelid join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where t.tgtype & 3 = 3 and not t.tgisinternal and t.tgenabled <> 'D' order by 1, 2`.execute(db);
  return [
    ...rules.map(
      ({ name, on }) =>
        `The rule ${name} replaces what is written to ${on} by something else, or by nothing. Remove it (DROP RULE ${name} ON ${on};).`,
    ),
    ...triggers.map(
      ({ name, on }) =>
        `The trigger ${name} may change or leave out rows before they are stored in ${on}. Remove it (DROP TRIGGER ${name} ON ${on};), or make it one that runs AFTER.`,
    ),
  ];
}

const ours = ({ schema, stateSchema }: Schemas, tables: readonly string[]): Fragment =>
  sql`(select own.* from pg_catalog.pg_class own join pg_catalog.pg_namespace m on m.oid = own.relnamespace
    where own.relkind in ('r', 'p') and m.nspname = any(${[schema, stateSchema]}::text[])
      and own.relname = any(${[...tables, ...Object.keys(stateTables)]}::text[]))`;
