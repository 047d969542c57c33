import { sql } from "kysely";
import { DestinationError } from "../../errors.ts";
import { type Db, quotedName } from "../database.ts";
import { type Contents, isFiltered, type Partition, type SourceColumn, type SourceTable } from "../parquet_source.ts";
import { postgresMessages } from "./messages.ts";

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** jsonb has numbers that are equal and not the same (1.0, 1.00): its text is what is written, so that is what counts. */
const textOf = ({ name, storedAs, type }: SourceColumn): string =>
  storedAs === "text" && type !== "varchar" ? `${quotedName(name)}::text` : quotedName(name);

const from = (schema: string, table: SourceTable): string =>
  `from ${quotedName(schema)}.${quotedName(table.name)} where ${isFiltered(table, quoted)}`;

/**
 * How many rows, and a sum over 64 bits of each: numeric, so that it can't overflow, and the order doesn't count. A record's
 * hash is a polynomial of its columns': without being mixed once more, two rows that swap a value have the same sum.
 */
export async function contentsOf(db: Db, schema: string, table: SourceTable): Promise<Contents> {
  const row = `row(${table.columns.map(textOf).join(", ")})`;
  const { rows } = await sql<{ n: number; fingerprint: string }>`${sql.raw(
    `select count(*) as n, coalesce(sum(hashint8extended(hash_record_extended(${row}, 0), 0)), 0)::text as fingerprint ${from(schema, table)}`,
  )}`.execute(db);
  return { rows: Number(rows[0]?.n ?? 0), fingerprint: rows[0]?.fingerprint ?? "0" };
}

/** The first major version with hashes of records. */
const HASHES_ROWS = 14;

/** The major version, whose hash functions they are. @throws DestinationError for one that has none */
export async function serverMajor(db: Db): Promise<number> {
  const { rows } = await sql<{ major: number }>`
    select current_setting('server_version_num')::integer / 10000 as major`.execute(db);
  const { major } = rows[0]!;
  if (major < HASHES_ROWS)
    throw new DestinationError(postgresMessages.too_old({ version: major, needed_version: HASHES_ROWS }));
  return major;
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
  const values = table.columns.map(textOf);
  const order = table.partitions.map(partition => partitionValue(table, partition));
  const sorted = order.length === 0 ? "" : ` order by ${order.join(", ")}`;
  return `copy (select 0, ${values.join(", ")} ${from(schema, table)}${sorted}) to stdout (format csv)`;
}
