import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { type Simulator, startSimulator } from "../../../simulator/simulator.ts";
import { type How, type Order, Place, type Strike } from "./place.ts";

/*
 * npm run prove:points -- [--only text] [--from 1] [--every 1] [--workers 2]: one run after the other is struck at each of the
 * calls by which it changes DuckDB's folder, from its first to its last: killed before it, killed amid it, the call fails, the
 * disk is full from there on. After each one readers find what they had or what is new, the next run ends well, the tables are
 * the service's truth and nothing is left behind. Needs Linux and a C compiler (cc).
 */

interface Scenario extends Order {
  readonly name: string;
  /** What is there before the run: nothing, or yesterday's warehouse with these readers, or with a torn work file. */
  readonly before: "nothing" | "snapshot" | "direct" | "damaged";
  /** Is nowhere after it: a column of items. */
  readonly excluded?: string;
}

const none = {};
const scenarios: readonly Scenario[] = [
  { name: "first run, snapshot", before: "nothing", readers: "snapshot", more: none },
  { name: "first run, direct", before: "nothing", readers: "direct", more: none },
  { name: "night, snapshot", before: "snapshot", readers: "snapshot", more: none },
  { name: "night, direct", before: "direct", readers: "direct", more: none },
  { name: "direct becomes snapshot", before: "direct", readers: "snapshot", more: none },
  { name: "the work file is damaged", before: "damaged", readers: "snapshot", more: none },
  {
    name: "a column is excluded",
    before: "snapshot",
    readers: "snapshot",
    more: { privacy: { exclude_columns: ["items.description"] } },
    excluded: "description",
  },
];
const ways: readonly How[] = ["kill", "torn", "once", "full"];

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    from: { type: "string", default: "1" },
    every: { type: "string", default: "1" },
    workers: { type: "string", default: "2" },
  },
});
const [from, every, workers] = [values.from, values.every, values.workers].map(text => {
  if (!/^[1-9][0-9]*$/.test(text)) throw new TypeError(`expected a number from 1, got ${text}`);
  return Number(text);
}) as [number, number, number];
const wanted = scenarios.flatMap(scenario =>
  ways.filter(how => `${scenario.name}, ${how}`.includes(values.only)).map(how => ({ scenario, how })),
);
if (wanted.length === 0)
  throw new TypeError(`--only: expected a part of "${scenarios[0]!.name}, kill", say, got ${values.only}`);
if (process.platform !== "linux")
  throw new Error(`expected Linux, whose loader takes LD_PRELOAD, got ${process.platform}`);

const yard = await mkdtemp(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "points-"));
const sizes = { orders: 6, invoices: 1, items: 40, findings: 1, ingested: 1 };
const simulator = await startSimulator({ sizes });
let wrong = 0;
try {
  const library = join(yard, "strike.so");
  const source = join(import.meta.dirname, "strike.c");
  await promisify(execFile)("cc", ["-O2", "-shared", "-fPIC", "-o", library, source, "-ldl"]).catch(cause => {
    throw new Error("expected a C compiler that is called as cc to make a library of strike.c", { cause });
  });
  const [snapshot, direct] = [await loaded("snapshot"), await loaded("direct")];
  const damaged = await snapshot.copy(yard);
  await damaged.tear();
  const befores = { nothing: undefined, snapshot, direct, damaged };
  simulator.update("items", 5);
  simulator.insert("items", 3);
  simulator.update("purchase_orders", 2);
  const rows: Record<string, unknown>[] = [];
  for (const { scenario, how } of wanted)
    rows.push(await series(simulator, scenario, how, befores[scenario.before], library));
  console.table(rows);
  console.log(`${rows.reduce((sum, row) => sum + Number(row["runs"]), 0)} runs were struck, ${wrong} went wrong`);
} finally {
  await simulator.close();
  await rm(yard, { recursive: true, force: true });
}
process.exitCode = wrong === 0 ? 0 : 1;

