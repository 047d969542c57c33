/*
 * A reader in a process of its own: `open` opens the file anew and keeps it open, `ask <n>` says what the nth opening sees,
 * `spoil` opens it for writing, changes it and leaves the log behind.
 */
import { createInterface } from "node:readline";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";

const path = process.argv[2]!;
const opened: DuckDBConnection[] = [];
const kept: DuckDBInstance[] = [];

async function open(mode: string): Promise<DuckDBConnection> {
  const instance = await DuckDBInstance.create(path, { access_mode: mode });
  kept.push(instance);
  return instance.connect();
}

async function answer(line: string): Promise<string> {
  const [what, which] = line.split(" ");
  if (what === "open") {
    opened.push(await open("READ_ONLY"));
    return answer(`ask ${opened.length - 1}`);
  }
  if (what === "spoil") {
    const connection = await open("READ_WRITE");
    await connection.run("update procurement.facts set fact = 666");
    await connection.run("create table procurement.evil as select 1 as one");
    return "spoilt";
  }
  const result = await opened[Number(which)]!.run("select fact from procurement.facts");
  return String((await result.getRows())[0]?.[0]);
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${await answer(line).catch(error => String(error).replaceAll("\n", " "))}\n`);
}
