import { sql } from "kysely";
import { type Db, quotedName } from "../database.ts";
import { isFiltered, type Partition, type SourceTable } from "../parquet_source.ts";

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

const from = (schema: string, table: SourceTable): string =>
  `from ${quotedName(schema)}.${quotedName(table.name)} where ${isFiltered(table, quoted)}`;

export async function countRows(db: Db, schema: string, table: SourceTable): Promise<number> {
  const { rows } = await sql<{ n: number }>`${sql.raw(`select count(*) as n ${from(schema, table)}`)}`.execute(db);
  return Number(rows[0]?.n ?? 0);
}

/** How many different values the partitions have, counted to `most` and one more. */
export async function countPartitions(db: Db, schema: string, table: SourceTable, most: number): Promise<number> {
  const values = table.partitions.map((partition, at) => `${partitionValue(table, partition)} as v${at}`);
  const { rows } = await sql<{ n: number }>`${sql.raw(
    `select count(*) as n from (select distinct ${values.join(", ")} ${from(schema, table)} limit ${most + 1}) found`,
  )}`.execute(db);
  return Number(rows[0]?.n ?? 0);
}

function partitionValue(table: SourceTable, { column, unit }: Partition): string {
  const name = quotedName(column);
  const { storedAs } = table.columns.find(candidate => candidate.name === column)!;
  if (unit === undefined) return storedAs === "text" ? `nullif(${name}, '')` : name;
  return `date_trunc('${unit}', ${storedAs === "moment" ? `${name} at time zone 'UTC'` : `${name}::timestamp`})`;
}

/**
 * What sends a table's rows as CSV: NULL is nothing, an empty text is `""`. A number comes first, for readers take marks of
 * byte order away from the beginning of a file. Rows of one partition come together.
 */
export function copyQuery(schema: string, table: SourceTable): string {
  const values = table.columns.map(({ name }) => quotedName(name));
  const order = table.partitions.map(partition => partitionValue(table, partition));
  const sorted = order.length === 0 ? "" : ` order by ${order.join(", ")}`;
  return `copy (select 0, ${values.join(", ")} ${from(schema, table)}${sorted}) to stdout (format csv)`;
}
