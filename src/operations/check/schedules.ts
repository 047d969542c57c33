import type { Stream } from "../../catalog/stream.ts";
import type { Schedule } from "../../config/config.ts";
import { cronFault, nextTimes, timetableOf } from "../../config/cron.ts";
import type { LoadedConfig } from "../../config/load.ts";
import { requireSchedules } from "../../config/schedules.ts";
import { select } from "../../config/selection.ts";
import { ConfigError } from "../../errors.ts";
import { type CheckLine, failure, ok, warning } from "./line.ts";
import { checkMessages } from "./messages.ts";

const AHEAD_MS = 35 * 86_400_000;
/** Occurrences that are looked at; for a schedule of every minute a day and a half. */
const MOST = 2_000;

export interface Planned {
  readonly loaded: LoadedConfig;
  readonly catalogue: readonly Stream[];
  readonly on: readonly Stream[];
  readonly now: number;
}

/** A schedule that can be kept, its next occurrences (ms since the epoch) and the streams it reads. */
interface Kept {
  readonly schedule: Schedule;
  readonly times: readonly number[];
  readonly streams: ReadonlySet<string>;
}

export function* checkSchedules({ loaded, catalogue, on, now }: Planned): Generator<CheckLine> {
  const { schedules, freshness } = loaded.config;
  try {
    requireSchedules(loaded, catalogue, now);
  } catch (error) {
    yield failure("schedules", error);
  }
  const readable = schedules.filter(schedule => cronFault(schedule, now) === undefined);
  for (const schedule of readable) {
    const { name, cron, timezone } = schedule;
    yield ok(
      `schedule ${name}`,
      checkMessages.schedule({ cron, timezone, next: nextTimes(schedule, now, 3).map(isoTime) }),
    );
  }
  const kept = readable.flatMap(schedule => keptOf(schedule, catalogue, on, now) ?? []);
  yield* meetings(kept);
  // If one schedule cannot be read it is not known which streams the others leave out.
  if (kept.length < schedules.length) return;
  const unread = on.filter(({ name }) => !kept.some(({ streams }) => streams.has(name))).map(({ name }) => name);
  if (unread.length > 0) yield warning("schedules", checkMessages.streams_unscheduled({ streams: unread }));
  yield freshnessLine(kept, on, freshness.lateAfterMs, now);
}

function keptOf(
  schedule: Schedule,
  catalogue: readonly Stream[],
  on: readonly Stream[],
  now: number,
): Kept | undefined {
  try {
    const { streams } = select(catalogue, on, schedule.streams);
    return { schedule, times: occurrences(schedule, now), streams: new Set(streams.map(({ name }) => name)) };
  } catch (error) {
    // requireSchedules has reported it with its place in the file.
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

function occurrences(schedule: Schedule, now: number): number[] {
  const timetable = timetableOf(schedule);
  const times: number[] = [];
  for (let at = timetable.next(now); at !== undefined; at = timetable.next(at)) {
    times.push(at);
    if (at > now + AHEAD_MS || times.length === MOST) break;
  }
  return times;
}

/** Schedules that are due in the same minute: their runs never overlap, but start one after the other. */
function* meetings(kept: readonly Kept[]): Generator<CheckLine> {
  const minute = (at: number) => Math.floor(at / 60_000);
  for (const [index, one] of kept.entries()) {
    const minutes = new Set(one.times.map(minute));
    for (const other of kept.slice(index + 1)) {
      const at = other.times.find(time => minutes.has(minute(time)));
      if (at === undefined) continue;
      const schedules = [one.schedule.name, other.schedule.name];
      const meeting = { schedules, at: isoTime(at), timezone: one.schedule.timezone };
      const shared = [...one.streams].filter(name => other.streams.has(name));
      if (shared.length === 0) yield ok("schedules", checkMessages.schedules_meet(meeting));
      else yield warning("schedules", checkMessages.schedules_overlap({ ...meeting, streams: shared }));
    }
  }
}

function freshnessLine(kept: readonly Kept[], on: readonly Stream[], lateAfterMs: number, now: number): CheckLine {
  const pauses = on.flatMap(({ name }) => {
    const reading = kept.filter(({ streams }) => streams.has(name));
    return reading.length === 0 ? [] : [{ name, ms: longestPause(reading, now) }];
  });
  const late = pauses.filter(({ ms }) => ms >= lateAfterMs).toSorted((a, b) => b.ms - a.ms);
  const [worst] = late;
  if (worst === undefined) return ok("freshness", checkMessages.freshness({ late_after_ms: lateAfterMs }));
  const missed = { late_after_ms: lateAfterMs, stream: worst.name, others: late.length - 1, pause_ms: worst.ms };
  return warning("freshness", checkMessages.freshness_missed(missed));
}

function longestPause(kept: readonly Kept[], now: number): number {
  const known = Math.min(...kept.map(({ times }) => times.at(-1) ?? Number.POSITIVE_INFINITY));
  const times = kept.flatMap(each => each.times).filter(at => at <= known);
  const all = [now, ...times].sort((a, b) => a - b);
  return Math.max(...all.slice(1).map((at, index) => at - all[index]!));
}

const isoTime = (at: number): string => new Date(at).toISOString();
