import { DuckDBInstance } from "@duckdb/node-api";
import pg from "pg";
import { expect, inject, it } from "vitest";
import { reservedWords } from "../../src/catalog/reserved_words.ts";

it("lists the words that one of the databases takes as a column's name in quotes only, and no others", async () => {
  const client = new pg.Client(inject("postgresUrl"));
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  await client.connect();
  try {
    const theirs = await client.query<{ word: string }>("select word from pg_get_keywords()");
    const ours = await connection.runAndReadAll("select keyword_name from duckdb_keywords()");
    const words = new Set([...theirs.rows.map(row => row.word), ...ours.getRows().map(row => String(row[0]))]);
    const makes = async (word: string, run: (sql: string) => Promise<unknown>): Promise<boolean> => {
      try {
        await run(`create temporary table t (${word} text)`);
        await run(`select ${word} from t`);
        return true;
      } catch {
        return false;
      } finally {
        await run("drop table if exists t");
      }
    };
    const quoted: string[] = [];
    for (const word of words) {
      const [inPostgres, inDuckdb] = [
        await makes(word, sql => client.query(sql)),
        await makes(word, sql => connection.run(sql)),
      ];
      if (!inPostgres || !inDuckdb) quoted.push(word);
    }
    expect([...reservedWords].sort()).toEqual(quoted.sort());
  } finally {
    await client.end();
    connection.closeSync();
    instance.closeSync();
  }
});
