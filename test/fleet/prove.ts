/*
 * npm run prove:fleet: workers in processes of their own against services that count for themselves.
 *
 *   --part companies  sixty companies (--companies), a service and a key each, which allows 10 requests a second, on 1, 2 and 4
 *                     workers (--workers): how the requests a second of all grow with the workers
 *   --part kills      a worker, the one that conducts, or PostgreSQL is killed, or a worker is cut off from PostgreSQL for a
 *                     minute, --instants times: tables against the services' truth, requests beyond those needed
 *   --part rate       one process, max_concurrency 64, a service that takes 80 ms: details a second
 *
 * Ends with 1 when a figure misses what it has to be.
 */
import { type ChildProcess, execFile } from "node:child_process";
import { parseArgs, promisify } from "node:util";
import { Draw } from "../../simulator/random.ts";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { systemClock } from "../../src/clock.ts";
import { streams } from "../../streams/index.ts";
import { type PostgresServer, startPostgres } from "../support/server.ts";
import { compareWithTruth } from "../support/truth.ts";
import type { View, Warehouse } from "../support/warehouse.ts";
import { wayTo } from "./partition.ts";
import { freshWarehouse, Place } from "./place.ts";

const { values } = parseArgs({
  options: {
    part: { type: "string", default: "companies" },
    workers: { type: "string", default: "1,2,4" },
    companies: { type: "string" },
    orders: { type: "string" },
    instants: { type: "string", default: "60" },
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

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

/** Seconds of a processor that processes have taken. */
async function processorOf(children: readonly ChildProcess[]): Promise<number> {
  const pids = children.map(({ pid }) => pid).join(",");
  const { stdout } = await promisify(execFile)("ps", ["-o", "cputimes=", "-p", pids]);
  return sum(stdout.trim().split(/\s+/).map(Number));
}

const ORDERS = ["purchase_orders", "purchase_order_details"];

/** Services with a key each, of a company each. */
const services = (count: number, orders: number, latencyMs: number): Promise<readonly Simulator[]> =>
  Promise.all(
    Array.from({ length: count }, (_, nth) =>
      startSimulator({
        ...{ seed: nth + 1, key: `key-${nth}`, faults: { latencyMs } },
        sizes: { orders, invoices: 0, items: 0, findings: 0, ingested: 0 },
      }),
    ),
  );

/** A configuration of a company for each service. */
function placeOf(all: readonly Simulator[], destination: Warehouse["destination"], api: object): Promise<Place> {
  return Place.make(
    {
      companies: all.map(({ url }, nth) => ({ name: `c${nth}`, base_url: url, key: ["$", `{KEY_${nth}}`].join("") })),
      ...{ views: false, workers: {}, destination },
      api: { base_url: all[0]!.url, ...api },
    },
    Object.fromEntries(all.map(({ key }, nth) => [`KEY_${nth}`, key])),
  );
}

/** How many rows and values of each company are not as its service has them. */
async function differences(all: readonly Simulator[], warehouse: Warehouse): Promise<number> {
  const tabled = streams.filter(({ name }) => ORDERS.includes(name));
  const day = new Date().toISOString().slice(0, 10);
  let found = 0;
  for (const [nth, simulator] of all.entries()) {
    // What compares asks for the company that the tests have.
    const look: Warehouse["look"] = looking =>
      warehouse.look(({ name, query }) => {
        const own: View["query"] = text => query(text.replaceAll("_company = 'acme'", `_company = 'c${nth}'`));
        return looking({ name, query: own });
      });
    found += (await compareWithTruth(simulator, { ...warehouse, look }, tabled, day)).differences.length;
  }
  return found;
}

/** The requests of a second that the service allows a key. */
const RATE = 10;

/** First loads of many companies by more and more workers. */
async function companies(server: PostgresServer): Promise<void> {
  const orders = Number(values.orders ?? 120);
  let first: number | undefined;
  for (const count of values.workers.split(",").map(Number)) {
    const all = await services(Number(values.companies ?? 60), orders, 80);
    const warehouse = await freshWarehouse(server);
    const place = await placeOf(all, warehouse.destination, { requests_per_second: RATE });
    const workers = Array.from({ length: count }, () => place.start());
    await systemClock.sleep(3_000);
    // The tables are made, which one worker does.
    await place.run(["items"]);
    for (const { requests, faults } of all) {
      requests.clear();
      // One more than is sent: a busy machine delays some.
      faults.rateLimit = { perSecond: RATE + 1, retryAfter: "seconds" };
    }
    const begun = performance.now();
    const cpu = process.cpuUsage();
    const before = await processorOf(workers);
    const report = await place.run(ORDERS);
    const ms = performance.now() - begun;
    const own = process.cpuUsage(cpu);
    const took = (await processorOf(workers)) - before;
    const asked = sum(all.map(({ requests }) => requests.total));
    const rate = (1_000 * asked) / ms;
    first ??= rate / count;
    const growth = (first * count) / rate;
    const most = Math.max(...all.map(mostInASecond));
    const refused = sum(all.map(({ requests }) => requests.entries.filter(({ status }) => status === 429).length));
    const missed = await differences(all, warehouse);
    say(
      `${workers.length} workers: ${asked} requests in ${seconds(ms)}, ${rate.toFixed(1)} a second, ${growth.toFixed(2)} of what linear growth takes; at most ${most} in a second of one key, ${refused} times 429, ${missed} differences, exit code ${report.exit_code}; the workers took ${took} s of a processor, the services ${seconds((own.user + own.system) / 1_000)}`,
    );
    require(growth <= 1.15, `${count} workers took ${growth.toFixed(2)} of what linear growth takes, more than 1.15`);
    require(missed === 0 && report.exit_code === 0, `${count} workers: not all went well`);
    await place.close();
    await warehouse.drop();
    for (const each of all) await each.close();
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
const IN_FLIGHT = 8;

/** Kills while first loads of six companies go on, until there were as many as are wanted. */
async function kills(server: PostgresServer): Promise<void> {
  const orders = Number(values.orders ?? 400);
  const wanted = Number(values.instants);
  const draw = new Draw(Number(values.seed));
  const random = () => draw.next() / 2 ** 32;
  say(`seed ${values.seed}`);
  const all = await services(Number(values.companies ?? 6), orders, 40);
  const limits = { requests_per_second: 20, max_concurrency: IN_FLIGHT };
  let done = 0;
  for (let nth = 1; done < wanted; nth++) {
    const warehouse = await freshWarehouse(server);
    const url = new URL(String(warehouse.destination["url"]));
    const way = await wayTo(url.hostname, Number(url.port));
    const place = await placeOf(all, warehouse.destination, limits);
    const cutUrl = new URL(url);
    cutUrl.port = String(way.port);
    const cut = await placeOf(all, { ...warehouse.destination, url: cutUrl.href }, limits);
    const workers = new Set([place.start(), place.start()]);
    cut.start();
    await systemClock.sleep(2_000);
    for (const { requests } of all) requests.clear();
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
        const living = [...workers];
        const conductor = kind === "the conductor" ? await conductorOf(place, living) : undefined;
        const victim = conductor ?? living[Math.floor(random() * living.length)]!;
        victim.kill("SIGKILL");
        workers.delete(victim);
        workers.add(place.start());
      }
    }
    const report = await running;
    const ms = performance.now() - begun;
    const asked = sum(all.map(({ requests }) => requests.total));
    const needed = all.length * (orders + Math.ceil(orders / 100) + 1);
    const missed = await differences(all, warehouse);
    const [most, inFlight] = [
      Math.max(...all.map(mostInASecond)),
      Math.max(...all.map(each => each.requests.maxInFlight)),
    ];
    const failure = report.errors.length > 0 ? `: ${report.errors[0]!.message}` : "";
    say(
      `run ${nth}, ${inRun} instants: ${seconds(ms)}, ${asked} requests of ${needed} needed, of one key at most ${most} in a second and ${inFlight} in flight, ${missed} differences, exit code ${report.exit_code}${failure}`,
    );
    require(missed === 0, `run ${nth}: ${missed} differences`);
    require(report.exit_code === 0, `run ${nth}: exit code ${report.exit_code}`);
    const [twice] = await warehouse.query<{ n: number }>(
      "select count(*)::int as n from procurement.purchase_orders where _first_seen_at <> _changed_at",
    );
    require(twice?.n === 0, `run ${nth}: ${twice?.n} rows were published twice`);
    await cut.close();
    await place.close();
    way.close();
    await warehouse.drop();
  }
  for (const each of all) await each.close();
}

/** The process that conducts a run at this moment. */
async function conductorOf(place: Place, children: readonly ChildProcess[]): Promise<ChildProcess | undefined> {
  const found = (await place.workers()).find(({ doing }) => doing.jobs.some(({ kind }) => kind === "runs"));
  return children.find(({ pid }) => pid === found?.pid);
}

/** Details a second by one process whose key allows as many as it can send. */
async function rate(server: PostgresServer): Promise<void> {
  const orders = Number(values.orders ?? 20_000);
  const all = await services(1, orders, 80);
  const warehouse = await freshWarehouse(server);
  const place = await placeOf(all, warehouse.destination, { max_concurrency: 64 });
  const worker = place.start();
  await systemClock.sleep(3_000);
  const report = await place.run(ORDERS);
  const took = await processorOf([worker]);
  const details = all[0]!.requests.entries.filter(({ path }) => path.startsWith("/po/")).map(({ at }) => at);
  const [from, to] = [Math.min(...details), Math.max(...details)];
  const perSecond = (1_000 * details.length) / (to - from);
  say(
    `one worker, 64 in flight, 80 ms: ${details.length} details in ${seconds(to - from)}, ${perSecond.toFixed(0)} a second, ${all[0]!.requests.maxInFlight} in flight; exit code ${report.exit_code}; the worker took ${took} s of a processor`,
  );
  require(perSecond >= 500, `${perSecond.toFixed(0)} details a second, fewer than 500`);
  require(report.exit_code === 0, `exit code ${report.exit_code}`);
  await place.close();
  await warehouse.drop();
  for (const each of all) await each.close();
}

const parts: Readonly<Record<string, (server: PostgresServer) => Promise<void>>> = { companies, kills, rate };
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
