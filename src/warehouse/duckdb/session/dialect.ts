import { sql } from "kysely";
import type { Kind } from "../../../catalog/columns.ts";
import { areFactors } from "../../../catalog/model.ts";
import { type Fragment, quotedName } from "../../database.ts";
import {
  type CatalogLine,
  type CatalogQueries,
  type Dialect,
  type Named,
  type RelationLine,
  standardTablesAmong,
  validAt,
} from "../../dialect.ts";

const duckdbCatalog: CatalogQueries = {
  tablesAmong: standardTablesAmong,
  catalogPrint({ schema, stateSchema, views, functions }) {
    const own = sql`database_name = current_database() and schema_name in (${schema}, ${stateSchema}, ${views})`;
    // Listing functions takes twice as long as all the rest, and the texts of views as long: one that somebody replaces loses its comment.
    const macros = sql`union all select hash('function', function_name, comment) from duckdb_functions() where ${own} and not internal`;
    return sql`
  with columns as materialized (
    select schema_name, table_name, column_name, hash(schema_name, table_name, column_name, data_type, comment) as print
    from duckdb_columns() where ${own}),
  prints(print) as (
    select print from columns
    union all select hash('table', schema_name, table_name, comment, sql) from duckdb_tables() where ${own}
    union all select hash('view', schema_name, view_name, comment) from duckdb_views() where ${own}
    ${functions ? macros : sql``})
  select (select cast(sum(print) as varchar) from prints) as print, (select count(*) = 2 from columns
    where schema_name = ${stateSchema} and table_name = 'warehouse' and column_name in ('key', 'value')) as has_state`;
  },
  catalogLines: schemas => sql<CatalogLine>`
  with relations as (
    select schema_name, table_name, true as is_table, comment from duckdb_tables() where database_name = current_database()
    union all
    select schema_name, view_name, false, comment from duckdb_views() where database_name = current_database()
  )
  select s.schema_name as "schema", r.table_name as "table", coalesce(r.is_table, false) as is_table,
    r.comment as table_comment, false as is_identified, c.column_name as name, c.data_type as type, c.comment as comment,
    coalesce(not c.is_nullable and c.column_default is null, false) as "isRequired", null as place
  from duckdb_schemas() s
  left join relations r on r.schema_name = s.schema_name
  left join duckdb_columns() c on c.database_name = current_database()
    and c.schema_name = r.schema_name and c.table_name = r.table_name
  where s.database_name = current_database() and s.schema_name in (${schemas})
  order by s.schema_name, r.table_name, c.column_index`,
  relationLines: (schema, made = []) => sql<RelationLine>`
  with relations as (
    select schema_name, view_name as name, true as is_view, comment, sql from duckdb_views()
    where database_name = current_database()
    union all
    select schema_name, table_name, false, comment, null from duckdb_tables() where database_name = current_database()
  )
  select r.name, coalesce(r.is_view, false) as is_view, r.comment is not null as is_commented, null as reads,
    case when r.comment is null or r.name in (${sql.join(["", ...made])}) then md5(r.sql) end as print
  from duckdb_schemas() s left join relations r on r.schema_name = s.schema_name
  where s.database_name = current_database() and s.schema_name = ${schema}`,
  columnNames: (schema, tables) =>
    sql`${sql.join(
      tables.map(
        table => sql`select ${sql.lit(table)} as "table", name as "column"
          from pragma_table_info(${sql.lit(`"${schema}"."${table}"`)})`,
      ),
      sql` union all `,
    )}`,
  /** DuckDB lets a table go from under its views, so their text has to tell. */
  async readersOf(db, schema, names) {
    const { rows } = await sql<Named & { readonly sql: string }>`
      select schema_name as "schema", view_name as name, sql from duckdb_views()
      where not internal and database_name = current_database() order by 1, 2`.execute(db);
    const found = new Set<(typeof rows)[number]>();
    const isStart = (row: Named) => row.schema === schema && names.includes(row.name);
    for (let known = [...names]; known.length > 0; ) {
      const mention = new RegExp(`(^|[^a-z0-9_])(${known.join("|")})($|[^a-z0-9_])`, "i");
      const more = rows.filter(row => !isStart(row) && !found.has(row) && mention.test(afterName(row.sql)));
      for (const row of more) found.add(row);
      known = more.map(row => row.name);
    }
    return rows.filter(row => found.has(row));
  },
  asOf: {
    create({ schema, name, versions, comment }) {
      const own = sql.id(schema, name);
      return [
        sql`create or replace macro ${own}(moment) as table
        select v.* from ${sql.id(schema, versions)} v where ${sql.raw(validAt("cast(moment as timestamptz)"))}`,
        sql`comment on macro table ${own} is ${sql.lit(comment)}`,
      ];
    },
    drop: (schema, name) => sql`drop macro table if exists ${sql.id(schema, name)}`,
    lines: schema => sql`select function_name as name, comment, null as versions from duckdb_functions()
          where function_type = 'table_macro' and not internal and database_name = current_database()
            and schema_name = ${schema}`,
  },
};

