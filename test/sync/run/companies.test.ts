import { describe, expect, onTestFinished, test } from "vitest";
import { stringify } from "yaml";
import { type Simulator, type SimulatorOptions, startSimulator } from "../../../simulator/simulator.ts";
import { readStatus } from "../../../src/operations/status.ts";
import type { RunReport } from "../../../src/sync/run/run.ts";
import { streams as catalogue } from "../../../streams/index.ts";
import { load } from "../../config/sample.ts";
import { stillClock } from "../../support/clock.ts";
import { interposed, type Passing, refused } from "../../support/interposed.ts";
import { type Bench, bench } from "../../support/run.ts";
import { eitherWarehouse, type Warehouse } from "../../support/warehouse.ts";

const sizes = { orders: 12, invoices: 6, items: 7, findings: 5, ingested: 9 };
/** Two lists and the details of one: what companies share and what they don't is the same for all. */
const streams = { exclude: ["invoice*", "findings*", "ingested"] };
const wrongKey = "sk-neverShown-wrong";

/** One company's entry in the configuration. */
interface Entry {
  readonly name: string;
  readonly key: string;
  readonly base_url: string;
}

interface Party {
  readonly clock: ReturnType<typeof stillClock>;
  readonly warehouse: Warehouse;
  readonly acme: Simulator;
  readonly beta: Simulator;
  readonly bench: Bench;
  /** A run for the companies as they are configured now. */
  sync(entries: readonly Entry[], api?: object): Promise<RunReport>;
}

const entryOf = (name: string, { url, key }: Simulator): Entry => ({ name, key, base_url: url });

/** Two services with a company each, and one warehouse. */
async function party(make: () => Promise<Warehouse>, options: SimulatorOptions = {}): Promise<Party> {
  const clock = stillClock();
  const start = async (seed: number, key: string) => {
    const simulator = await startSimulator({ sizes, now: clock.date, seed, key, ...options });
    onTestFinished(() => simulator.close());
    return simulator;
  };
  const acme = await start(1, "sk-neverShown-acme");
  const beta = await start(2, "sk-neverShown-beta");
  const warehouse = await make();
  const runs = bench({ simulator: acme, warehouse, clock });
  return {
    clock,
    warehouse,
    acme,
    beta,
    bench: runs,
    sync(companies, api = {}) {
      runs.configure({ company: undefined, companies, api, streams, views: false });
      return runs.sync();
    },
  };
}

/** What the tables hold of a company, and what its service lists. */
async function orders(warehouse: Warehouse, company: string): Promise<unknown[]> {
  return warehouse.query(
    `select po_number, vendor_name from procurement.purchase_orders where _company = '${company}' order by po_number`,
  );
}

const listed = (simulator: Simulator) =>
  [...simulator.truth.rows("purchase_orders")]
    .map(({ po_number, vendor_name }) => ({ po_number, vendor_name }))
    .sort((a, b) => (String(a.po_number) < String(b.po_number) ? -1 : 1));

