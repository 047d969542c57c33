import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Simulator } from "../../simulator/simulator.ts";
import { openCompany } from "./company.ts";
import { goodSync } from "./killing.ts";
import { type Looking, look } from "./looking.ts";
import { makeDuckdb } from "./warehouse.ts";

const few = { destination: { publish_every: "1s" }, streams: { exclude: ["invoice*", "findings*", "ingested"] } };

let company: Simulator;
beforeAll(async () => {
  company = await openCompany({ orders: 60, invoices: 1, items: 300, findings: 1, ingested: 1 });
});
afterAll(() => company.close());

/** A reader in another process; `end` makes it look once more and tell. */
async function readerProcess(path: string): Promise<{ end: () => Promise<Looking> }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "reader.ts"), path], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  expect((await lines.next()).value).toBe("open");
  return {
    async end() {
      child.stdin.end();
      const { value } = await lines.next();
      if (child.exitCode === null) await once(child, "exit");
      return JSON.parse(String(value));
    },
  };
}

describe("the published file while syncs run", () => {
  it("is read by everybody at any time: what is held stays, what is opened later is newer, and nobody hears of an error", async () => {
    const warehouse = await makeDuckdb(company.url, few);
    const path = join(warehouse.folder, "w.duckdb");
    await goodSync(warehouse);
    const elsewhere = await readerProcess(path);
    let over = false;
    const here = look(path, async () => {
      await sleep(20);
      return over;
    });
    company.insert("items", 7);
    company.faults.latencyMs = 150;
    await goodSync(warehouse);
    company.faults.latencyMs = 0;
    company.insert("items", 4);
    await goodSync(warehouse);
    over = true;
    for (const looking of [await elsewhere.end(), await here]) {
      expect(looking.errors).toEqual([]);
      expect(looking.held).toEqual([300, 300]);
      expect([...looking.seen]).toEqual([300, 307, 311]);
      expect(looking.opened).toBeGreaterThan(20);
    }
    await warehouse.remove();
  });

  it("is the run's alone: what somebody wrote into it, and the log he left beside it, nobody sees later", async () => {
    const warehouse = await makeDuckdb(company.url, few);
    const path = join(warehouse.folder, "w.duckdb");
    await goodSync(warehouse);
    const version = await realpath(path);
    await chmod(version, 0o644);
    await spoil(version);
    expect((await stat(`${version}.wal`)).size).toBeGreaterThan(0);
    company.insert("items", 2);
    await goodSync(warehouse);
    expect(await warehouse.data("select count(*)::integer from procurement.items")).toEqual([
      [company.truth.count("items")],
    ]);
    const foreign =
      "select table_name from duckdb_tables() where database_name = current_database() and table_name = 'evil'";
    expect(await warehouse.data(foreign)).toEqual([]);
    expect(await warehouse.state(foreign)).toEqual([]);
    expect(await warehouse.litter()).toEqual([]);
    await warehouse.remove();
  });
});

/** Writes as a process that is killed before its log gets into the file. */
async function spoil(file: string): Promise<void> {
  const script = `import { DuckDBInstance } from "@duckdb/node-api";
    const instance = await DuckDBInstance.create(${JSON.stringify(file)});
    const connection = await instance.connect();
    await connection.run("delete from procurement.items");
    await connection.run("create table procurement.evil as select 1 as one");
    process.kill(process.pid, "SIGKILL");`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    cwd: import.meta.dirname,
    stdio: "inherit",
  });
  await once(child, "exit");
}
