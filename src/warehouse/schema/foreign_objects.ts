import { sql } from "kysely";
import type { Message } from "../../message.ts";
import type { Db, Fragment, Schemas } from "../database.ts";
import type { Named } from "../dialect.ts";
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

/** PostgreSQL: what is no relation with columns and still has the name of a table that is to be made, each as a message. */
export async function namesTaken(db: Db, tables: readonly Named[]): Promise<Message[]> {
  const wanted = [tables.map(({ schema }) => schema), tables.map(({ name }) => name)];
  // A table brings a type of its own name; arrays' types make room by themselves.
  const { rows } = await sql<{ name: string; kind: string }>`
    select format('%I.%I', n.nspname, taken.name) as name, taken.kind
    from unnest(${wanted[0]}::text[], ${wanted[1]}::text[]) as wanted(schema, name)
    join pg_catalog.pg_namespace n on n.nspname = wanted.schema
    join (select relnamespace as at, relname as name,
        case when relkind = 'S' then 'sequence' when relkind = 'c' then 'type' else 'index' end as kind
      from pg_catalog.pg_class where relkind in ('S', 'i', 'I', 'c')
      union all select typnamespace, typname, case when typtype = 'd' then 'domain' else 'type' end
      from pg_catalog.pg_type where typrelid = 0 and typcategory <> 'A') taken
      on taken.at = n.oid and taken.name = wanted.name
    order by 1`.execute(db);
  return rows.map(tablesMessages.name_taken);
}

/** PostgreSQL: what keeps columns from getting their type back, by stream. */
export async function neededColumns(
  db: Db,
  schema: string,
  columns: readonly { readonly stream: string; readonly table: string; readonly column: string }[],
): Promise<ReadonlyMap<string, Message>> {
  if (columns.length === 0) return new Map();
  const wanted = [columns.map(({ table }) => table), columns.map(({ column }) => column)];
  const { rows } = await sql<{ table: string; column: string; needed_by: string[] }>`
    select w."table", w."column", array_agg(distinct pg_describe_object(d.classid, d.objid, d.objsubid)) as needed_by
    from unnest(${wanted[0]}::text[], ${wanted[1]}::text[]) as w("table", "column")
    join pg_catalog.pg_class c on c.relname = w."table"
      and c.relnamespace = (select oid from pg_catalog.pg_namespace where nspname = ${schema})
    join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attname = w."column"
    join pg_catalog.pg_depend d on d.refclassid = 'pg_catalog.pg_class'::regclass and d.refobjid = c.oid and d.refobjsubid = a.attnum
    where d.classid in ('pg_catalog.pg_proc'::regclass, 'pg_catalog.pg_rewrite'::regclass, 'pg_catalog.pg_trigger'::regclass,
        'pg_catalog.pg_policy'::regclass, 'pg_catalog.pg_publication_rel'::regclass, 'pg_catalog.pg_attrdef'::regclass)
      and not exists (select from pg_catalog.pg_attrdef f where d.classid = 'pg_catalog.pg_attrdef'::regclass
        and f.oid = d.objid and f.adrelid = c.oid and f.adnum = a.attnum)
    group by 1, 2 order by 1, 2`.execute(db);
  const messages = rows.map(({ table, column, needed_by }) => {
    const { stream } = columns.find(each => each.table === table && each.column === column)!;
    return [stream, tablesMessages.column_needed({ column: `${schema}.${table}.${column}`, needed_by })] as const;
  });
  return new Map(messages.reverse());
}

const ours = ({ schema, stateSchema }: Schemas, tables: readonly string[]): Fragment =>
  sql`(select own.* from pg_catalog.pg_class own join pg_catalog.pg_namespace m on m.oid = own.relnamespace
    where own.relkind in ('r', 'p') and m.nspname = any(${[schema, stateSchema]}::text[])
      and own.relname = any(${[...tables, ...Object.keys(stateTables)]}::text[]))`;
