import { estimateWrong } from "../../src/warehouse/details/wrong_estimate.ts";
import { type Policy, planner, todaysAudit } from "./policies.ts";
import { fetchedBefore, Life, type Morning } from "./quarter.ts";
import { chance, LAST, type Mix, makeWorld } from "./world.ts";

/** A figure and the most that it may be; undefined: it is only told. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly most?: number | undefined;
}

/** What a policy did in the quarter after the first thirty nights. */
export interface Quarter {
  readonly delay: number;
  readonly wrong: number;
  readonly adverse: number;
  readonly behind: number;
  readonly longestUnseen: number;
  readonly requests: number;
  readonly mornings: readonly Morning[];
}

/** Nights that both have to get used to it. */
const FIRST_NIGHTS = 30;
/** Ratios to today's: the delay of 95 % of the changes, the share of wrong details, of those behind for more than a week. */
const USUALLY = { delay: 1 / 3, wrong: 1 / 4, behind: 1 / 4 };
const SPONTANEOUS = { delay: 1 / 3, wrong: 2 / 5, behind: 1 / 3 };
const LONGEST = 167;
const ADVERSARY = 1.2;

/** Which orders an adversary changes. */
export const adversaries = ["old closed orders", "lowest rate", "lowest index", "open orders"] as const;
export type Adversary = (typeof adversaries)[number];
/** Changes a night that an adversary makes, of so many orders. */
const ADVERSE_ORDERS = 1_000;

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

export function quarterOf({ mornings, delays }: Pick<Life, "mornings" | "delays">): Quarter {
  const counted = mornings.slice(FIRST_NIGHTS);
  const waited = delays
    .slice(FIRST_NIGHTS)
    .flat()
    .sort((a, b) => a - b);
  return {
    delay: waited[Math.floor(0.95 * waited.length)] ?? 0,
    wrong: mean(counted.map(({ wrong, live }) => wrong / live)),
    adverse: mean(counted.map(({ adverse, live }) => adverse / live)),
    behind: mean(counted.map(({ behind, live }) => behind / live)),
    longestUnseen: Math.max(...counted.map(morning => morning.longestUnseen)),
    requests: counted.reduce((sum, morning) => sum + morning.requests, 0),
    mornings: counted,
  };
}

/** Both policies over the same events, night after night. */
export async function compare(
  size: number,
  mix: Mix,
  seed: number,
): Promise<{ readonly today: Quarter; readonly planned: Quarter }> {
  const world = makeWorld(size, mix, seed);
  const fetched = fetchedBefore(world, seed);
  const live = async (policy: Policy) => {
    const life = new Life(policy, world, fetched);
    await life.begin();
    for (let day = 1; day <= LAST; day++) await life.spend(day);
    policy.close();
    return quarterOf(life);
  };
  return { today: await live(await todaysAudit()), planned: await live(await planner(seed)) };
}

export function figuresOf(mix: Mix, { today, planned }: Awaited<ReturnType<typeof compare>>): readonly Figure[] {
  const most = mix.name === "spontaneous" ? SPONTANEOUS : USUALLY;
  const worst = Math.max(...planned.mornings.map(({ wrong }, i) => wrong / today.mornings[i]!.wrong));
  return [
    { name: "delay of 95 %, nights, today", value: today.delay },
    { name: "delay of 95 %, nights", value: planned.delay },
    { name: "delay of 95 %, ratio", value: planned.delay / today.delay, most: most.delay },
    { name: "wrong share, today", value: today.wrong },
    { name: "wrong share", value: planned.wrong },
    { name: "wrong share, ratio", value: planned.wrong / today.wrong, most: most.wrong },
    { name: "behind 7 days, ratio", value: planned.behind / today.behind, most: most.behind },
    { name: "worst morning, ratio", value: worst, most: 1 },
    { name: "longest unseen, nights", value: planned.longestUnseen, most: LONGEST },
    { name: "requests, ratio", value: planned.requests / today.requests, most: 1 },
  ];
}

/** Of the ninety mornings those whose true shares lie within the intervals. */
export async function covered(
  size: number,
  mix: Mix,
  seed: number,
): Promise<Readonly<Record<"wrong" | "behind" | "fresh", number>>> {
  const world = makeWorld(size, mix, seed);
  const policy = await planner(seed);
  const life = new Life(policy, world, fetchedBefore(world, seed));
  await life.begin();
  const within = { wrong: 0, behind: 0, fresh: 0 };
  for (let day = 1; day <= LAST; day++) {
    await life.spend(day);
    if (day <= FIRST_NIGHTS) continue;
    const estimate = estimateWrong(await policy.samples());
    const { live, active, ...truth } = life.mornings.at(-1)!;
    for (const what of ["wrong", "behind", "fresh"] as const) {
      const share = truth[what] / (what === "fresh" ? active : live);
      const { low, high } = estimate?.[what] ?? { low: 1, high: 0 };
      if (low <= share && share <= high) within[what]++;
    }
  }
  policy.close();
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
  const made = makeWorld(size, mix ?? { name: "none", caused: 0, drifts: false }, seed);
  const nothing = { caused: [], silent: [], idle: [] };
  const world = mix === undefined ? { ...made, days: made.days.map(() => nothing) } : made;
  const fetched = fetchedBefore(world, seed);
  const knowing = await planner(seed);
  const lives = [new Life(await todaysAudit(), world, fetched), new Life(knowing, world, fetched)] as const;
  const random = chance(seed + 1);
  const count = Math.ceil(size / ADVERSE_ORDERS);
  const some = (isOne: (order: number) => boolean) => {
    const among = [...world.born.keys()].filter(isOne);
    return Array.from({ length: count }, () => among[Math.floor(random() * among.length)]!);
  };
  const changed = async (day: number): Promise<readonly number[]> => {
    const { born, closed } = world;
    if (adversary === "open orders") return some(order => born[order]! < day && closed[order]! > day);
    if (adversary === "old closed orders") return some(order => born[order]! < day - 365 && closed[order]! < day - 60);
    return knowing.lowest(day, adversary === "lowest rate" ? "rate" : "index", count);
  };
  for (const life of lives) await life.begin();
  for (let day = 1; day <= LAST; day++) {
    const more = await changed(day);
    for (const life of lives) await life.spend(day, more);
  }
  const [today, planned] = lives.map(quarterOf) as [Quarter, Quarter];
  for (const { policy } of lives) policy.close();
  // An audit that goes to open orders three times of four is hard to beat among these, and where other changes teach as much
  // as the adversary's, one who strikes right behind each look is slower found: there it is all wrong details that count.
  const most = mix === undefined && adversary !== "open orders" ? ADVERSARY : undefined;
  return [
    { name: "adversary's wrong share, today", value: today.adverse },
    { name: "adversary's wrong share", value: planned.adverse },
    { name: "adversary's wrong share, ratio", value: planned.adverse / today.adverse, most },
    { name: "wrong share, ratio", value: planned.wrong / today.wrong, most: mix === undefined ? undefined : 1 },
    { name: "requests, ratio", value: planned.requests / today.requests, most: 1 },
  ];
}
