import { randomInt } from "node:crypto";
import { Draw } from "../../simulator/random.ts";

/** Chances in 0–1, one in each of `count` equal parts, so that no part of a run is left out; alike for one seed. */
export function chances(count: number, seed: number): number[] {
  const draw = new Draw(seed);
  return Array.from({ length: count }, (_, index) => (index + draw.next() / 4_294_967_296) / count);
}

/** CRASH_SEED, else another one each time: the instants of a failed run can be made again. */
export function seedOfToday(): number {
  return Number(process.env["CRASH_SEED"] ?? randomInt(1_000_000));
}
