import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, inject, onTestFinished, test } from "vitest";
import { key, openCompany } from "../crash/company.ts";
import { goodSync, reach, startSync, sync } from "../crash/killing.ts";
import { makeDucklake, type Warehouse } from "../crash/warehouse.ts";
import { program, variables } from "../support/program.ts";
import { startStore } from "./store.ts";

const sizes = { orders: 20, invoices: 1, items: 600, findings: 1, ingested: 1 };
const streams = {
  include: ["items", "purchase_orders"],
  preset: "core",
  exclude: ["*_*", "invoices", "findings", "ingested"],
};

/** A command of the program in a process of its own. */
async function command(warehouse: Warehouse, ...args: readonly string[]): Promise<{ code: number; stdout: string }> {
  const child = spawn(process.execPath, [program, ...args, "--config", warehouse.config], {
    cwd: warehouse.folder,
    env: { ...variables, CRASH_KEY: key },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, "close")]);
  return { code, stdout };
}

test("a lake in object storage is checked, filled and asked; a store that goes away ends no run that can wait, and costs no row", async () => {
  const store = await startStore();
  onTestFinished(() => store.close());
  const company = await openCompany(sizes);
  onTestFinished(() => company.close());
  const make = makeDucklake(inject("postgresUrl"), inject("extensions"));
  const warehouse = await make(company.url, { destination: store.destination, streams });
  onTestFinished(() => warehouse.remove());
  const rows = async (): Promise<unknown> => {
    const counted = `select count(*) as n, count(distinct item_id) as ids, count(*) filter (where _changed_at > _first_seen_at) as changed from procurement.items where _deleted_at is null`;
    const { code, stdout } = await command(warehouse, "query", counted, "--format", "json");
    expect(code).toBe(0);
    return JSON.parse(stdout);
  };

  const checked = await command(warehouse, "check");
  expect(checked).toMatchObject({ code: 0, stdout: expect.stringContaining("httpfs") });
  await goodSync(warehouse);
  expect(await rows()).toEqual({ n: 600, ids: 600, changed: 0 });

  // So many that they do not stay in the catalog.
  company.update("items", 300);
  store.shut();
  const failed = await sync(warehouse, ["--max-time", "15s"]);
  expect([5, 6]).toContain(failed.code);
  expect(failed.stderr).toContain("The object storage of destination.data_path did not do what it was asked");
  store.open();
  expect(await rows()).toEqual({ n: 600, ids: 600, changed: 0 });

  company.requests.clear();
  const running = startSync(warehouse);
  expect(await reach(running, company, { by: "requests", value: 1 })).toBe(true);
  store.shut();
  setTimeout(store.open, 2_500);
  expect((await running.ended).code).toBe(0);
  expect(await rows()).toEqual({ n: 600, ids: 600, changed: 300 });

  const again = await goodSync(warehouse, ["--full"]);
  expect(again.code).toBe(0);
  expect(await rows()).toEqual({ n: 600, ids: 600, changed: 300 });
});
