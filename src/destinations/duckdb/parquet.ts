import { type Kysely, sql } from "kysely";
import { type Contents, isFiltered, type ParquetSource, type SourceTable } from "../parquet_source.ts";
import type { StateTables } from "../state_tables.ts";
import { type Ask, countPartitions, duckdbType, named, writeFiles } from "./parquet_files.ts";
import { quoted } from "./session.ts";

/** Tables of a DuckDB warehouse, which writes Parquet itself. */
export async function duckdbSource(
  db: Kysely<StateTables>,
  schema: string,
  signal: AbortSignal,
): Promise<ParquetSource> {
  const ask: Ask = async text => {
    signal.throwIfAborted();
    return (await sql<Record<string, unknown>>`${sql.raw(text)}`.execute(db)).rows;
  };
  const [version] = await ask("select version() as version");
  return {
    engine: `duckdb ${String(version?.["version"])}`,
    async contents(table): Promise<Contents> {
      const values = table.columns.map(({ name }) => named(name));
      // A row's hash is combined of its columns' by xor: mixed once more, values that change rows change the sum.
      const [found] = await ask(
        `select count(*) as n, coalesce(sum(hash(hash(${values.join(", ")}))), 0)::varchar as fingerprint from ${relationOf(schema, table)}`,
      );
      return { rows: Number(found?.["n"]), fingerprint: String(found?.["fingerprint"]) };
    },
    partitions: (table, most) => countPartitions(ask, relationOf(schema, table), table, most),
    async write(table, target, progress) {
      const files = await writeFiles(ask, relationOf(schema, table), table, target, { next: 0 });
      progress(files.reduce((sum, { rows }) => sum + rows, 0));
      return files;
    },
  };
}

/** As a FROM item, values in the types they are written in. */
function relationOf(schema: string, table: SourceTable): string {
  const values = table.columns.map(column => {
    const name = named(column.name);
    return column.storedAs === "text" && column.type !== "varchar" ? `${name}::${duckdbType(column)} as ${name}` : name;
  });
  return `(select ${values.join(", ")} from ${named(schema)}.${named(table.name)} where ${isFiltered(table, quoted)})`;
}
