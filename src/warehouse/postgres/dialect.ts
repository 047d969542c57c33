import { sql } from "kysely";
import type { Kind } from "../../catalog/columns.ts";
import { areFactors } from "../../catalog/model.ts";
import { type Fragment, quotedName } from "../database.ts";
import {
  type CatalogLine,
  type CatalogQueries,
  type Dialect,
  type Named,
  type RelationLine,
  validAt,
} from "../dialect.ts";

const postgresCatalog: CatalogQueries = {
  // The standard's views leave out what the role may not read.
  tablesAmong: names => sql<Named>`select n.nspname as schema, c.relname as name
    from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p') and (n.nspname::text, c.relname::text) in (${sql.join(names.map(({ schema, name }) => sql`(${schema}, ${name})`))})`,
  // PostgreSQL writes a changed catalog row anew, with the number of its transaction (xmin): comparing numbers takes half the time.
  // Relations of other roles are theirs: one of ours that is given to another role is missing.
  catalogPrint: ({ schema, stateSchema, views, readers }) => sql`
  with s as (select oid, nspname, nspowner, xmin from pg_catalog.pg_namespace where nspname in (${schema}, ${stateSchema}, ${views})),
  c as (select c.oid, c.relname, c.relnamespace, c.relkind, c.relowner, c.relacl, c.relreplident, c.relrowsecurity, c.relforcerowsecurity
    from pg_catalog.pg_class c join s on s.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'v', 'm', 'f') and pg_has_role(c.relowner, 'usage')
      and not (s.nspname = ${stateSchema} and starts_with(c.relname, 'stage_'))),
  prints(print) as (
    select concat_ws(' ', current_user, current_setting('is_superuser'), current_setting('server_version_num'),
      has_database_privilege(current_database(), 'create'))
    union all select concat_ws(' ', 'member', m.roleid, m.member, m.xmin) from pg_catalog.pg_auth_members m
      where m.member in (select oid from pg_catalog.pg_roles where rolname = any(${readers}::text[]))
    union all select concat_ws(' ', 'schema', s.oid, s.nspname, s.xmin, has_schema_privilege(s.oid, 'create'),
      has_schema_privilege(s.oid, 'usage'), pg_has_role(s.nspowner, 'usage')) from s
    union all select concat_ws(' ', 'table', c.*::text) from c
    union all select concat_ws(' ', 'column', a.attrelid, a.attnum, a.xmin) from c join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0
    union all select concat_ws(' ', 'comment', d.objoid, d.objsubid, d.xmin) from c
      join pg_catalog.pg_description d on d.objoid = c.oid and d.classoid = 'pg_catalog.pg_class'::regclass
    union all select concat_ws(' ', 'constraint', k.oid, k.xmin) from pg_catalog.pg_constraint k
      where k.conrelid in (select oid from c) or k.confrelid in (select oid from c)
    union all select concat_ws(' ', 'trigger', t.oid, t.xmin) from c join pg_catalog.pg_trigger t on t.tgrelid = c.oid and not t.tgisinternal
    union all select concat_ws(' ', 'rule', r.oid, r.xmin) from c join pg_catalog.pg_rewrite r on r.ev_class = c.oid
    union all select concat_ws(' ', 'policy', p.oid, p.xmin) from c join pg_catalog.pg_policy p on p.polrelid = c.oid
    union all select concat_ws(' ', 'published', p.oid, p.xmin) from c join pg_catalog.pg_publication_rel p on p.prrelid = c.oid
    union all select concat_ws(' ', 'function', p.oid, p.xmin, d.xmin) from s
      join pg_catalog.pg_proc p on p.pronamespace = s.oid and pg_has_role(p.proowner, 'usage')
      left join pg_catalog.pg_description d on d.objoid = p.oid and d.classoid = 'pg_catalog.pg_proc'::regclass
    union all select concat_ws(' ', 'later', d.oid, d.xmin) from s join pg_catalog.pg_default_acl d on d.defaclnamespace = s.oid
  )
  select (select sum(hashtextextended(print, 0))::text from prints) as print, (select count(*) = 2 from c join s on s.oid = c.relnamespace
    join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attname in ('key', 'value')
    where s.nspname = ${stateSchema} and c.relname = 'warehouse') as has_state`,
  // Joined, comments take a third of the time that functions take which are called for each column.
  catalogLines: schemas => sql<CatalogLine>`
  select n.nspname as schema, c.relname as table, c.relkind in ('r', 'p') as is_table,
    t.description as table_comment, c.relreplident in ('f', 'i') as is_identified, a.attname as name,
    format_type(a.atttypid, a.atttypmod) as type, d.description as comment,
    coalesce(a.attnotnull and not a.atthasdef and a.attidentity = '', false) as "isRequired",
    array_position(k.conkey, a.attnum) as place
  from pg_catalog.pg_namespace n
  left join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relkind in ('r', 'p', 'v', 'm', 'f')
  left join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  left join pg_catalog.pg_constraint k on k.conrelid = c.oid and k.contype = 'p'
  left join pg_catalog.pg_description t on t.classoid = 'pg_catalog.pg_class'::regclass and t.objoid = c.oid
    and t.objsubid = 0
  left join pg_catalog.pg_description d on d.classoid = 'pg_catalog.pg_class'::regclass and d.objoid = c.oid
    and d.objsubid = a.attnum
  where n.nspname in (${schemas})
  order by n.nspname, c.relname, a.attnum`,
  relationLines: (schema, made = []) => sql<RelationLine>`
  select c.relname as name, coalesce(c.relkind = 'v', false) as is_view, d.description is not null as is_commented, f.reads,
    case when c.relkind = 'v' and (d.description is null or c.relname in (${sql.join(["", ...made])}))
      then md5(pg_get_viewdef(c.oid)) end as print
  from pg_catalog.pg_namespace n
  left join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relkind in ('r', 'p', 'v', 'm', 'f')
  left join pg_catalog.pg_description d on d.classoid = 'pg_catalog.pg_class'::regclass and d.objoid = c.oid
    and d.objsubid = 0
  left join (
    select r.ev_class, array_agg(distinct m.nspname || '.' || t.relname) as reads
    from (select distinct objid, refobjid from pg_catalog.pg_depend
      where classid = 'pg_catalog.pg_rewrite'::regclass and refclassid = 'pg_catalog.pg_class'::regclass) p
    join pg_catalog.pg_rewrite r on r.oid = p.objid and r.ev_class <> p.refobjid
    join pg_catalog.pg_class t on t.oid = p.refobjid join pg_catalog.pg_namespace m on m.oid = t.relnamespace
    group by r.ev_class
  ) f on f.ev_class = c.oid
  where n.nspname = ${schema}`,
  columnNames: (schema, tables) => sql`select c.relname as "table", a.attname as "column" from pg_catalog.pg_class c
    join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = (select oid from pg_catalog.pg_namespace where nspname = ${schema})
      and c.relname in (${sql.join(tables.map(name => sql.lit(name)))})`,
  async readersOf(db, schema, names) {
    const { rows } = await sql<Named>`
      with recursive reading(oid) as (
        select c.oid from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
        where n.nspname = ${schema} and c.relname = any(${names}::text[])
        union
        select r.ev_class from reading
        join pg_catalog.pg_depend d on d.refclassid = 'pg_catalog.pg_class'::regclass and d.refobjid = reading.oid
          and d.classid = 'pg_catalog.pg_rewrite'::regclass
        join pg_catalog.pg_rewrite r on r.oid = d.objid
      )
      select n.nspname as schema, c.relname as name from reading
      join pg_catalog.pg_class c on c.oid = reading.oid
      join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where not (n.nspname = ${schema} and c.relname = any(${names}::text[]))
      order by 1, 2`.execute(db);
    return rows;
  },
  asOf: {
    create({ schema, name, versions, comment }) {
      const own = sql.id(schema, name);
      const body = `select v.* from ${quotedName(schema)}.${quotedName(versions)} v where ${validAt("$1")}`;
      return [
        sql`create or replace function ${own}(moment timestamptz) returns setof ${sql.id(schema, versions)}
      language sql stable parallel safe as ${sql.lit(body)}`,
        sql`comment on function ${own}(timestamptz) is ${sql.lit(comment)}`,
      ];
    },
    drop: (schema, name) => sql`drop function if exists ${sql.id(schema, name)}(timestamptz)`,
    lines: schema => sql`select p.proname as name, d.description as comment, m.nspname || '.' || c.relname as versions
          from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
          join pg_catalog.pg_type t on t.oid = p.prorettype
          left join pg_catalog.pg_class c on c.oid = t.typrelid
          left join pg_catalog.pg_namespace m on m.oid = c.relnamespace
          left join pg_catalog.pg_description d on d.classoid = 'pg_catalog.pg_proc'::regclass and d.objoid = p.oid
          where n.nspname = ${schema}
            and pg_catalog.pg_get_function_identity_arguments(p.oid) = 'moment timestamp with time zone'`,
  },
};

