import { expect, inject, onTestFinished, test } from "vitest";
import { startSimulator } from "../../../simulator/simulator.ts";
import { stillClock } from "../../support/clock.ts";
import { connected } from "../../support/database.ts";
import { interposed } from "../../support/interposed.ts";
import { bench } from "../../support/run.ts";
import { passing, postgresWarehouse } from "../../support/warehouse.ts";

const sizes = { orders: 12, invoices: 1, items: 1, findings: 1, ingested: 1 };
const streams = { preset: "core", exclude: ["ingested", "invoice*", "items", "findings*"] };

test("who copies by `_changed_at` misses nothing of a publish that began before another company's and is slow", async () => {
  const clock = stillClock();
  const start = async (seed: number, key: string) => {
    const simulator = await startSimulator({ sizes, now: clock.date, seed, key });
    onTestFinished(() => simulator.close());
    return simulator;
  };
  const acme = await start(1, "sk-acme");
  const beta = await start(2, "sk-beta");
  const warehouse = await passing(postgresWarehouse(inject("postgresUrl")));
  const blocker = await connected(warehouse.destination["url"] as string);
  onTestFinished(() => blocker.end());
  let armed = false;
  const between = await interposed(acme, async ({ path }) => {
    if (!armed || path !== "/po") return undefined;
    armed = false;
    // A publish writes this row last.
    await blocker.query(
      "begin; select from _tributary.stream_runs where company = 'acme' and stream = 'purchase_orders' and status = 'running' for update",
    );
    return undefined;
  });
  const companies = [
    { name: "acme", key: between.key, base_url: between.url },
    { name: "beta", key: beta.key, base_url: beta.url },
  ];
  const config = { company: undefined, companies, streams };
  const sync = (company: string) =>
    bench({ simulator: acme, warehouse, clock, config }).sync({ company, names: ["purchase_orders"] });
  const waiting = async (type: "advisory" | "transactionid") => {
    const found = await warehouse.query(
      `select from pg_locks where locktype = '${type}' and not granted
        and pid in (select pid from pg_stat_activity where datname = current_database())`,
    );
    return found.length > 0;
  };
  const copied = new Map<string, string>();
  let greatest = "-infinity";
  const copy = async () => {
    const rows = await warehouse.query<{ id: string; row: string; at: string }>(
      `select _company || po_number as id, o::text as row, _changed_at::text as at from procurement.purchase_orders o
        where _changed_at > '${greatest}' order by _changed_at`,
    );
    for (const { id, row, at } of rows) {
      copied.set(id, row);
      greatest = at;
    }
  };
  for (const company of ["acme", "beta"]) await sync(company);
  await copy();
  clock.advance(3_600_000);
  acme.update("purchase_orders", 3);
  beta.update("purchase_orders", 2);
  armed = true;
  const slow = sync("acme");
  await expect.poll(() => waiting("transactionid"), { timeout: 60_000 }).toBe(true);
  clock.advance(60_000);
  let over = false;
  const quick = sync("beta").finally(() => {
    over = true;
  });
  await expect.poll(async () => over || (await waiting("advisory")), { timeout: 60_000 }).toBe(true);
  await copy();
  await blocker.query("commit");
  expect((await slow).streams[0]).toMatchObject({ updated: 3 });
  expect((await quick).streams[0]).toMatchObject({ updated: 2 });
  await copy();
  const now = await warehouse.query<{ id: string; row: string }>(
    "select _company || po_number as id, o::text as row from procurement.purchase_orders o",
  );
  expect(now.filter(({ id, row }) => copied.get(id) !== row)).toEqual([]);
  expect(now).toHaveLength(24);
});