/** A view is called like the table it reads, which is no sign that it does. */
const afterName = (text: string): string => text.replace(/^\s*create\s+view\s.*?\sas\s/is, "");

const types: Record<Kind, string> = {
  id: "VARCHAR",
  text: "VARCHAR",
  money: "DECIMAL(38,9)",
  quantity: "DECIMAL(38,9)",
  percent: "DECIMAL(38,9)",
  count: "BIGINT",
  score: "DOUBLE",
  flag: "BOOLEAN",
  date: "DATE",
  moment: "TIMESTAMPTZ",
  json: "JSON",
};

/** The digits of a number that JSON holds as 1e21 or 1.5e-7: as such the encoder writes it. A double has fewer digits than places there. */
function inDigits(text: Fragment): Fragment {
  const digits = sql`replace(ltrim(split_part(${text}, 'e', 1), '-'), '.', '')`;
  const exponent = sql`cast(split_part(${text}, 'e', 2) as integer)`;
  return sql`case when not regexp_matches(${text}, '^-?[0-9]([.][0-9]+)?e[-+]?[0-9]{1,3}$') then ${text}
    else case when ${text} like '-%' then '-' else '' end || case when ${exponent} < 0
      then '0.' || repeat('0', -${exponent} - 1) || ${digits} else rpad(${digits}, ${exponent} + 1, '0') end end`;
}

const jsonField: Dialect["jsonField"] = (column, path, removed) => {
  const own = sql.id(column);
  const at = (fields: readonly string[]) => sql.lit(`$${fields.map(field => `."${field}"`).join("")}`);
  const patch = (fields: readonly string[]) =>
    sql.lit(fields.reduceRight<string>((inner, field) => `{"${field}":${inner}}`, "null"));
  const came = sql`json_extract_string(${own}, ${at(path)})`;
  const isNumber = sql`json_type(${own}, ${at(path)}) in ('DOUBLE', 'BIGINT', 'UBIGINT')`;
  const text = sql`(case when ${isNumber} then ${inDigits(came)} else ${came} end)`;
  let without: Fragment = sql`json_merge_patch(${own}, ${patch(removed)})`;
  for (let depth = removed.length - 1; depth > 0; depth--) {
    const parent = removed.slice(0, depth);
    without = sql`(case when cast(json_extract(${without}, ${at(parent)}) as varchar) = '{}'
      then json_merge_patch(${without}, ${patch(parent)}) else ${without} end)`;
  }
  return {
    value: sql`json_extract(${own}, ${at(path)})`,
    text,
    type: sql`(case json_type(${own}, ${at(path)}) when 'VARCHAR' then 'string' when 'BOOLEAN' then 'boolean'
      when 'NULL' then 'null' when 'OBJECT' then 'other' when 'ARRAY' then 'other' else 'number' end)`,
    without: sql`nullif(cast(${without} as varchar), '{}')`,
    // DuckDB writes decimals through a double: a row whose numbers have more digits stays as it is.
    safe: sql`cast(json_merge_patch(${own}, '{}') as varchar) = cast(${own} as varchar)`,
    matches: form => sql`regexp_matches(${text}, ${sql.lit(form)})`,
    date: () => sql`try_cast(${text} as date)`,
    moment: () => sql`try_cast(${text} as timestamptz)`,
  };
};