const statusesOf = (report: RunReport, company: string) => [
  ...new Set(report.streams.filter(line => line.company === company).map(line => line.status)),
];

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("two companies share the tables, each with its own rows, and a second run changes nothing", async () => {
    const { acme, beta, warehouse, clock, sync, bench } = await party(make);
    const entries = [entryOf("acme", acme), entryOf("beta", beta)];
    expect(await sync(entries)).toMatchObject({ status: "succeeded", exit_code: 0, errors: [] });
    expect(await orders(warehouse, "acme")).toEqual(listed(acme));
    expect(await orders(warehouse, "beta")).toEqual(listed(beta));
    expect(listed(acme)).not.toEqual(listed(beta));
    const counts = await warehouse.query(
      "select _company, count(*) as n from procurement.purchase_order_details group by _company order by _company",
    );
    expect(counts).toEqual([
      { _company: "acme", n: 12 },
      { _company: "beta", n: 12 },
    ]);
    clock.advance(3_600_000);
    beta.update("purchase_orders", 2);
    const second = await sync(entries);
    const changed = second.streams.filter(line => line.inserted + line.updated + line.deleted > 0);
    expect(changed.map(({ company, stream, updated }) => `${company} ${stream} ${updated}`)).toEqual([
      "beta purchase_orders 2",
      "beta purchase_order_details 2",
    ]);
    expect(bench.said).toContain("done");
  });

  test("a company whose key is refused fails alone, and is named", async () => {
    const { acme, beta, warehouse, sync } = await party(make);
    const report = await sync([{ ...entryOf("acme", acme), key: wrongKey }, entryOf("beta", beta)]);
    expect(report).toMatchObject({ status: "failed", exit_code: 3 });
    const refusal = expect.stringMatching(/^acme: Expected data from GET .*The API key was refused/);
    expect(report.errors).toMatchObject([{ message: refusal, fields: { companies: ["acme"] } }]);
    expect([statusesOf(report, "acme"), statusesOf(report, "beta")]).toEqual([["failed"], ["succeeded"]]);
    expect(await orders(warehouse, "beta")).toEqual(listed(beta));
    const [run] = await warehouse.query<{ exit_code: number; error: string }>(
      "select exit_code, error from _tributary.runs",
    );
    expect(run).toMatchObject({ exit_code: 3, error: report.errors[0]?.message });
    expect(JSON.stringify(report)).not.toContain("neverShown");
    // With the right key it is loaded as if nothing had been.
    expect(await sync([entryOf("acme", acme), entryOf("beta", beta)])).toMatchObject({ exit_code: 0 });
    expect(await orders(warehouse, "acme")).toEqual(listed(acme));
  });

  test("a company's refusal is still shown after a good run for another company", async () => {
    const { acme, beta, warehouse, clock, sync, bench } = await party(make);
    expect(await sync([entryOf("acme", acme), entryOf("beta", beta)])).toMatchObject({ exit_code: 0 });
    clock.advance(3_600_000);
    const entries = [entryOf("acme", acme), { ...entryOf("beta", beta), key: wrongKey }];
    const { run_id, errors } = await sync(entries);
    clock.advance(3_600_000);
    expect(await bench.sync({ company: "acme" })).toMatchObject({ exit_code: 0 });
    const { destination } = warehouse;
    const { config } = await load(stringify({ companies: entries, destination, streams }));
    const status = await readStatus(config, catalogue, "beta");
    const lines = status.streams.map(({ status, error }) => ({ status, error: `beta: ${error}` }));
    expect(lines).toEqual(Array(3).fill({ status: "failed", error: errors[0]?.message }));
    const rows = await warehouse.query(
      `select table_rows, difference_reason from _tributary.stream_runs
        where run_id = '${run_id}' and company = 'beta' and stream = 'items' and finished_at is not null`,
    );
    expect(rows).toEqual([{ table_rows: 7, difference_reason: expect.stringContaining("published") }]);
  });

  test("a company that is not the one the warehouse keeps fails alone, and its rows stay", async () => {
    const { acme, beta, warehouse, clock, sync } = await party(make);
    const entries = [entryOf("acme", acme), entryOf("beta", beta)];
    await sync(entries);
    const other = await startSimulator({ sizes, now: clock.date, seed: 3 });
    onTestFinished(() => other.close());
    clock.advance(3_600_000);
    beta.update("purchase_orders", 2);
    const report = await sync([entryOf("acme", other), entryOf("beta", beta)]);
    expect(report).toMatchObject({ status: "failed", exit_code: 2 });
    expect(report.errors).toMatchObject([
      { message: expect.stringContaining("acme: This warehouse keeps company acme from") },
    ]);
    expect([statusesOf(report, "acme"), statusesOf(report, "beta")]).toEqual([["failed"], ["succeeded"]]);
    expect(other.requests.count("/po")).toBe(0);
    expect(await orders(warehouse, "acme")).toEqual(listed(acme));
    expect(await orders(warehouse, "beta")).toEqual(listed(beta));
    // Alone it keeps the run from beginning, as ever.
    await expect(sync([entryOf("acme", other)])).rejects.toMatchObject({ exitCode: 2 });
  });

  test("one company under two names is loaded once, also the first time", async () => {
    const { acme, warehouse, sync } = await party(make);
    const report = await sync([entryOf("acme", acme), entryOf("twin", acme)]);
    expect(report).toMatchObject({ exit_code: 2 });
    const company_id = expect.stringMatching(/^cmp_/);
    expect(report.errors).toMatchObject([
      { code: "run.same_company", fields: { company: "twin", other: "acme", company_id, companies: ["twin"] } },
    ]);
    expect(await orders(warehouse, "acme")).toEqual(listed(acme));
    expect(await orders(warehouse, "twin")).toEqual([]);
  });

  test("a key that is revoked, and a plan that is used up, in the middle of a run end that company's part only", async () => {
    const { acme, beta, warehouse, clock, sync } = await party(make);
    const isDetail = ({ path }: Passing) => path.startsWith("/po/");
    let instead = refused(401, "UNAUTHORIZED");
    const door = await interposed(acme, passing => (isDetail(passing) ? instead : undefined));
    const entries = [entryOf("acme", door), entryOf("beta", beta)];
    const first = await sync(entries);
    expect(first).toMatchObject({ exit_code: 3, errors: [{ message: expect.stringMatching(/^acme: .*refused/) }] });
    expect(statusesOf(first, "beta")).toEqual(["succeeded"]);
    expect(await orders(warehouse, "beta")).toEqual(listed(beta));
    clock.advance(3_600_000);
    beta.update("purchase_orders", 3);
    instead = refused(429, "PLAN_LIMIT");
    const second = await sync(entries, { max_wait: "0s" });
    const limit = { message: expect.stringMatching(/^acme: .*429/) };
    expect(second).toMatchObject({ exit_code: 5, status: "stopped", errors: [limit] });
    expect(statusesOf(second, "beta")).toEqual(["succeeded"]);
    expect(await orders(warehouse, "beta")).toEqual(listed(beta));
  });

  test("a company that has to wait holds up no other", async () => {
    const { acme, beta, warehouse, sync } = await party(make);
    const through = Promise.withResolvers<void>();
    const busy = await interposed(beta, ({ path }) => {
      if (path.startsWith("/po/")) through.resolve();
      return undefined;
    });
    const waiting = await interposed(acme, async ({ path }) => {
      // Were the companies read one after another this would never be answered.
      if (path !== "/auth/company-settings") await through.promise;
      return undefined;
    });
    // The first load of beta takes longer than a request may, on a machine with much else to do.
    const report = await sync([entryOf("acme", waiting), entryOf("beta", busy)], { timeout: "10m" });
    expect(report).toMatchObject({ exit_code: 0 });
    expect(await orders(warehouse, "acme")).toEqual(listed(acme));
  });

  test("--max-requests counts the requests of all companies together", async () => {
    const { acme, beta, bench } = await party(make);
    bench.configure({ company: undefined, companies: [entryOf("acme", acme), entryOf("beta", beta)], streams });
    const report = await bench.sync({ maxRequests: 20 });
    expect(report).toMatchObject({ exit_code: 5 });
    expect(acme.requests.total + beta.requests.total).toBe(20);
  });

  test("warnings say whose they are", async () => {
    const { acme, beta, sync } = await party(make, { faults: { nullKeys: 0.04 }, sizes: { ...sizes, orders: 60 } });
    const { warnings } = await sync([entryOf("acme", acme), entryOf("beta", beta)]);
    expect(warnings.length).toBeGreaterThan(0);
    for (const { message } of warnings) expect(message).toMatch(/^((acme|beta)\/[a-z_]+(, )?)+: /);
  });
});
