import { expect, test } from "vitest";
import type { Status } from "../../src/operations/status.ts";
import type { RunReport } from "../../src/sync/run/run.ts";
import { json, roleDatabase, simulated, type Workplace, workplace } from "./workplace.ts";

const requests = (report: RunReport) => Object.fromEntries(report.streams.map(one => [one.stream, one.requests]));

async function names({ run }: Workplace): Promise<Record<string, number>> {
  const { streams } = json<Status>(await run(["status", "--json"]));
  return Object.fromEntries(streams.filter(one => one.rows > 0).map(one => [one.stream, one.rows]));
}

test("reset asks first, and forgets nothing off a terminal without --yes", async () => {
  const { run } = workplace(await simulated(), { views: false });
  const nothing = await run(["reset", "items", "--yes"]);
  expect(nothing).toMatchObject({ code: 0, stdout: expect.stringContaining("Nothing has been loaded yet") });
  await run(["sync", "purchase_order_details"]);
  const refused = await run(["reset", "purchase_orders"]);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("say --yes") });
  const dry = await run(["reset", "purchase_orders", "--dry-run"]);
  expect(dry.stdout).toMatch(/\npurchase_orders +1\npurchase_order_details +12\n/);
  expect(dry.stdout).toContain("13 requests");
  const next = json<RunReport>(await run(["sync", "purchase_order_details", "--json"]));
  expect(requests(next)).toEqual({ purchase_orders: 1, purchase_order_details: 1 });
});

test("a list that is reset brings its details along; the rows stay, and the next run costs what was said", async () => {
  const simulator = await simulated();
  for (const place of [
    workplace(simulator, { views: false }),
    workplace(simulator, { views: false, destination: (await roleDatabase()).destination }),
  ]) {
    const { run } = place;
    const loaded = ["purchase_order_details", "invoice_matches"];
    await run(["sync", ...loaded]);
    const before = await names(place);
    const { streams, done } = json<{ streams: object[]; done: string[] }>(
      await run(["reset", "purchase_orders", "--yes", "--json"]),
    );
    expect(streams).toEqual([
      { company: "acme", stream: "purchase_orders", requests: 1 },
      { company: "acme", stream: "purchase_order_details", requests: 12 },
    ]);
    expect(done).toHaveLength(2);
    expect(await names(place)).toEqual(before);
    const next = json<RunReport>(await run(["sync", ...loaded, "--json"]));
    expect(requests(next)).toMatchObject({ purchase_orders: 1, purchase_order_details: 12, invoice_matches: 1 });
    expect(next.streams.map(one => one.inserted + one.updated + one.deleted)).toEqual(Array(4).fill(0));
  }
});

test("--drop removes the rows, stops before a view that needs them, and lets a company move", async () => {
  const simulator = await simulated();
  const database = await roleDatabase();
  const place = workplace(simulator, { destination: database.destination });
  const { run } = place;
  await run(["sync", "items", "invoices"]);
  await database.admin.query("create view public.cheap as select item_id from procurement.items");
  await database.admin.query(`insert into _tributary.warehouse (key, value) values ('program', '"99.0.0"')`);
  const older = await run(["reset", "items", "--drop", "--yes"]);
  expect(older).toMatchObject({ code: 2, stderr: expect.stringContaining("99.0.0") });
  await database.admin.query("delete from _tributary.warehouse where key = 'program'");
  const blocked = await run(["reset", "items", "--drop", "--yes"]);
  expect(blocked).toMatchObject({ code: 6, stderr: expect.stringContaining("public.cheap") });
  expect(await names(place)).toEqual({ items: 130, invoices: 8 });
  await database.admin.query("drop view public.cheap");
  const one = await run(["reset", "items", "--drop", "--yes"]);
  expect(one.stdout).toMatch(/removed 130 rows of acme from items\ndropped views .*\bitems\b.*\ndropped table items/);
  expect(await names(place)).toEqual({ invoices: 8 });

  const moved = await simulated();
  const after = workplace(moved, { destination: database.destination });
  expect((await after.run(["sync", "items"])).code).toBe(2);
  const all = await after.run(["reset", "*", "--drop", "--yes"]);
  expect(all.stdout).toContain("acme: nothing of it is left");
  expect((await after.run(["sync", "items"])).code).toBe(0);
  expect(await names(after)).toEqual({ items: 130 });
});
