import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, onTestFinished, test } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import { spoolIntoFiles } from "../../../src/warehouse/duckdb/parquet/spool.ts";
import { openEmpty } from "../../../src/warehouse/duckdb/session/session.ts";
import type { SourceTable } from "../../../src/warehouse/parquet_source.ts";
import { openPostgresForReading } from "../../../src/warehouse/postgres/open.ts";
import { copyQuery } from "../../../src/warehouse/postgres/rows_out.ts";
import { createDatabase } from "../../support/database.ts";
import { byAnother } from "./parquet.ts";

const ROWS = 3_000;
/** Texts in which a row might seem to end, of very different lengths. */
const text = `case n % 5 when 0 then null when 1 then '' when 2 then 'a' || chr(10) || '"' || chr(10) || 'b,' when 3 then '""' || chr(13) || chr(10) else repeat('é"' || chr(10), n % 400) end`;

const table = (partitioned: boolean): SourceTable => ({
  name: "many",
  columns: [
    { name: "note", storedAs: "text", type: "varchar" },
    { name: "n", storedAs: "bigint", type: "bigint" },
    { name: "day", storedAs: "date", type: "date" },
    { name: "amount", storedAs: "decimal", type: "numeric(38,9)" },
  ],
  partitions: partitioned ? [{ name: "day_month", column: "day", unit: "month" }] : [],
  company: undefined,
  live: false,
});

test.each([
  ["whole", false, 1],
  ["by month, of seven and none", true, 8],
])("rows cut into slices are all there, once, %s", async (_name, partitioned, folders) => {
  const database = await createDatabase(inject("postgresUrl"));
  const folder = await mkdtemp(join(tmpdir(), "tributary-spool-"));
  onTestFinished(async () => {
    await database.drop();
    await rm(folder, { recursive: true });
  });
  await database.admin.query(
    `create schema s; create table s.many as select ${text} as note, n::bigint as n, (date '2026-01-15' + n % 180)::date as day, (n * 1.000000001)::numeric(38,9) as amount from generate_series(1, ${ROWS}) n`,
  );
  await database.admin.query("update s.many set day = null where n % 97 = 0");
  const reading = await openPostgresForReading({
    url: database.url,
    schema: "s",
    stateSchema: "s",
    clock: systemClock,
  });
  const room = join(folder, "rows");
  const session = await openEmpty({ memoryLimitMb: 64, threads: 1, spill: join(folder, "spill") });
  const told: number[] = [];
  try {
    const files = await spoolIntoFiles({
      ask: async sql => (await session.connection.run(sql)).getRowObjects(),
      copyOut: reading.copyOut!,
      query: copyQuery("s", table(partitioned)),
      table: table(partitioned),
      target: {
        ...{ folder, stem: "part" },
        folderOf: values => (values.length === 0 ? "" : `day_month=${values[0]}`),
      },
      room,
      progress: rows => void told.push(rows),
      sliceBytes: 100_000,
    });
    expect(files.length).toBeGreaterThan(folders + 2);
    // Rows of a month come together: no month has a file of every slice.
    if (partitioned) expect(files.length).toBeLessThan(folders + told.length + 1);
    expect(new Set(files.map(({ path }) => (path.split("/").length === 1 ? "" : path.split("/")[0]))).size).toBe(
      folders,
    );
    expect(files.reduce((sum, { rows }) => sum + rows, 0)).toBe(ROWS);
    expect(told.at(-1)).toBe(ROWS);
    expect(await readdir(folder)).not.toContain("rows");
    const columns = [
      { name: "n", parquet_type: "INT64" },
      { name: "note", parquet_type: "STRING" },
      { name: "amount", parquet_type: "DECIMAL(38,9)" },
    ];
    const found = await byAnother(folder, { files, columns, partitions: [] } as never);
    const { rows } = await database.admin.query("select n::text, note, amount::text from s.many");
    expect(found).toEqual(rows.map(row => JSON.stringify([row.n, row.note, row.amount])).sort());
  } finally {
    session.close();
    await reading.close();
  }
});

test("a taker that fails is told, and the connection goes on", async () => {
  const database = await createDatabase(inject("postgresUrl"));
  onTestFinished(() => database.drop());
  const reading = await openPostgresForReading({
    url: database.url,
    schema: "s",
    stateSchema: "s",
    clock: systemClock,
  });
  try {
    const failing = () => Promise.reject(new Error("full"));
    await expect(reading.copyOut!("copy (select generate_series(1, 100000)) to stdout", failing)).rejects.toThrow(
      "full",
    );
    let bytes = 0;
    await reading.copyOut!("copy (select 'ab') to stdout", async piece => {
      bytes += piece.length;
    });
    expect(bytes).toBe(3);
  } finally {
    await reading.close();
  }
});
