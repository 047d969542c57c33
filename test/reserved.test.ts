import { DuckDBInstance } from "@duckdb/node-api";
import pg from "pg";
import { expect, inject, it } from "vitest";
import { reservedWords } from "../src/reserved.ts";

async function postgresWords(): Promise<string[]> {
  const client = new pg.Client(inject("postgresUrl"));
  await client.connect();
  try {
    const { rows } = await client.query<{ word: string }>("select word from pg_get_keywords() where catcode = 'R'");
    return rows.map(row => row.word);
  } finally {
    await client.end();
  }
}

async function duckdbWords(): Promise<string[]> {
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  try {
    const answer = await connection.runAndReadAll(
      "select keyword_name from duckdb_keywords() where keyword_category = 'reserved'",
    );
    return answer.getRows().map(row => String(row[0]));
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

it("lists the reserved words of both databases and no others", async () => {
  const words = [...(await postgresWords()), ...(await duckdbWords())];
  expect([...reservedWords].sort()).toEqual([...new Set(words)].sort());
});
