import type { CsvWriter } from "./csv.ts";

/*
 * Dates and moments as text. A value is read only in a format that leaves no choice; everything else is a problem.
 */

/** How the service's dates and zone-less moments are to be read (config `formats`). */
export interface Formats {
  /** `iso`, or patterns of YYYY, MM and DD such as `MM/DD/YYYY`. */
  readonly dates: readonly string[];
  /** IANA name; for moments without a zone. */
  readonly timezone: string;
}

export const isoUtc: Formats = { dates: ["iso"], timezone: "UTC" };

const DAY = 86_400_000;

/** Whether year, month and day name a day of the calendar, 0001 to 9999. */
export function isCalendarDay(year: number, month: number, day: number): boolean {
  if (year < 1 || year > 9999 || month < 1 || month > 12 || day < 1) return false;
  return day <= 28 || day <= daysIn(year, month);
}

function daysIn(year: number, month: number): number {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
}

function digitsAt(text: string, from: number, length: number): number {
  let value = 0;
  for (let i = from; i < from + length; i++) {
    const digit = text.charCodeAt(i) - 48;
    if (!(digit >= 0 && digit <= 9)) return -1;
    value = value * 10 + digit;
  }
  return value;
}

/** Whether `text` begins with a day written YYYY-MM-DD. */
function isoDayAtStart(text: string): boolean {
  return (
    text.charCodeAt(4) === 45 &&
    text.charCodeAt(7) === 45 &&
    isCalendarDay(digitsAt(text, 0, 4), digitsAt(text, 5, 2), digitsAt(text, 8, 2))
  );
}

/** The calendar date as written, `YYYY-MM-DD`; of a moment its date part. Undefined when it fits no format, or fits two differently. */
export function readDate(text: string, formats: Formats): string | undefined {
  if (formats.dates.length === 1 && formats.dates[0] === "iso") return isoDate(text);
  const found = new Set<string>();
  for (const format of formats.dates) {
    const date = format === "iso" ? isoDate(text) : patternDate(text, format);
    if (date !== undefined) found.add(date);
  }
  return found.size === 1 ? found.values().next().value : undefined;
}

function isoDate(text: string): string | undefined {
  if (!isoDayAtStart(text)) return undefined;
  if (text.length === 10) return text;
  return zoneAt(text) > 0 || readMoment(text, isoUtc) !== undefined ? text.slice(0, 10) : undefined;
}

/** Whether a text that a date was read from says more than its day: a midnight, of whatever zone, does not. */
export function hasTimeOfDay(text: string): boolean {
  return text.length > 10 && !midnight.test(text);
}

const midnight = /^.{10}[T ]00:00(?::00(?:[.,]0+)?)?\s?(?:[Zz]|[+-]\d\d(?::?\d\d)?)?$/;

/** Whether a text that a moment was read from names a day and no time of it. */
export const isDayAlone = (text: string): boolean => text.length === 10;

function patternDate(text: string, pattern: string): string | undefined {
  if (text.length !== pattern.length) return undefined;
  for (let i = 0; i < pattern.length; i++) {
    if (!/[YMD]/.test(pattern[i]!) && pattern[i] !== text[i]) return undefined;
  }
  const part = (letters: string) => digitsAt(text, pattern.indexOf(letters), letters.length);
  const [year, month, day] = [part("YYYY"), part("MM"), part("DD")];
  if (!isCalendarDay(year, month, day)) return undefined;
  return `${String(year).padStart(4, "0")}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`;
}

/**
 * A moment in microseconds since 1970 UTC, cut (not rounded); undefined when it isn't one. A double holds them exactly from
 * 1684 to 2255: what is stored comes from `canonicalMoment`.
 */
export function readMoment(text: string, formats: Formats): number | undefined {
  const instant = readInstant(text, formats);
  return instant === undefined ? undefined : instant.second * 1000 + instant.micros;
}

/** A moment in the form both databases read: `YYYY-MM-DD HH:MM:SS[.ffffff]+00`; undefined when it isn't one. */
export function canonicalMoment(text: string, formats: Formats): string | undefined {
  const instant = readInstant(text, formats);
  return instant === undefined ? undefined : written(instant.second, instant.micros);
}

/** A whole second as ms since 1970 UTC, and the microseconds after it. */
interface Instant {
  readonly second: number;
  readonly micros: number;
}

function readInstant(text: string, formats: Formats): Instant | undefined {
  if (!isoDayAtStart(text)) return undefined;
  const day = Date.UTC(2000, digitsAt(text, 5, 2) - 1, digitsAt(text, 8, 2));
  const midnight = new Date(day).setUTCFullYear(digitsAt(text, 0, 4), digitsAt(text, 5, 2) - 1, digitsAt(text, 8, 2));
  if (text.length === 10) return inRange(zoned(midnight, formats.timezone), 0);
  const match = clock.exec(text.slice(10));
  if (match === null) return undefined;
  const [hour, minute, second] = [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)];
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const local = midnight + ((hour * 60 + minute) * 60 + second) * 1000;
  const micros = Number((match[4] ?? "").slice(0, 6).padEnd(6, "0"));
  const zone = match[5];
  if (zone === undefined) return inRange(zoned(local, formats.timezone), micros);
  if (zone === "Z" || zone === "z") return inRange(local, micros);
  const offsetHours = Number(match[7]);
  const offsetMinutes = Number(match[8] ?? 0);
  if (offsetHours > 15 || offsetMinutes > 59) return undefined;
  const offset = (offsetHours * 60 + offsetMinutes) * 60_000;
  return inRange(match[6] === "-" ? local + offset : local - offset, micros);
}

