import { once } from "node:events";
import { text } from "node:stream/consumers";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import type { Simulator } from "../../simulator/simulator.ts";
import { json, secretKey, simulated, workplace } from "../cli/workplace.ts";
import { until } from "../fleet/workers.ts";
import { warehouses } from "../support/warehouse.ts";

const { make } = warehouses.find(({ name }) => name === "ducklake")!;
const sizes = { orders: 60, invoices: 0, items: 0, findings: 0, ingested: 0 };

test("a process that stands still in the middle of a publish keeps no other company out, and begins again when it wakes", async () => {
  const lake = await make();
  const [acme, beta] = await Promise.all([1, 2].map(seed => simulated({ key: secretKey, sizes, seed })));
  const at = (simulator: Simulator, company: string) =>
    workplace(simulator, { destination: lake.destination, company, views: false });
  const [ours, theirs] = [at(acme!, "acme"), at(beta!, "beta")];
  expect((await theirs.run(["sync", "--json", "purchase_orders"])).code).toBe(0);
  const server = new pg.Client({ connectionString: String(lake.destination["catalog"]) });
  await server.connect();
  onTestFinished(() => server.end());
  const blocked = async () =>
    (await server.query("select from pg_locks l join pg_class c on c.oid = l.relation where not l.granted")).rowCount;
  acme!.faults.latencyMs = 2_000;
  const first = ours.start("sync", "--json", "purchase_orders");
  const said = text(first.stdout);
  first.stderr.resume();
  // What comes before the list's answer is written, so that the publish is what waits.
  await until(() => acme!.requests.count("/po") > 0);
  await server.query("begin; lock table ducklake.ducklake_snapshot in share mode");
  acme!.faults.latencyMs = 0;
  await until(async () => (await blocked())! > 0);
  first.kill("SIGSTOP");
  await server.query("commit");
  expect(json(await theirs.run(["sync", "--full", "--json", "purchase_orders"]))).toMatchObject({ exit_code: 0 });
  const orders = () => lake.query("select _company, count(*) as n from procurement.purchase_orders group by 1");
  expect(await orders()).toEqual([{ _company: "beta", n: 60 }]);
  first.kill("SIGCONT");
  await once(first, "exit");
  // Its sessions were ended: it begins again.
  const report = { exit_code: 0, notes: [{ code: "run.begun_again" }], streams: [{ inserted: 60 }] };
  expect(JSON.parse(await said)).toMatchObject(report);
  expect(
    await lake.query(
      "select count(*) as n, count(distinct concat(_company, po_number)) as keys from procurement.purchase_orders",
    ),
  ).toEqual([{ n: 120, keys: 120 }]);
});
