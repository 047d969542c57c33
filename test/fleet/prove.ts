/*
 * npm run prove:fleet: workers in processes of their own against one service that counts for itself.
 *
 *   --part speed      1, 2, 4 and 8 workers (--workers), 60 requests a second, 80 ms: the time it takes ÷ the time that the limits
 *                     alone take, and by the service's own count the most in any second and in flight
 *   --part kills      a worker, the one that conducts, or PostgreSQL is killed, or a worker is cut off from PostgreSQL for a
 *                     minute, --instants times: tables against the service's truth, requests beyond those needed
 *   --part companies  sixty companies on four workers: each one's night ÷ its fair share, one whose key is revoked
 *   --part hosts      four workers on two hosts, which are network namespaces (Linux, root): one loses its network for a minute
 *   --part details    200,000 details (--details), 200 requests a second, 1, 2 and 4 workers
 *
 * Ends with 1 when a figure misses what it has to be.
 */
import type { ChildProcess } from "node:child_process";
import { parseArgs } from "node:util";
import { Draw } from "../../simulator/random.ts";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { systemClock } from "../../src/clock.ts";
import { streams } from "../../streams/index.ts";
import { type PostgresServer, startPostgres } from "../support/server.ts";
import { compareWithTruth } from "../support/truth.ts";
import type { Warehouse } from "../support/warehouse.ts";
import { HERE, withHosts } from "./hosts.ts";
import { wayTo } from "./partition.ts";
import { freshWarehouse, Place } from "./place.ts";

