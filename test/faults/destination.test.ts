import { spawn } from "node:child_process";
import { once } from "node:events";
import { readlink, stat } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Simulator } from "../../simulator/simulator.ts";
import type { Message } from "../../src/message.ts";
import { key, openCompany } from "../crash/company.ts";
import { type Ended, goodSync } from "../crash/killing.ts";
import { differences, type Tables, tablesOf } from "../crash/tables.ts";
import { type MakeWarehouse, makeDuckdb, type Warehouse } from "../crash/warehouse.ts";
import { program } from "../support/program.ts";

const few = { streams: { defaults: { details: { audit: 0 } }, exclude: ["invoice*", "findings*", "ingested"] } };
const CHANGED = "select count(*)::integer from procurement.items";

/** A company, a warehouse before a night with much that is new, and what it is after it. */
interface Evening {
  readonly company: Simulator;
  readonly before: Warehouse;
  readonly after: Tables;
}

async function evening(make: MakeWarehouse): Promise<Evening> {
  const company = await openCompany({ orders: 30, invoices: 1, items: 500, findings: 1, ingested: 1 });
  const before = await make(company.url, few);
  await goodSync(before);
  company.insert("items", 2_000);
  company.insert("purchase_orders", 30);
  const undisturbed = await before.copy();
  await goodSync(undisturbed);
  const after = await tablesOf(undisturbed);
  await undisturbed.remove();
  return { company, before, after };
}

/** A sync that may not make a file larger than so many kilobytes: what a full disk looks like, for any user on any machine. */
async function cramped(warehouse: Warehouse, kilobytes: number): Promise<Ended> {
  const command = [process.execPath, program, "sync", "--config", warehouse.config, "--no-progress", "--json"];
  const child = spawn("bash", ["-c", `ulimit -f ${kilobytes} && exec "$@"`, "bash", ...command], {
    env: { PATH: process.env["PATH"] ?? "", CRASH_KEY: key },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code, stdout, stderr };
}

/** The one thing a run of exit code 6 tells. */
function expectToldOnce({ code, stdout, stderr }: Ended, what: RegExp): void {
  expect(code, stdout + stderr).toBe(6);
  const document = JSON.parse(stdout);
  const errors: readonly Message[] = document.errors ?? [document.error];
  expect(errors).toMatchObject([{ message: expect.stringMatching(what) }]);
  expect(errors[0]?.message).not.toContain("\n");
  expect(stderr).not.toMatch(/\n\s+at /);
}

describe("DuckDB", () => {
  let place: Evening;
  let size: number;
  beforeAll(async () => {
    place = await evening(makeDuckdb);
    size = (await stat(join(place.before.folder, "w.versions/work.duckdb"))).size / 1024;
  });
  afterAll(async () => {
    await place.before.remove();
    await place.company.close();
  });

  it.each([
    ["a disk full long before the file's size", () => 100],
    ["a disk full a little beyond the file's size", () => size + 300],
  ])(
    "%s: a run ends with one paragraph, readers keep what they have, and the next run makes it good",
    async (_name, limit) => {
      const warehouse = await place.before.copy();
      const version = await readlink(join(warehouse.folder, "w.duckdb"));
      const ended = await cramped(warehouse, Math.floor(limit()));
      expectToldOnce(ended, /disk is full.*Free some space/i);
      expect(await readlink(join(warehouse.folder, "w.duckdb"))).toBe(version);
      expect(await warehouse.data(CHANGED)).toEqual([[500]]);
      expect(
        (await warehouse.litter()).filter(name => !/^(\d+\..*\.csv|manifest\.json|work\.duckdb\.wal)$/.test(name)),
      ).toEqual([]);
      await goodSync(warehouse);
      expect(differences(place.after, await tablesOf(warehouse))).toEqual([]);
      expect(await warehouse.litter()).toEqual([]);
      await warehouse.remove();
    },
  );
});