/**
 * Where the zone begins in a moment of the years 1000 to 2999 that came as YYYY-MM-DDTHH:MM:SS[.f…] with up to six digits
 * after the point and Z or ±HH:MM, as nearly all do. 0 for any other text, which may be a moment all the same.
 */
function zoneAt(text: string): number {
  const isZ = text.charCodeAt(text.length - 1) === 90;
  const zone = text.length - (isZ ? 1 : 6);
  const millennium = text.charCodeAt(0);
  if (zone < 19 || zone === 20 || zone > 26 || millennium < 49 || millennium > 50) return 0;
  if (text.charCodeAt(10) !== 84 || text.charCodeAt(13) !== 58 || text.charCodeAt(16) !== 58) return 0;
  if (!isBelow(text, 11, 24) || !isBelow(text, 14, 60) || !isBelow(text, 17, 60) || !isoDayAtStart(text)) return 0;
  if (zone > 19 && (text.charCodeAt(19) !== 46 || digitsAt(text, 20, zone - 20) < 0)) return 0;
  if (isZ) return zone;
  const sign = text.charCodeAt(zone);
  if ((sign !== PLUS && sign !== MINUS) || text.charCodeAt(zone + 3) !== 58) return 0;
  return isBelow(text, zone + 1, 16) && isBelow(text, zone + 4, 60) ? zone : 0;
}

const PLUS = 43;
const MINUS = 45;

function isBelow(text: string, from: number, limit: number): boolean {
  const value = digitsAt(text, from, 2);
  return value >= 0 && value < limit;
}

/**
 * Writes a moment as `canonicalMoment` would, where it came in the form of nearly all and its day is the same in UTC: its own
 * characters are copied. False, with nothing written, for any other text.
 */
export function writeUsualMoment(writer: CsvWriter, text: string): boolean {
  const zone = zoneAt(text);
  if (zone === 0) return false;
  const isUtc = zone === text.length - 1;
  const offset = isUtc ? 0 : digitsAt(text, zone + 1, 2) * 60 + digitsAt(text, zone + 4, 2);
  const local = digitsAt(text, 11, 2) * 60 + digitsAt(text, 14, 2);
  const minutes = text.charCodeAt(zone) === MINUS ? local + offset : local - offset;
  if (minutes < 0 || minutes >= 1440) return false;
  writer.plain(text, 0, 10);
  writer.plain(" ");
  writer.time((minutes / 60) | 0, minutes % 60);
  writer.plain(text, 16, 19);
  if (zone > 19 && digitsAt(text, 20, zone - 20) > 0) {
    writer.plain(text, 19, zone);
    writer.plain("000000", zone - 20);
  }
  writer.plain("+00");
  return true;
}

const clock = /^[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?\s?(Z|z|([+-])(\d{2}):?(\d{2})?)?$/;
const FIRST = Date.parse("0001-01-01T00:00:00Z");
const LAST = Date.parse("9999-12-31T23:59:59Z");

function inRange(second: number, micros: number): Instant | undefined {
  return second >= FIRST && second <= LAST ? { second, micros } : undefined;
}

/** Microseconds since 1970 UTC in the form of `canonicalMoment`. */
export function momentText(micros: number): string {
  const below = ((micros % 1_000_000) + 1_000_000) % 1_000_000;
  return written((micros - below) / 1000, below);
}

function written(second: number, micros: number): string {
  const iso = new Date(second).toISOString();
  const fraction = micros === 0 ? "" : `.${String(micros).padStart(6, "0")}`;
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)}${fraction}+00`;
}

/** A wall-clock time of a zone as milliseconds UTC. In the hour that a clock change skips or repeats: the offset before it. */
function zoned(local: number, timezone: string): number {
  if (timezone === "UTC") return local;
  const before = offsetAt(local - DAY, timezone);
  const candidate = local - before;
  return offsetAt(candidate, timezone) === before ? candidate : local - offsetAt(candidate, timezone);
}

const zones = new Map<string, Intl.DateTimeFormat>();

function offsetAt(utc: number, timezone: string): number {
  let format = zones.get(timezone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat("en-US", { timeZone: timezone, timeZoneName: "longOffset" });
    zones.set(timezone, format);
  }
  const name = format.formatToParts(utc).find(part => part.type === "timeZoneName")?.value ?? "GMT";
  const match = /GMT(?:([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?/.exec(name);
  if (match?.[1] === undefined) return 0;
  const seconds = (Number(match[2]) * 60 + Number(match[3])) * 60 + Number(match[4] ?? 0);
  return (match[1] === "-" ? -seconds : seconds) * 1000;
}
