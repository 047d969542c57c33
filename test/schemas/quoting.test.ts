import { DuckDBInstance } from "@duckdb/node-api";
import pg from "pg";
import { expect, inject, test } from "vitest";
import { isReserved } from "../../src/catalog/reserved_words.ts";
import { streams } from "../../streams/index.ts";

test("every table can be made and read without quoting a column, in both databases", async () => {
  const instance = await DuckDBInstance.create(":memory:");
  const duckdb = await instance.connect();
  const postgres = new pg.Client(inject("postgresUrl"));
  await postgres.connect();
  try {
    for (const { name, columns } of streams.flatMap(({ tables: { main, children } }) => [main, ...children])) {
      const names = columns.map(column => column.name);
      expect(
        names.filter(isReserved),
        `words of SQL in ${name}: name the column with \`named("…", field)\` in its schema`,
      ).toEqual([]);
      const make = `create temporary table t (${names.map(column => `${column} text`).join(", ")})`;
      const read = `select ${names.join(", ")} from t`;
      await postgres.query(make);
      expect((await postgres.query(read)).fields.map(field => field.name)).toEqual(names);
      await duckdb.run(make);
      expect((await duckdb.run(read)).columnNames()).toEqual(names);
      await postgres.query("drop table t");
      await duckdb.run("drop table t");
    }
  } finally {
    await postgres.end();
    duckdb.closeSync();
    instance.closeSync();
  }
});