const { values } = parseArgs({
  options: {
    part: { type: "string", default: "speed" },
    workers: { type: "string" },
    orders: { type: "string" },
    instants: { type: "string", default: "60" },
    details: { type: "string", default: "200000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
const complaints: string[] = [];
const say = (text: string) => process.stdout.write(`${text}\n`);
const require = (isSo: boolean, text: string): void => {
  if (!isSo) complaints.push(text);
};

/** The most requests that came within any second. */
function mostInASecond({ requests }: Pick<Simulator, "requests">): number {
  const times = requests.entries.map(({ at }) => at).toSorted((a, b) => a - b);
  let most = 0;
  for (let last = 0, first = 0; last < times.length; last++) {
    while (times[last]! - times[first]! >= 1_000) first++;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

const refusals = ({ requests }: Pick<Simulator, "requests">) =>
  requests.entries.filter(({ status }) => status === 429).length;

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

/** Whether tables and service say the same of these streams. */
async function differences(simulator: Simulator, warehouse: Warehouse, names: readonly string[]): Promise<number> {
  const compared = await compareWithTruth(
    simulator,
    warehouse,
    streams.filter(({ name }) => names.includes(name)),
    new Date().toISOString().slice(0, 10),
  );
  return compared.differences.length;
}

const ORDERS = ["purchase_orders", "purchase_order_details"];
const IN_FLIGHT = 8;

async function speed(server: PostgresServer): Promise<void> {
  const orders = Number(values.orders ?? 6_000);
  for (const count of (values.workers ?? "1,2,4,8").split(",").map(Number)) {
    const simulator = await startSimulator({ sizes: { orders }, faults: { latencyMs: 80 } });
    const warehouse = await freshWarehouse(server);
    const limits = { requests_per_second: 60, max_concurrency: IN_FLIGHT };
    const place = await Place.make({
      ...{ company: "acme", views: false, workers: { jobs: 3 }, destination: warehouse.destination },
      api: { base_url: simulator.url, key: `\${KEY}`, ...limits },
    });
    for (let nth = 0; nth < count; nth++) place.start();
    await systemClock.sleep(3_000);
    const begun = performance.now();
    const report = await place.run(ORDERS);
    const ms = performance.now() - begun;
    const asked = simulator.requests.total;
    const ideal = (asked / Math.min(60, (IN_FLIGHT / 80) * 1_000)) * 1_000;
    const most = mostInASecond(simulator);
    const { maxInFlight } = simulator.requests;
    const missed = await differences(simulator, warehouse, ORDERS);
    say(
      `${count} workers: ${asked} requests in ${seconds(ms)}, ${(ms / ideal).toFixed(3)} of what the limits take; at most ${most} in a second, ${maxInFlight} in flight, ${refusals(simulator)} times 429, ${missed} differences, exit code ${report.exit_code}`,
    );
    require(ms / ideal <=
      1.15, `${count} workers took ${(ms / ideal).toFixed(3)} of what the limits take, more than 1.15`);
    require(most <= 62, `${count} workers sent ${most} requests in a second, more than 62`);
    require(maxInFlight <= IN_FLIGHT, `${count} workers had ${maxInFlight} in flight, more than ${IN_FLIGHT}`);
    require(refusals(simulator) === 0 && missed === 0 && report.exit_code === 0, `${count} workers: not all went well`);
    await place.close();
    await warehouse.drop();
    await simulator.close();
  }
}

const KINDS = [
  "a worker",
  "the conductor",
  "a worker",
  "PostgreSQL",
  "a worker",
  "the conductor",
  "a partition",
] as const;
const LEAST_WAIT_MS = 1_500;

/** Kills while first loads go on, until there were as many as are wanted. */
async function kills(server: PostgresServer): Promise<void> {
  const orders = Number(values.orders ?? 1_500);
  const wanted = Number(values.instants);
  const draw = new Draw(Number(values.seed));
  const random = () => draw.next() / 2 ** 32;
  say(`seed ${values.seed}`);
  const simulator = await startSimulator({ sizes: { orders }, faults: { latencyMs: 40 } });
  const limits = { requests_per_second: 80, max_concurrency: IN_FLIGHT };
  let done = 0;
  for (let nth = 1; done < wanted; nth++) {
    const warehouse = await freshWarehouse(server);
    const url = new URL(String(warehouse.destination["url"]));
    const way = await wayTo(url.hostname, Number(url.port));
    const config = {
      ...{ company: "acme", views: false, workers: { jobs: 3 }, destination: warehouse.destination },
      api: { base_url: simulator.url, key: `\${KEY}`, ...limits },
    };
    const place = await Place.make(config);
    const cutUrl = new URL(url);
    cutUrl.port = String(way.port);
    const cut = await Place.make({ ...config, destination: { ...config.destination, url: cutUrl.href } });
    const workers = new Set([place.start(), place.start(), place.start()]);
    cut.start();
    await systemClock.sleep(2_000);
    simulator.requests.clear();
    let isOver = false;
    let inRun = 0;
    const begun = performance.now();
    const running = place.run(ORDERS).finally(() => {
      isOver = true;
    });
    running.catch(() => undefined);
    while (!isOver && done < wanted) {
      await systemClock.sleep(LEAST_WAIT_MS + random() * 6_000);
      if (isOver) break;
      const kind = KINDS[done % KINDS.length]!;
      done++;
      inRun++;
      say(`  ${seconds(performance.now() - begun)}: ${kind}`);
      if (kind === "PostgreSQL") {
        await server.kill9();
        await systemClock.sleep(1_000);
        await server.restart();
      } else if (kind === "a partition") {
        way.cut();
        await systemClock.sleep(60_000);
        way.mend();
      } else {
        const all = [...workers];
        const conductor = kind === "the conductor" ? await conductorOf(place, all) : undefined;
        const victim = conductor ?? all[Math.floor(random() * all.length)]!;
        victim.kill("SIGKILL");
        workers.delete(victim);
        workers.add(place.start());
      }
    }
    const report = await running;
    const ms = performance.now() - begun;
    const asked = simulator.requests.total;
    const needed = orders + Math.ceil(orders / 100) + 1;
    const allowed = 1.02 * needed + IN_FLIGHT * inRun;
    const missed = await differences(simulator, warehouse, ORDERS);
    const { maxInFlight } = simulator.requests;
    const most = mostInASecond(simulator);
    const failure = report.errors.length > 0 ? `: ${report.errors[0]!.message}` : "";
    say(
      `run ${nth}, ${inRun} instants: ${seconds(ms)}, ${asked} requests of ${needed} needed, at most ${most} in a second, ${maxInFlight} in flight, ${missed} differences, exit code ${report.exit_code}${failure}`,
    );
    require(missed === 0, `run ${nth}: ${missed} differences`);
    require(asked <= allowed, `run ${nth}: ${asked} requests, more than ${allowed.toFixed(0)}`);
    require(report.exit_code === 0, `run ${nth}: exit code ${report.exit_code}`);
    require(most <= 82 && maxInFlight <= IN_FLIGHT, `run ${nth}: ${most} in a second, ${maxInFlight} in flight`);
    const [twice] = await warehouse.query<{ n: number }>(
      "select count(*)::int as n from procurement.purchase_orders where _first_seen_at <> _changed_at",
    );
    require(twice?.n === 0, `run ${nth}: ${twice?.n} rows were published twice`);
    await cut.close();
    await place.close();
    way.close();
    await warehouse.drop();
  }
  await simulator.close();
}

/** The process that conducts a run at this moment. */
async function conductorOf(place: Place, children: readonly ChildProcess[]): Promise<ChildProcess | undefined> {
  const found = (await place.workers()).find(({ doing }) => doing.jobs.some(({ kind }) => kind === "runs"));
  return children.find(({ pid }) => pid === found?.pid);
}

/** Two hosts of two workers each: the network of one fails for a minute, in the middle of a first load. */
async function hosts(server: PostgresServer): Promise<void> {
  const orders = Number(values.orders ?? 3_000);
  const simulator = await startSimulator({ sizes: { orders }, faults: { latencyMs: 80 } });
  const warehouse = await freshWarehouse(server);
  const limits = { requests_per_second: 60, max_concurrency: IN_FLIGHT };
  const url = new URL(String(warehouse.destination["url"]));
  await withHosts(2, { service: simulator.port, postgres: Number(url.port) }, async (own, ports) => {
    const configOf = (base: string, at: string) => ({
      ...{ company: "acme", views: false, workers: { jobs: 3 }, destination: { ...warehouse.destination, url: at } },
      api: { base_url: base, key: `\${KEY}`, ...limits },
    });
    const place = await Place.make(configOf(simulator.url, url.href));
    const at = new URL(url);
    at.hostname = HERE;
    at.port = String(ports.postgres);
    at.searchParams.set("sslmode", "disable");
    const theirs = await Place.make(configOf(`http://${HERE}:${ports.service}`, at.href));
    for (const { within } of [...own, ...own]) theirs.start(theirs.file, within);
    await systemClock.sleep(4_000);
    simulator.requests.clear();
    const begun = performance.now();
    const running = place.run(ORDERS);
    await systemClock.sleep(12_000);
    const before = simulator.requests.total;
    own[1]!.cut();
    say(`  ${seconds(performance.now() - begun)}: the network of one host fails, after ${before} requests`);
    await systemClock.sleep(60_000);
    own[1]!.mend();
    const report = await running;
    const ms = performance.now() - begun;
    const { total, maxInFlight } = simulator.requests;
    const needed = orders + Math.ceil(orders / 100) + 1;
    const missed = await differences(simulator, warehouse, ORDERS);
    const most = mostInASecond(simulator);
    say(
      `2 hosts: ${total} requests of ${needed} needed in ${seconds(ms)}, at most ${most} in a second, ${maxInFlight} in flight, ${refusals(simulator)} times 429, ${missed} differences, exit code ${report.exit_code}`,
    );
    require(total <=
      1.02 * needed + IN_FLIGHT, `${total} requests, more than ${(1.02 * needed + IN_FLIGHT).toFixed(0)}`);
    require(most <= 62 && maxInFlight <= IN_FLIGHT, `${most} in a second, ${maxInFlight} in flight`);
    require(missed === 0 && report.exit_code === 0 && refusals(simulator) === 0, "not all went well");
    await theirs.close();
    await place.close();
  });
  await warehouse.drop();
  await simulator.close();
}

const COMPANIES = 60;
/** A night of a company: lists that have not changed, and some details. */
const NIGHT = ["preset:core"];

/** A run of companies on four workers, and when the last of the small ones had ended, in ms. */
async function runOf(server: PostgresServer, services: readonly Simulator[], before: readonly Simulator[]) {
  const warehouse = await freshWarehouse(server);
  const all = [...before, ...services];
  const place = await Place.make(
    {
      companies: all.map(({ url }, nth) => ({ name: `c${nth}`, base_url: url, key: ["$", `{KEY_${nth}}`].join("") })),
      ...{ views: false, workers: { jobs: 3 }, destination: warehouse.destination },
      api: { base_url: all[0]!.url, requests_per_second: 60, max_concurrency: IN_FLIGHT },
    },
    Object.fromEntries(all.map(({ key }, nth) => [`KEY_${nth}`, key])),
  );
  for (let nth = 0; nth < 4; nth++) place.start();
  await systemClock.sleep(3_000);
  for (const { requests } of all) requests.clear();
  const begun = performance.now();
  const report = await place.run(NIGHT);
  const ms = performance.now() - begun;
  const small = services.map((_, nth) => `c${nth + before.length}`);
  const ends = report.streams
    .filter(({ company }) => small.includes(company))
    .map(({ finished_at }) => Date.parse(finished_at ?? report.finished_at) - Date.parse(report.started_at));
  const failed = [...new Set(report.streams.filter(({ status }) => status === "failed").map(({ company }) => company))];
  await place.close();
  await warehouse.drop();
  return {
    report,
    ms,
    last: Math.max(...ends),
    failed,
    asked: all.reduce((sum, each) => sum + each.requests.total, 0),
  };
}

/** Sixty companies with a service and a key each on four workers: alone, and beside one that loads many times as much; then one whose key is refused. */
async function companies(server: PostgresServer): Promise<void> {
  const start = (nth: number, orders: number) =>
    startSimulator({
      ...{ seed: nth + 1, key: `key-${nth}` },
      sizes: { orders, invoices: 40, items: 40, findings: 10, ingested: 60 },
      faults: { latencyMs: 80 },
    });
  const services = await Promise.all(Array.from({ length: COMPANIES - 1 }, (_, nth) => start(nth + 1, 60)));
  const large = await start(0, Number(values.orders ?? 6_000));
  const alone = await runOf(server, services, []);
  say(
    `${services.length} small ones alone: ${alone.asked} requests in ${seconds(alone.ms)}, the last had ended after ${seconds(alone.last)}`,
  );
  const beside = await runOf(server, services, [large]);
  const ratio = beside.last / alone.last;
  const most = Math.max(...[large, ...services].map(mostInASecond));
  say(
    `beside a large one: ${beside.asked} requests in ${seconds(beside.ms)}, the last small one had ended after ${seconds(beside.last)}, ${ratio.toFixed(2)} of before; at most ${most} in a second of one key`,
  );
  require(ratio <= 1.3, `the small ones took ${ratio.toFixed(2)} of what they take alone, more than 1.3`);
  require(most <= 62, `${most} requests in a second of one key`);
  require(alone.failed.length + beside.failed.length === 0, `${[...alone.failed, ...beside.failed].join()} failed`);
  const refused = services.at(-1)!;
  const known = { ...refused, key: refused.key };
  refused.renewKey("another");
  const third = await runOf(server, [...services.slice(0, 5), known], []);
  say(`one key refused: failed: ${third.failed.join()}; exit code ${third.report.exit_code}`);
  require(third.failed.join() === "c5" && third.report.exit_code === 3, `${third.failed.join()} failed, not c5 alone`);
  for (const service of [large, ...services]) await service.close();
}

/** A first load of very many details: what 1, 2 and 4 workers take. */
async function details(server: PostgresServer): Promise<void> {
  const orders = Number(values.details);
  for (const count of (values.workers ?? "1,2,4").split(",").map(Number)) {
    const simulator = await startSimulator({ sizes: { orders }, faults: { latencyMs: 80 } });
    const warehouse = await freshWarehouse(server);
    const inFlight = 32;
    const place = await Place.make({
      ...{ company: "acme", views: false, workers: { jobs: 3 }, destination: warehouse.destination },
      api: { base_url: simulator.url, key: `\${KEY}`, requests_per_second: 200, max_concurrency: inFlight },
    });
    for (let nth = 0; nth < count; nth++) place.start();
    await systemClock.sleep(3_000);
    const begun = performance.now();
    const report = await place.run(ORDERS);
    const ms = performance.now() - begun;
    const asked = simulator.requests.total;
    say(
      `${count} workers: ${asked} requests in ${seconds(ms)}, ${((1_000 * asked) / ms).toFixed(0)} a second; at most ${mostInASecond(simulator)} in a second, ${simulator.requests.maxInFlight} in flight; exit code ${report.exit_code}`,
    );
    require(report.exit_code === 0, `${count} workers: exit code ${report.exit_code}`);
    await place.close();
    await warehouse.drop();
    await simulator.close();
  }
}

const parts: Readonly<Record<string, (server: PostgresServer) => Promise<void>>> = {
  ...{ speed, kills, companies, hosts, details },
};
const part = parts[values.part];
if (part === undefined) throw new Error(`--part: expected one of ${Object.keys(parts).join(", ")}, got ${values.part}`);
const server = await startPostgres(["max_connections=200"]);
try {
  await part(server);
} finally {
  await server.close();
}
for (const complaint of complaints) say(`missed: ${complaint}`);
process.exit(complaints.length === 0 ? 0 : 1);
