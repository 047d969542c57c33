import { once } from "node:events";
import { text } from "node:stream/consumers";
import pg from "pg";
import { expect, onTestFinished } from "vitest";
import { HEARTBEAT_S } from "../../src/fleet/queue.ts";
import type { RunReport } from "../../src/sync/run/report.ts";
import { secretKey, simulated, workplace } from "../cli/workplace.ts";
import type { Warehouse } from "../support/warehouse.ts";
import { until } from "./workers.ts";

const orders = ["purchase_orders", "purchase_order_details"];

/**
 * Stops the process of a worker in the middle of a publish, which ends with a write to the table `held` of the PostgreSQL at
 * `url`. Another worker has to go on in time, and the stopped one may publish nothing when it wakes.
 */
export async function stopInPublish(warehouse: Warehouse, url: string, held: string): Promise<void> {
  const sizes = { orders: 60, invoices: 0, items: 0, findings: 0, ingested: 0 };
  const simulator = await simulated({ key: secretKey, sizes });
  const at = workplace(simulator, { destination: warehouse.destination, workers: {}, views: false });
  const server = new pg.Client({ connectionString: url });
  await server.connect();
  onTestFinished(() => server.end());
  const count = async (statement: string) =>
    Number((await server.query(`select count(*) as n from ${statement}`)).rows[0].n);
  const seen = (pid: number | undefined) =>
    `_tributary.workers where pid = ${pid} and seen_at > now() - interval '3 s'`;
  const work = async () => {
    const child = at.start("work", "--no-server");
    for (const stream of [child.stdout, child.stderr]) stream.resume();
    await until(async () => (await count(seen(child.pid)).catch(() => 0)) === 1);
    return child;
  };
  const first = await work();
  const made = await at.run(["sync", "--workers", "--json", ...orders]);
  expect(made.code).toBe(0);
  simulator.insert("purchase_orders", 30);
  simulator.requests.clear();
  simulator.faults.latencyMs = 2_000;
  const following = at.start("sync", "--workers", "--json", ...orders);
  const said = text(following.stdout);
  // What comes before the list's answer is written, so that the publish is what waits.
  await until(() => simulator.requests.count("/po") > 0);
  await server.query(`begin; lock table ${held} in share mode`);
  simulator.faults.latencyMs = 0;
  await until(
    async () =>
      (await count(
        "pg_locks l join pg_stat_activity a using (pid) where not l.granted and a.application_name like 'tributary %'",
      )) > 0,
  );
  first.kill("SIGSTOP");
  await server.query("commit");
  const stoppedAt = Date.now();
  await work();
  await until(
    async () =>
      (await count("_tributary_jobs.job where name = 'companies' and retry_count > 0 and state >= 'active'")) > 0,
  );
  expect(Date.now() - stoppedAt).toBeLessThan((HEARTBEAT_S + 10) * 1_000);
  await once(following, "exit");
  const report = JSON.parse(await said) as RunReport;
  expect(report).toMatchObject({ exit_code: 0, errors: [] });
  const left = async () =>
    JSON.stringify([
      await warehouse.query("select * from procurement.purchase_orders order by po_number"),
      await warehouse.query("select * from procurement.purchase_order_details order by po_number"),
      await warehouse.query("select * from _tributary.stream_runs order by run_id, stream"),
      await warehouse.query("select * from _tributary.runs order by run_id"),
    ]);
  const before = await left();
  expect(JSON.parse(before)[0]).toHaveLength(90);
  first.kill("SIGCONT");
  await until(async () => (await count(seen(first.pid))) === 1);
  // It gives up what it had, and then does nothing.
  await until(async () => (await count(`${seen(first.pid)} and doing ->> 'jobs' = '[]'`)) === 1);
  expect(await left()).toBe(before);
}