const types: Readonly<Record<Kind, string>> = {
  id: "text",
  text: "text",
  money: "numeric(38,9)",
  quantity: "numeric(38,9)",
  percent: "numeric(38,9)",
  count: "bigint",
  score: "double precision",
  flag: "boolean",
  date: "date",
  moment: "timestamptz",
  json: "jsonb",
};

const jsonField: Dialect["jsonField"] = (column, path, removed) => {
  const own = sql.id(column);
  const at = (fields: readonly string[]) => sql.lit(`{${fields.map(field => `"${field}"`).join(",")}}`);
  const value = sql`(${own} #> ${at(path)})`;
  const text = sql`(${own} #>> ${at(path)})`;
  let without: Fragment = sql`(${own} #- ${at(removed)})`;
  for (let depth = removed.length - 1; depth > 0; depth--) {
    const parent = at(removed.slice(0, depth));
    without = sql`(case when ${without} #> ${parent} = '{}' then ${without} #- ${parent} else ${without} end)`;
  }
  // A cast of 2024-02-31 is an error, and there is no way to try one before version 16.
  const existing = (cast: Fragment) => sql`case when cast(substr(${text}, 9, 2) as integer)
    <= extract(day from cast(substr(${text}, 1, 7) || '-01' as date) + interval '1 month' - interval '1 day')
    then ${cast} end`;
  const dated = (cast: Fragment) => sql`case when ${text} !~ '^0000' then ${existing(cast)} end`;
  return {
    value,
    text,
    type: sql`(case jsonb_typeof(${value}) when 'object' then 'other' when 'array' then 'other' else jsonb_typeof(${value}) end)`,
    without: sql`nullif(${without}, '{}')`,
    safe: sql`true`,
    matches: form => sql`${text} ~ ${sql.lit(form)}`,
    date: () => dated(sql`cast(${text} as date)`),
    moment: () => dated(sql`cast(${text} as timestamptz)`),
  };
};