/**
 * Wide decimals take 0.3 µs to become text, and 0.15 µs to lose their zeros. Nearly all fit into 64 bits, of which each that has
 * few decimals is written with just those: 0.08 µs.
 */
const decimalText: Dialect["decimalText"] = (name, type) => {
  const column = sql.id(name);
  const narrow = sql.id(`${name} in 64 bits`);
  const scale = Number(/,(\d{1,2})\)$/.exec(type)?.[1]);
  const whole = sql`cast(${column} as varchar)`;
  const trimmed = scale === 0 ? whole : sql`rtrim(rtrim(${whole}, '0'), '.')`;
  if (scale > 9) return { text: trimmed };
  const whens = Array.from({ length: Math.min(scale, 6) + 1 }, (_, decimals) => {
    const short = sql`cast(${narrow} as ${sql.raw(`decimal(18, ${decimals})`)})`;
    return sql`when cast(${short} as decimal(18, 9)) = ${narrow} then cast(${short} as varchar)`;
  });
  return {
    text: sql`case ${sql.join(whens, sql` `)} else ${trimmed} end`,
    beside: sql`case when ${column} between -900000000 and 900000000 then cast(${column} as decimal(18, 9)) end as ${narrow}`,
  };
};

const formats = {
  lines: "format blob",
  csv: "format csv, header",
  json: "format json",
  values: "format csv, header false, force_quote *",
} as const;

export const duckdbDialect: Dialect = {
  ...duckdbCatalog,
  name: "duckdb",
  columnType: kind => types[kind],
  product,
  // With primary keys, a million unchanged rows take 8.7 s instead of 0.5.
  isServer: false,
  hasOtherWriters: false,
  reserved: undefined,
  tablesMade: undefined,
  commentsEverything: true,
  rowsAreNear: true,
  stagesAreTables: false,
  plansByStatistics: false,
  sortsBeyondMemory: false,
  interspersed: (texts, values) =>
    sql`concat(${sql.join(texts.flatMap((text, at) => [sql.lit(text), ...values.slice(at, at + 1)]))})`,
  copy(query, format, file) {
    // CSV of one column takes twice as long, and 8 MB.
    const rows = format === "lines" ? `select encode(concat(line, chr(10))) from (${query}) lines(line)` : query;
    return `copy (${rows}) to '${file.replaceAll("'", "''")}' (${formats[format]})`;
  },
  searchPath: schemas => sql`set search_path = ${sql.lit(schemas.map(quotedName).join(","))}`,
  rowPlace: "rowid",
  fieldNames: json => sql`(select unnest(json_keys(${json})) as value)`,
  jsonField,
  byteText: column => sql`cast(${column} as varchar)`,
  decimalText,
  finiteText: (kind, column) =>
    kind === "moment" ? sql`strftime(make_timestamp(epoch_us(${column})), '%Y-%m-%d %H:%M:%S.%f')` : undefined,
  lockTables: () => [],
  atOneMoment: [],
  mayHold: sql`select true as may`,
  holds: [],
  readsWholeTables: [],
  findsLittle: [],
  // A statement that DuckDB cannot bind leaves its transaction as it was, and it has no savepoints.
  attempt: (_db, work) => work(),
};

/**
 * Rounding a wide decimal takes 1 to 2 µs. Nearly all products have at most nine decimals: then one that was worked out in
 * floating point is either the same number or it is not taken.
 */
function product(a: string, b: string): string {
  const floating = `cast(${a} as double) * cast(${b} as double)`;
  const near = `case when abs(${floating}) < 900000000 then cast(${floating} as decimal(18, 9)) end`;
  const exact = `coalesce(case when ${near} = ${a} * ${b} then ${near} end, round(${a} * ${b}, 9))`;
  return `cast(case when ${areFactors(a, b)} then ${exact} end as decimal(38, 9))`;
}
