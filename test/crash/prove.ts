/*
 * node test/crash/prove.ts --kills 50 --database duckdb: kills as many syncs of companies of several sizes, each followed by a
 * run that has to end as if nothing had been, and prints what the kills hit and cost; with --database postgres it kills
 * the server --server-kills times as well; --database ducklake has its catalog there. --seed repeats the instants.
 */
import { parseArgs } from "node:util";
import { lakeExtensions } from "../lake/extensions.ts";
import { type PostgresServer, startPostgres } from "../support/server.ts";
import { openCompany, type Sizes } from "./company.ts";
import type { Phase } from "./killing.ts";
import { chances, seedOfToday } from "./kills.ts";
import { type ServerOutcome, serverTrial } from "./server_kill.ts";
import { holderNamed, startTogether } from "./together.ts";
import { instantOf, type Outcome, openYard, type Scenario, trial } from "./trial.ts";
import { type MakeWarehouse, makeDuckdb, makeDucklake, makePostgres } from "./warehouse.ts";

const companies: Readonly<Record<string, Sizes>> = {
  small: { orders: 60, invoices: 60, items: 400, findings: 150, ingested: 300 },
  medium: { orders: 500, invoices: 400, items: 4_000, findings: 900, ingested: 3_000 },
  large: { orders: 1_500, invoices: 1_000, items: 25_000, findings: 2_000, ingested: 20_000 },
};
const scenarios: readonly Scenario[] = ["first", "night"];
const phases: readonly Phase[] = ["starting", "reading", "publishing", "showing", "over"];

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "50" },
    database: { type: "string", default: "duckdb" },
    "server-kills": { type: "string", default: "10" },
    seed: { type: "string", default: String(seedOfToday()) },
  },
});
const kills = Number(values.kills);
const seed = Number(values.seed);
const server = values.database === "duckdb" ? undefined : await startPostgres();
const make =
  server === undefined
    ? makeDuckdb
    : values.database === "postgres"
      ? makePostgres(server.url)
      : makeDucklake(server.url, await lakeExtensions());
process.stdout.write(`${kills} kills of a sync into ${values.database}, seed ${seed}\n`);
const outcomes: { readonly size: string; readonly outcome: Outcome }[] = [];
for (const [index, size] of Object.keys(companies).entries()) {
  const share = Math.floor((kills * (index + 1)) / 3) - Math.floor((kills * index) / 3);
  for (const outcome of await killMany(make, companies[size]!, share, seed + index)) outcomes.push({ size, outcome });
}
report();
if (server !== undefined && values.database === "postgres") await killServer(server, Number(values["server-kills"]));
await refuse(make);
await server?.close();

async function killServer(postgres: PostgresServer, count: number): Promise<void> {
  const yard = await openYard(makePostgres(postgres.url), companies["medium"]!);
  const done: ServerOutcome[] = [];
  for (const [index, chance] of chances(count, seed).entries()) {
    const scenario = scenarios[index % 2]!;
    const outcome = await serverTrial(yard, postgres, scenario, instantOf(yard, scenario, chance));
    done.push(outcome);
    for (const fault of outcome.faults) process.stdout.write(`  WRONG ${fault}\n`);
    if (outcome.code !== 0) process.stdout.write(`  WRONG exit code ${outcome.code}: ${outcome.errors.join(" | ")}\n`);
  }
  await yard.close();
  const divergences = done.filter(outcome => outcome.faults.length > 0).length;
  const hit = done.filter(outcome => !outcome.over);
  const whole = hit.filter(outcome => outcome.code === 0).length;
  console.table([{ "kills of the server": count, "under a run": hit.length, "went on by itself": whole, divergences }]);
  if (divergences > 0 || whole < hit.length) process.exitCode = 1;
}

/** How long the second of two syncs takes to be refused; three times. */
async function refuse(warehouses: MakeWarehouse): Promise<void> {
  const company = await openCompany(companies["small"]!, { latencyMs: 300 });
  const rows: Record<string, unknown>[] = [];
  for (let i = 0; i < 3; i++) {
    const warehouse = await warehouses(company.url);
    const { refused, ms, working } = await startTogether(warehouse);
    const named = holderNamed(refused) === working.child.pid;
    const { code } = await working.ended;
    rows.push({
      "refused with": refused.code,
      "after s": ms / 1000,
      "holder named": named,
      "the other ended with": code,
    });
    if (refused.code !== 4 || ms > 5_000 || !named || code !== 0) process.exitCode = 1;
    await warehouse.remove();
  }
  await company.close();
  console.table(rows);
}

async function killMany(warehouses: MakeWarehouse, sizes: Sizes, count: number, from: number): Promise<Outcome[]> {
  const yard = await openYard(warehouses, sizes, { destination: { publish_every: "1s" } });
  const done: Outcome[] = [];
  for (const [index, chance] of chances(count, from).entries()) {
    const scenario = scenarios[index % 2]!;
    let instant = instantOf(yard, scenario, chance);
    let outcome = await trial(yard, scenario, instant);
    // This run was quicker than the one that was measured: a kill that comes too late is none.
    for (; outcome.phase === "over"; outcome = await trial(yard, scenario, instant))
      instant = { ...instant, value: Math.floor(instant.value * 0.7) };
    done.push(outcome);
    const { phase, repeats, faults } = outcome;
    const spent = `${repeats.requests} requests again (${repeats.rows} rows, ${Math.round(repeats.ms)} ms)`;
    process.stdout.write(`${scenario} after ${instant.value} ${instant.by}: ${phase}, ${spent}\n`);
    for (const fault of faults) process.stdout.write(`  WRONG ${fault}\n`);
  }
  await yard.close();
  return done;
}

function report(): void {
  const row = (name: string, of: readonly Outcome[]) => ({
    kills: name,
    ...Object.fromEntries(phases.map(phase => [phase, of.filter(outcome => outcome.phase === phase).length])),
    divergences: of.filter(outcome => outcome.faults.length > 0).length,
    "most requests again": Math.max(0, ...of.map(outcome => outcome.repeats.requests)),
    "most rows again": Math.max(0, ...of.map(outcome => outcome.repeats.rows)),
    "their span in ms": Math.round(Math.max(0, ...of.map(outcome => outcome.repeats.ms))),
  });
  const all = outcomes.map(({ outcome }) => outcome);
  const rows = Object.keys(companies).map(size =>
    row(
      size,
      outcomes.filter(each => each.size === size).map(each => each.outcome),
    ),
  );
  console.table([...rows, row("all", all)]);
  if (all.some(outcome => outcome.faults.length > 0)) process.exitCode = 1;
}
