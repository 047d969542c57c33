export const DAY_MS = 86_400_000;
const FIRST_DAY = 14_610; // 2010-01-01
const SPAN = 14_610; // to 2049

const DAYS: readonly string[] = Array.from({ length: SPAN }, (_, i) => isoDay(FIRST_DAY + i));
const PAIRS: readonly string[] = Array.from({ length: 100 }, (_, i) => String(i).padStart(2, "0"));

function isoDay(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/** Days since 1970-01-01 of a moment, in UTC. */
export function dayOf(moment: Date | number): number {
  return Math.floor(Number(moment) / DAY_MS);
}

/** "2026-03-01". Formatting dominates a row's cost, so the usual days are ready-made. */
export function dayText(day: number): string {
  return DAYS[day - FIRST_DAY] ?? isoDay(day);
}

/** The shapes in which a moment may be written; all of them are ISO 8601 with a zone. */
export type MomentShape = 0 | 1 | 2 | 3;

/** "2026-03-01T10:00:00Z", with milliseconds, or at an offset of +02:00 or -05:00. `ms` is a UNIX time. */
export function momentText(ms: number, shape: MomentShape): string {
  const local = shape === 2 ? ms + 7_200_000 : shape === 3 ? ms - 18_000_000 : ms;
  const day = Math.floor(local / DAY_MS);
  const rest = local - day * DAY_MS;
  const seconds = Math.floor(rest / 1000);
  const time = `${dayText(day)}T${PAIRS[Math.floor(seconds / 3600)]}:${PAIRS[Math.floor(seconds / 60) % 60]}:${PAIRS[seconds % 60]}`;
  if (shape === 1) return `${time}.${String(Math.floor(rest % 1000)).padStart(3, "0")}Z`;
  if (shape === 2) return `${time}+02:00`;
  return shape === 3 ? `${time}-05:00` : `${time}Z`;
}
