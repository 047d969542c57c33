import { type Kysely, sql } from "kysely";
import type { StateTables } from "./state_tables.ts";

/**
 * PostgreSQL: somebody's rules on these tables and those of the state, each in a sentence. A rule may do something else than what was asked, or
 * nothing, and the database calls that a success: rows would be lost and the run green.
 */
export async function rulesInTheWay(
  db: Kysely<StateTables>,
  { schema, stateSchema }: { readonly schema: string; readonly stateSchema: string },
  tables: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ name: string; on: string }>`
    select format('%I', r.rulename) as name, format('%I.%I', n.nspname, c.relname) as "on"
    from pg_catalog.pg_rewrite r
    join pg_catalog.pg_class c on c.oid = r.ev_class
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where (n.nspname = ${stateSchema} or n.nspname = ${schema} and c.relname = any(${tables}::text[]))
      and c.relkind in ('r', 'p') and r.ev_type <> '1' and r.is_instead and r.ev_enabled <> 'D'
    order by 1, 2`.execute(db);
  return rows.map(
    ({ name, on }) =>
      `The rule ${name} replaces what is written to ${on} by something else, or by nothing. Remove it (DROP RULE ${name} ON ${on};).`,
  );
}
