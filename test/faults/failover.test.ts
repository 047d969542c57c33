import { randomBytes } from "node:crypto";
import { expect, inject, it, onTestFinished } from "vitest";
import { startSimulator } from "../../simulator/simulator.ts";
import { runAttempts } from "../../src/sync/run/attempts.ts";
import { stillClock } from "../support/clock.ts";
import { connected } from "../support/database.ts";
import { interposed } from "../support/interposed.ts";
import { bench, lineOf } from "../support/run.ts";

const sizes = { orders: 12, invoices: 1, items: 7, findings: 1, ingested: 1 };

it("reads again what a standby that takes over has not heard of, and claims none of it", async () => {
  const clock = stillClock();
  const simulator = await startSimulator({ sizes, now: clock.date });
  const server = await connected(inject("postgresUrl"));
  const primary = `t_${randomBytes(6).toString("hex")}`;
  const standby = `${primary}_standby`;
  onTestFinished(async () => {
    for (const name of [primary, standby]) await server.query(`drop database if exists ${name} with (force)`);
    await server.end();
    await simulator.close();
  });
  await server.query(`create database ${primary} encoding 'UTF8' template template0`);
  const address = new URL(inject("postgresUrl"));
  address.pathname = `/${primary}`;
  let failing = false;
  const service = await interposed(simulator, async ({ path }) => {
    // The first detail is asked for when its list has been published and has ended.
    if (!failing || !/^\/po\/[^/]+$/.test(path)) return undefined;
    failing = false;
    await server.query(`drop database ${primary} with (force)`);
    await server.query(`create database ${primary} template ${standby}`);
    return undefined;
  });
  const { sync } = bench({
    simulator: service,
    warehouse: { destination: { type: "postgres", url: address.href } },
    clock,
    config: { streams: { exclude: ["invoice*", "findings*", "ingested"] } },
    run: runAttempts,
  });
  expect((await sync()).exit_code).toBe(0);
  await server.query(`create database ${standby} template ${primary}`);
  clock.advance(86_400_000);
  const since = clock.date().toISOString();
  simulator.update("purchase_orders", 4);
  failing = true;
  const report = await sync();
  expect(failing).toBe(false);
  expect([report.exit_code, report.notes]).toMatchObject([0, [{ code: "run.begun_again", fields: { times: 1 } }]]);
  expect(lineOf(report, "purchase_orders")).toMatchObject({ status: "succeeded", updated: 4, run_id: report.run_id });
  const reader = await connected(address.href);
  const { rows } = await reader.query(
    "select count(*)::int as changed from procurement.purchase_orders where _changed_at >= $1",
    [since],
  );
  const { rows: lines } = await reader.query(
    "select status, updated::int from _tributary.stream_runs where stream = 'purchase_orders' order by started_at offset 1",
  );
  await reader.end();
  expect(rows).toEqual([{ changed: 4 }]);
  expect(lines).toEqual([
    { status: "failed", updated: 0 },
    { status: "succeeded", updated: 4 },
  ]);
});
