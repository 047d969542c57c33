import { totalmem } from "node:os";
import { sql } from "kysely";
import { type Db, quotedName } from "../../database.ts";
import {
  isFiltered,
  type ParquetFile,
  type ParquetSource,
  type SourceTable,
  type Target,
} from "../../parquet_source.ts";
import { isOutOfMemory } from "../session/failure.ts";
import { quoted } from "../session/session.ts";
import { type Ask, countPartitions, duckdbType, orderOf, writeFiles, writeQuery } from "./parquet_files.ts";

/** A million rows of sixty columns are sorted in it. */
const SORTING_MB = 256;

export function duckdbSource(db: Db, schema: string, signal: AbortSignal): ParquetSource {
  const ask: Ask = async text => {
    signal.throwIfAborted();
    return (await sql<Record<string, unknown>>`${sql.raw(text)}`.execute(db)).rows;
  };
  return {
    async count(table) {
      const [found] = await ask(`select count(*) as n from ${relationOf(schema, table)}`);
      return Number(found?.["n"]);
    },
    partitions: (table, most) => countPartitions(ask, relationOf(schema, table), table, most),
    async write(table, target, progress) {
      const files = await written(ask, relationOf(schema, table), table, target);
      progress(files.reduce((sum, { rows }) => sum + rows, 0));
      return files;
    },
    writeAnswer: (query, target) => writeQuery(ask, query, target, `${target.stem}.parquet`),
  };
}

/** Rows of a folder have to lie together: looked for among all, each folder would cost a look through the whole table. */
async function written(
  ask: Ask,
  relation: string,
  table: SourceTable,
  target: Target,
): Promise<readonly ParquetFile[]> {
  if (table.partitions.length === 0) return writeFiles(ask, relation, table, target, { next: 0 });
  await withRoom(ask, `create or replace temp table sorted as select * from ${relation} order by ${orderOf(table)}`);
  try {
    return await writeFiles(ask, "temp.sorted", table, target, { next: 0 });
  } finally {
    // A session that is lost takes it along.
    await ask("drop table temp.sorted").catch(() => undefined);
  }
}

/** Sorts beyond the memory given go to disk, but need the more of it the more rows there are: should it run out, again with twice as much. */
async function withRoom(ask: Ask, statement: string): Promise<void> {
  const [usual] = await ask("select current_setting('memory_limit') as text");
  const most = totalmem() / 2 ** 21;
  try {
    for (let limit = SORTING_MB; ; limit *= 2) {
      await ask(`set memory_limit = '${limit}MB'`);
      try {
        return void (await ask(statement));
      } catch (error) {
        if (!isOutOfMemory(error instanceof Error ? (error.cause ?? error) : error) || limit * 2 > most) throw error;
      }
    }
  } finally {
    await ask(`set memory_limit = '${String(usual?.["text"])}'`).catch(() => undefined);
  }
}

/** As a FROM item, values in the types they are written in. */
function relationOf(schema: string, table: SourceTable): string {
  const values = table.columns.map(column => {
    const name = quotedName(column.name);
    return column.storedAs === "text" && column.type !== "varchar" ? `${name}::${duckdbType(column)} as ${name}` : name;
  });
  return `(select ${values.join(", ")} from ${quotedName(schema)}.${quotedName(table.name)} where ${isFiltered(table, quoted)})`;
}