async function loaded(readers: "snapshot" | "direct"): Promise<Place> {
  const place = await Place.make(yard, simulator);
  const { code, said } = await place.run({ readers, more: none });
  if (code !== 0) throw new Error(`expected a first run to end well, it ended with ${code}: ${said}`);
  return place;
}

/** Strikes a run at one call after the other, until it is over before the call comes. */
async function series(
  service: Simulator,
  scenario: Scenario,
  how: How,
  before: Place | undefined,
  library: string,
): Promise<Record<string, unknown>> {
  const place = () => before?.copy(yard) ?? Place.make(yard, service);
  const whole = await place();
  const had = await whole.counts();
  const { calls } = await whole.run(scenario, { library, at: 0, how });
  const has = await whole.counts();
  if (has === undefined) throw new Error(`expected ${scenario.name} to end well when nothing is struck`);
  const known = (table: string, n: number) => n === has.get(table) || n === (had?.get(table) ?? 0);
  await whole.remove();
  const codes = new Map<string, number>();
  // Nothing else takes so long that it can be done by half.
  const points = calls.flatMap((call, i) =>
    how !== "torn" || /^(p?writev?|copy_file_range) /.test(call) ? [i + 1] : [],
  );
  let next = from - 1;
  let runs = 0;
  const work = async () => {
    while (next < points.length) {
      const own = points[next]!;
      next += every;
      runs++;
      const { code, faults } = await struck(await place(), scenario, { library, at: own, how }, known);
      codes.set(code, (codes.get(code) ?? 0) + 1);
      if (faults.length === 0) continue;
      wrong++;
      console.log(`${scenario.name}, ${how} at ${own} (${calls[own - 1]}):\n  ${faults.join("\n  ")}`);
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  const ended = [...codes].sort().map(([code, count]) => `${count} ${code}`);
  console.log(`${scenario.name}, ${how}: ${calls.length} calls, ${ended.join(", ")}`);
  return { scenario: scenario.name, how, calls: calls.length, runs, ended: ended.join(", ") };
}

async function struck(
  place: Place,
  scenario: Scenario,
  strike: Strike,
  known: (table: string, n: number) => boolean,
): Promise<{ code: string; faults: readonly string[] }> {
  const faults: string[] = [];
  try {
    const { code, said } = await place.run(scenario, strike);
    const word = code === null ? "killed" : `exit ${code}`;
    if (code !== null && ![0, 1, 6].includes(code)) faults.push(`ended with ${code}: ${inShort(said)}`);
    if (scenario.readers === "snapshot") {
      const seen = await place.counts();
      if (seen === undefined && scenario.before !== "nothing") faults.push("readers found no file");
      for (const [table, n] of seen ?? []) if (!known(table, n)) faults.push(`readers found ${n} rows in ${table}`);
    }
    const next = await place.run(scenario);
    if (isLost(scenario, strike.how, next)) return { code: `${word} and damaged`, faults };
    if (next.code !== 0) faults.push(`the next run ended with ${next.code}: ${inShort(next.said)}`);
    else {
      if (scenario.excluded === undefined) faults.push(...(await place.wrong()));
      else faults.push(...(await place.saying(scenario.excluded)).map(name => `${name} says ${scenario.excluded}`));
      faults.push(...(await place.litter(scenario)).map(name => `left behind: ${name}`));
    }
    return { code: word, faults };
  } catch (error) {
    return { code: "no answer", faults: [...faults, String(error)] };
  } finally {
    await place.remove();
  }
}

function inShort(said: string): string {
  const lines = said.split("\n").filter(line => /Expected|bug|damaged|rror/.test(line) && !line.startsWith("{"));
  return lines.join(" ");
}

/** What a torn block costs where nothing else was published that a run could go on from: it is told, and left to whoever runs it. */
function isLost({ readers, before }: Scenario, how: How, next: { code: number | null; said: string }): boolean {
  const alone = readers === "direct" || before === "nothing";
  return how === "torn" && alone && next.code === 6 && /The file is damaged/.test(next.said);
}
