import { expect, inject, onTestFinished, test } from "vitest";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { bench, configOf } from "../support/run.ts";
import { passing, postgresWarehouse } from "../support/warehouse.ts";
import { onWorkers, startWorkers, until } from "./workers.ts";

/** The first company has details for both workers. */
const orders = [620, 90, 90] as const;
const sizes = { invoices: 20, items: 110, findings: 5, ingested: 20 };
/** `api.max_concurrency` and `api.requests_per_second`, of each key, of both workers together. */
const limits = { max_concurrency: 3, requests_per_second: 60 };

/** The most requests that came in any second, by the service's own clock. */
function mostInASecond({ requests }: Simulator): number {
  const times = requests.entries.map(({ at }) => at).toSorted((a, b) => a - b);
  return Math.max(...times.map((from, nth) => times.slice(nth).filter(at => at < from + 1_000).length));
}

test("of three companies on two workers one's key is revoked: it alone fails, and each key keeps its own limits", async () => {
  const names = ["acme", "globex", "initech"] as const;
  const simulators = await Promise.all(
    names.map((name, seed) =>
      startSimulator({
        seed: seed + 1,
        sizes: { ...sizes, orders: orders[seed]! },
        key: `sk-${name}`,
        faults: { latencyMs: 30 },
      }),
    ),
  );
  onTestFinished(async () => void (await Promise.all(simulators.map(each => each.close()))));
  const companies = names.map((name, nth) => ({ name, key: `sk-${name}`, base_url: simulators[nth]!.url }));
  const warehouse = await passing(postgresWarehouse(inject("postgresUrl")));
  const config = { workers: { jobs: 2 }, company: undefined, companies, api: limits };
  const workers = await startWorkers(await configOf(simulators[0]!, warehouse, config), 2);
  const order = { names: ["purchase_orders", "purchase_order_details", "items"] };
  const many = bench({ simulator: simulators[0]!, warehouse, config, run: onWorkers });
  const first = many.sync(order);
  const seen = new Map<string, Set<string>>();
  await until(() => {
    for (const { id, worker } of workers)
      for (const { company } of worker.doing.jobs)
        if (company !== undefined) seen.set(company, (seen.get(company) ?? new Set()).add(id));
    return [...seen.values()].filter(({ size }) => size === 2).length > 0;
  });
  expect(await first).toMatchObject({ errors: [], exit_code: 0 });
  for (const simulator of simulators) {
    const { requests_per_second: rate, max_concurrency: most } = limits;
    expect(simulator.requests.total).toBeGreaterThan(90);
    expect(simulator.requests.maxInFlight).toBeLessThanOrEqual(most);
    // The first one of a second may have been late by what the network takes.
    expect(mostInASecond(simulator)).toBeLessThanOrEqual(rate + 2);
  }

  const rows = () =>
    warehouse.query<{ n: string }>(
      "select _company, count(*)::int as n from procurement.purchase_orders group by 1 order by 1",
    );
  const before = await rows();
  expect(before.map(({ n }) => n)).toEqual(orders);
  for (const simulator of simulators) simulator.insert("purchase_orders", 5);
  simulators[1]!.renewKey("sk-another");
  const second = await many.sync(order);
  expect(second.exit_code).toBe(3);
  const byCompany = Map.groupBy(second.streams, ({ company }) => company);
  const status = (company: string) => [...new Set(byCompany.get(company)!.map(line => line.status))];
  expect(names.map(status)).toEqual([["succeeded"], ["failed"], ["succeeded"]]);
  expect(second.errors).toMatchObject([{ message: expect.stringMatching(/^globex: .*401/) }]);
  expect((await rows()).map(({ n }) => n)).toEqual([625, 90, 95]);
  expect(workers.map(({ worker }) => worker.refusal)).toEqual([undefined, undefined]);
});
