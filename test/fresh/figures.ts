import { estimateWrong } from "../../src/warehouse/details/wrong_estimate.ts";
import { openPlanner, type Planner } from "./planner.ts";
import { Life, type Morning } from "./quarter.ts";
import { chance, LAST, type Mix, makeWorld, type World } from "./world.ts";

/** A figure and the most that it may be; undefined: it is only reported. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly most?: number | undefined;
}

/** Nights that the planner has to get used to its orders. */
const FIRST_NIGHTS = 30;
const LONGEST = 170;

/** Which orders an adversary changes. */
export const adversaries = ["old closed orders", "lowest index", "open orders"] as const;
export type Adversary = (typeof adversaries)[number];
/** Changes a night that an adversary makes, of so many orders. */
const ADVERSE_ORDERS = 1_000;

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The figures of the nights after the first thirty. */
export function quarterOf({ mornings, delays }: Pick<Life, "mornings" | "delays">) {
  const counted = mornings.slice(FIRST_NIGHTS);
  const waited = delays
    .slice(FIRST_NIGHTS)
    .flat()
    .sort((a, b) => a - b);
  return {
    delay: waited[Math.floor(0.95 * waited.length)] ?? 0,
    wrong: mean(counted.map(({ wrong, live }) => wrong / live)),
    adverse: mean(counted.map(({ adverse, live }) => adverse / live)),
    worst: Math.max(...counted.map(({ wrong, live }) => wrong / live)),
    longestUnseen: Math.max(...counted.map(({ longestUnseen }) => longestUnseen)),
  };
}

/** 120 nights in a world, each followed by a look at it. */
async function lived(
  world: World,
  seed: number,
  each: (life: Life) => void = () => undefined,
  changed: (day: number, planner: Planner) => Promise<readonly number[]> = async () => [],
): Promise<Life> {
  const planner = await openPlanner(seed);
  const life = new Life(planner, world, seed);
  await life.begin();
  for (let day = 1; day <= LAST; day++) {
    await life.spend(day, await changed(day, planner));
    if (day > FIRST_NIGHTS) each(life);
  }
  planner.close();
  return life;
}

export async function figuresOf(size: number, mix: Mix, seed: number): Promise<readonly Figure[]> {
  const { delay, wrong, worst, longestUnseen } = quarterOf(await lived(makeWorld(size, mix, seed), seed));
  return [
    { name: "wrong share, %", value: 100 * wrong, most: mix.wrongPercent },
    { name: "worst morning, %", value: 100 * worst },
    { name: "delay of 95 %, nights", value: delay },
    { name: "longest unseen, nights", value: longestUnseen, most: LONGEST },
  ];
}

/** Of the ninety mornings those whose true shares lie within the intervals. */
export async function covered(
  size: number,
  mix: Mix,
  seed: number,
): Promise<Readonly<Record<"wrong" | "fresh", number>>> {
  const within = { wrong: 0, fresh: 0 };
  await lived(makeWorld(size, mix, seed), seed, ({ mornings, samples }) => {
    const estimate = estimateWrong(samples.slice(-7));
    const { live, active, wrong, fresh }: Morning = mornings.at(-1)!;
    for (const [name, share] of [
      ["wrong", wrong / live],
      ["fresh", fresh / active],
    ] as const) {
      const { low, high } = estimate?.[name] ?? { low: 1, high: 0 };
      if (low <= share && share <= high) within[name]++;
    }
  });
  return within;
}

/**
 * An adversary changes details who knows what the planner knows, and leaves no cause: where nothing else changes (no mix), or besides
 * what does.
 */
export async function resist(
  size: number,
  mix: Mix | undefined,
  adversary: Adversary,
  seed: number,
): Promise<readonly Figure[]> {
  const made = makeWorld(size, mix ?? { name: "none", caused: 0, drifts: false, wrongPercent: 0 }, seed);
  const nothing = { caused: [], silent: [], idle: [] };
  const world = mix === undefined ? { ...made, days: made.days.map(() => nothing) } : made;
  const { born, closed } = world;
  const random = chance(seed + 1);
  const count = Math.ceil(size / ADVERSE_ORDERS);
  const some = (isOne: (order: number) => boolean) => {
    const among = [...born.keys()].filter(isOne);
    return Array.from({ length: count }, () => among[Math.floor(random() * among.length)]!);
  };
  const { wrong, adverse, longestUnseen } = quarterOf(
    await lived(world, seed, undefined, async (day, planner) => {
      if (adversary === "open orders") return some(order => born[order]! < day && closed[order]! > day);
      if (adversary === "old closed orders")
        return some(order => born[order]! < day - 365 && closed[order]! < day - 60);
      return planner.lowest(day, count);
    }),
  );
  return [
    { name: "adversary's wrong share, %", value: 100 * adverse },
    { name: "wrong share, %", value: 100 * wrong },
    { name: "longest unseen, nights", value: longestUnseen, most: LONGEST },
  ];
}
