/*
 * node test/fresh/prove.ts: the planner of details over orders and changes whose truth is known. Parts: the four mixes, the
 * interval's coverage, adversaries. The planner is SQL in DuckDB. Ends with 1 when a figure misses.
 */
import { parseArgs } from "node:util";
import { adversaries, covered, type Figure, figuresOf, resist } from "./figures.ts";
import { mixes } from "./world.ts";

const help = `npm run prove:fresh -- [options]
  --part <names>     some of mixes, adversaries, coverage; all without it
  --mix <names>      some of ${mixes.map(({ name }) => name).join(", ")}; all without it
  --orders <n>       of the mixes (50000); a fifth of them for adversaries and coverage
  --seeds <n>        worlds that coverage is counted in (20)
  --seed <n>         of the first world (1)`;

const { values } = parseArgs({
  options: {
    part: { type: "string", default: "mixes,adversaries,coverage" },
    mix: { type: "string", default: mixes.map(({ name }) => name).join(",") },
    orders: { type: "string", default: "50000" },
    seeds: { type: "string", default: "20" },
    seed: { type: "string", default: "1" },
    help: { type: "boolean", default: false },
  },
});

/** Mornings of ninety that the interval has to cover, on average and at least. */
const COVERED = 81;
const COVERED_AT_LEAST = 70;

const seed = Number(values.seed);
const orders = Number(values.orders);
const fewer = Math.ceil(orders / 5);
const parts = values.part.split(",");
const chosen = mixes.filter(({ name }) => values.mix.split(",").includes(name));

function tell(heading: string, figures: readonly Figure[]): void {
  process.stdout.write(`\n${heading}\n`);
  for (const { name, value, most } of figures) {
    const missed = most !== undefined && !(value <= most);
    if (missed) process.exitCode = 1;
    const target = most === undefined ? "" : `at most ${most.toFixed(3)}${missed ? ", MISSED" : ""}`;
    process.stdout.write(`  ${name.padEnd(32)} ${value.toFixed(4).padStart(10)}  ${target}\n`);
  }
}

async function coverage(): Promise<void> {
  const counts = { wrong: [] as number[], fresh: [] as number[] };
  for (let nth = 0; nth < Number(values.seeds); nth++) {
    const within = await covered(fewer, chosen[nth % chosen.length]!, seed + nth);
    for (const what of ["wrong", "fresh"] as const) counts[what].push(within[what]);
  }
  for (const what of ["wrong", "fresh"] as const) {
    const mean = counts[what].reduce((sum, count) => sum + count, 0) / counts[what].length;
    const least = Math.min(...counts[what]);
    // The share of fresh ones rests on a model of when details changed, so it is only reported; the target is for wrong details.
    if (what === "wrong" && !(mean >= COVERED && least >= COVERED_AT_LEAST)) process.exitCode = 1;
    process.stdout.write(
      `\ncoverage of 90 mornings, ${what}: ${mean.toFixed(1)} on average (at least ${COVERED}), ${least} at least (${COVERED_AT_LEAST})\n  ${counts[what].join(" ")}\n`,
    );
  }
}

if (values.help) process.stdout.write(`${help}\n`);
else {
  if (parts.includes("mixes"))
    for (const mix of chosen) tell(`${mix.name}, ${orders} orders`, await figuresOf(orders, mix, seed));
  if (parts.includes("adversaries"))
    for (const mix of [undefined, mixes.find(({ name }) => name === "mixed")])
      for (const adversary of adversaries)
        tell(
          `an adversary changes ${adversary}, ${mix === undefined ? "nothing else changes" : `besides ${mix.name}`}, ${fewer} orders`,
          await resist(fewer, mix, adversary, seed),
        );
  if (parts.includes("coverage")) await coverage();
}