const ARGUMENTS = 90;

const bare = "format csv, quote E'\\x01', delimiter E'\\x02'";
const formats = {
  lines: bare,
  json: bare,
  csv: "format csv, header",
  values: "format csv, force_quote *",
} as const;

export const postgresDialect: Dialect = {
  ...postgresCatalog,
  name: "postgres",
  columnType: kind => types[kind],
  product: (a, b) => `cast(case when ${areFactors(a, b)} then round(${a} * ${b}, 9) end as decimal(38, 9))`,
  isServer: true,
  hasOtherWriters: true,
  reserved: undefined,
  tablesMade: undefined,
  commentsEverything: true,
  rowsAreNear: true,
  stagesAreTables: true,
  plansByStatistics: true,
  sortsBeyondMemory: true,
  interspersed(texts, values) {
    // A function takes at most 100 arguments. `concat` would need twice as many, and a third more time.
    const groups = Array.from({ length: Math.ceil(texts.length / ARGUMENTS) }, (_, nth) => {
      const [from, to] = [nth * ARGUMENTS, (nth + 1) * ARGUMENTS];
      const own = values.slice(from, to);
      const pattern = texts
        .slice(from, to)
        .map((text, at) => text.replaceAll("%", "%%") + (at < own.length ? "%s" : ""));
      return sql`format(${sql.join([sql.lit(pattern.join("")), ...own])})`;
    });
    return sql.join(groups, sql` || `);
  },
  copy(query, format) {
    const asked = format === "json" ? `select row_to_json(answer) from (${query}) answer` : query;
    return `copy (${asked}) to stdout (${formats[format]})`;
  },
  searchPath: schemas => sql`set search_path to ${sql.join(schemas.map(name => sql.id(name)))}`,
  rowPlace: "ctid",
  fieldNames: json =>
    sql`(select jsonb_object_keys(case when jsonb_typeof(${json}) = 'object' then ${json} else '{}'::jsonb end) as value)`,
  jsonField,
  byteText: column => sql`cast(${column} as text) collate "C"`,
  decimalText: name => ({ text: sql`cast(trim_scale(${sql.id(name)}) as varchar)` }),
  finiteText: (kind, column) =>
    kind === "moment"
      ? sql`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')`
      : kind === "date"
        ? sql`to_char(${column}, 'YYYY-MM-DD')`
        : undefined,
  lockTables: (tables, mode) => [sql`lock table ${sql.join(tables)} in ${sql.raw(mode)} mode`],
  atOneMoment: [sql`set transaction isolation level repeatable read`],
  // Where statistics are missing, a loop in a loop took 53 s for what takes 1 s. Sorts and hashes of 240,000 rows fit into 32 MB.
  readsWholeTables: [sql`set local enable_nestloop = off`, sql`set local work_mem = '32MB'`],
  mayHold: sql`select not pg_is_in_recovery() and has_database_privilege(current_database(), 'TEMPORARY') as may`,
  holds: [sql`set transaction read write`],
  // PostgreSQL takes it that half of the rows come out, and so many would not be worth its workers' while: 0.7 instead of
  // 1.2 s for a million. Within the memory that they can share in a container (64 MB).
  findsLittle: [sql`set local parallel_tuple_cost = 0; set local work_mem = '4MB'`],
  async attempt(db, work) {
    await sql`savepoint attempt`.execute(db);
    try {
      const done = await work();
      await sql`release savepoint attempt`.execute(db);
      return done;
    } catch (error) {
      // A session that is lost has nothing to go back to.
      await sql`rollback to savepoint attempt`.execute(db).catch(() => undefined);
      throw error;
    }
  },
};
