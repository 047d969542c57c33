import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import type { Estimate } from "../../../src/operations/estimate/estimate.ts";
import type { RunReport } from "../../../src/sync/run/run.ts";
import { json, roleDatabase, simulated, workplace } from "../../cli/workplace.ts";

const streams = { include: ["purchase_order_change_orders"] };
const sizes = { orders: 12, invoices: 0, items: 0, findings: 0, ingested: 0 };

test("refresh says what it would ask for, asks for it, and refuses what is no list of rows with details", async () => {
  const simulator = await simulated({ sizes });
  const { run } = workplace(simulator, { streams, views: false });
  const [one, two] = [...simulator.truth.rows("purchase_orders")].map(row => String(row["po_number"]));
  const early = await run(["refresh", "purchase_orders", one!]);
  expect(early).toMatchObject({ code: 2, stderr: expect.stringContaining("Nothing has been loaded yet") });
  expect((await run(["sync", "purchase_order*"])).code).toBe(0);
  simulator.requests.clear();
  const dry = json<Estimate>(await run(["refresh", "purchase_orders", one!, two!, "none", "--dry-run", "--json"]));
  // One tells whose key it is.
  expect(dry).toMatchObject({ dry_run: true, requests: 5, at_least: false });
  expect(dry.streams.map(({ stream, requests }) => `${stream} ${requests}`)).toEqual([
    "purchase_order_details 2",
    "purchase_order_change_orders 2",
  ]);
  expect(simulator.requests.count("/po/{po_number}")).toBe(0);

  const report = json<RunReport>(await run(["refresh", "purchase_orders", one!, two!, "none", "--json"]));
  expect(report).toMatchObject({
    exit_code: 0,
    status: "warning",
    warnings: [{ code: "refresh.unknown_keys", fields: { list: "purchase_orders", keys: ["none"] } }],
  });
  expect(report.streams.map(({ stream, requests }) => `${stream} ${requests}`)).toEqual([
    "purchase_order_details 2",
    "purchase_order_change_orders 2",
  ]);
  expect(simulator.requests.count("/po")).toBe(0);
  const told = await run(["refresh", "purchase_orders", one!, "--wait", "1m"]);
  const wrong = await run(["refresh", "purchase_order_details", one!]);
  expect(told).toMatchObject({ code: 0, stdout: expect.stringMatching(/\npurchase_order_details +succeeded /) });
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("Name purchase_orders with the keys") });
});

interface Line {
  readonly msg: string;
  readonly schedule?: string;
  readonly url?: string;
  readonly exit_code?: number;
}

test.each([
  ["in a file", async () => ({})],
  [
    "in PostgreSQL, where workers do the schedules' runs",
    async () => ({ destination: (await roleDatabase()).destination, workers: {} }),
  ],
])("a hint that names rows has the daemon refresh them behind the run under way, %s", async (_name, more) => {
  const simulator = await simulated({ sizes });
  const secret = "0123456789abcdef-hook";
  const place = workplace(simulator, {
    ...{ streams, hooks: { secret }, server: { listen: "127.0.0.1:0" }, views: false },
    schedules: [{ name: "yearly", cron: "0 0 1 1 *" }],
    ...(await more()),
  });
  expect((await place.run(["sync", "purchase_order*"])).code).toBe(0);
  const [one, two] = [...simulator.truth.rows("purchase_orders")].map(row => String(row["po_number"]));
  simulator.requests.clear();
  const child = place.start("schedule");
  const lines: Line[] = [];
  const { promise: served, resolve: serve } = Promise.withResolvers<string>();
  let heard = (): void => undefined;
  createInterface({ input: child.stderr }).on("line", text => {
    const line = JSON.parse(text) as Line;
    lines.push(line);
    if (line.url !== undefined) serve(line.url);
    heard();
  });
  const call = async (body: unknown) => {
    const answer = await fetch(`${await served}/hooks/${secret}`, { method: "POST", body: JSON.stringify(body) });
    return [answer.status, await answer.json()];
  };
  const ends = () => lines.filter(line => line.schedule === "refresh" && line.exit_code !== undefined);
  const begun = () => lines.filter(line => line.schedule === "refresh" && line.msg === "a run begins");
  const asked = () =>
    simulator.requests.entries
      .filter(({ template }) => template === "/po/{po_number}")
      .map(({ path }) => decodeURIComponent(path.slice("/po/".length)));
  const allEnded = async () => {
    while (new Set(asked()).size < 2 || ends().length < begun().length) {
      const { promise, resolve } = Promise.withResolvers<void>();
      heard = resolve;
      await promise;
    }
  };
  simulator.faults.latencyMs = 300;
  const list = "purchase_orders";
  expect(await call({ list, keys: [one] })).toEqual([202, { accepted: true, list, keys: 1 }]);
  expect(await call({ list: "nothing", keys: [one] })).toMatchObject([
    400,
    { error: expect.stringContaining("nothing") },
  ]);
  // The first is under way by now, or takes both.
  expect(await call({ list, keys: [one, two] })).toEqual([202, { accepted: true, list, keys: 2 }]);
  await allEnded();
  expect(ends().every(({ exit_code }) => exit_code === 0)).toBe(true);
  expect(new Set(asked())).toEqual(new Set([one, two]));
  expect(simulator.requests.count("/po")).toBe(0);
  child.kill("SIGTERM");
  const [code] = await once(child, "close");
  expect(code).toBe(0);
});
