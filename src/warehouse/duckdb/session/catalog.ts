import { sql } from "kysely";
import { type CatalogLine, type CatalogQueries, type Named, type RelationLine, validAt } from "../../dialect.ts";

/** What DuckDB's catalog tells. */
export const duckdbCatalog: CatalogQueries = {
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
  relationLines: schema => sql<RelationLine>`
  with relations as (
    select schema_name, view_name as name, true as is_view, comment from duckdb_views()
    where database_name = current_database()
    union all
    select schema_name, table_name, false, comment from duckdb_tables() where database_name = current_database()
  )
  select r.name, coalesce(r.is_view, false) as is_view, r.comment is not null as is_commented
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
  async readersOf(db, schema, of) {
    const names = "names" in of ? of.names : [];
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
  /** A refusal would end the transaction. */
  async mayDropSchema(db, schema) {
    const kinds = ["tables", "views", "functions", "sequences", "types"].map(
      kind =>
        sql`select 1 from ${sql.raw(`duckdb_${kind}()`)} where database_name = current_database() and schema_name = ${schema}`,
    );
    const { rows } = await sql`${sql.join(kinds, sql` union all `)} limit 1`.execute(db);
    return rows.length === 0;
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
    lines: schema => sql`select function_name as name, comment from duckdb_functions()
          where function_type = 'table_macro' and not internal and database_name = current_database()
            and schema_name = ${schema}`,
  },
};

/** A view is called like the table it reads, which is no sign that it does. */
const afterName = (text: string): string => text.replace(/^\s*create\s+view\s.*?\sas\s/is, "");
