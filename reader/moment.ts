import { writeDigits } from "./hash";
import { copy } from "./layout";

/* Days, and moments in the form that nearly all come in: see src/rows/moment.ts, whose functions these repeat for bytes. */

/** Two digits; 100 and more for anything else. */
function twoDigits(at: usize): u32 {
  const tens: u32 = <u32>load<u8>(at) - 48;
  const ones: u32 = <u32>load<u8>(at, 1) - 48;
  return tens < 10 && ones < 10 ? tens * 10 + ones : 100;
}

function yearAt(at: usize): u32 {
  return twoDigits(at) * 100 + twoDigits(at + 2);
}

/** Whether a day of the calendar stands here as YYYY-MM-DD. */
export function isDay(at: usize): bool {
  if (load<u8>(at, 4) !== 45 || load<u8>(at, 7) !== 45) return false;
  const month = twoDigits(at + 5);
  const day = twoDigits(at + 8);
  if (twoDigits(at) > 99 || twoDigits(at + 2) > 99 || month < 1 || month > 12 || day < 1) return false;
  return yearAt(at) > 0 && day <= daysIn(yearAt(at), month);
}

function daysIn(year: u32, month: u32): u32 {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

/** Where the zone begins in a moment of so many bytes; 0 for any other text. */
export function zoneAt(at: usize, length: usize): usize {
  if (length < 20 || length > 32) return 0;
  const isZ = load<u8>(at + length - 1) === 90;
  const zone = length - (isZ ? 1 : 6);
  const millennium: u32 = load<u8>(at);
  if (zone < 19 || zone === 20 || zone > 26 || millennium < 49 || millennium > 50) return 0;
  if (load<u8>(at, 10) !== 84 || load<u8>(at, 13) !== 58 || load<u8>(at, 16) !== 58) return 0;
  if (twoDigits(at + 11) > 23 || twoDigits(at + 14) > 59 || twoDigits(at + 17) > 59 || !isDay(at)) return 0;
  if (zone > 19) {
    if (load<u8>(at, 19) !== 46) return 0;
    for (let i: usize = 20; i < zone; i++) if (<u32>load<u8>(at + i) - 48 > 9) return 0;
  }
  if (isZ) return zone;
  const sign: u32 = load<u8>(at + zone);
  if ((sign !== 43 && sign !== 45) || load<u8>(at + zone, 3) !== 58) return 0;
  return twoDigits(at + zone + 1) < 16 && twoDigits(at + zone + 4) < 60 ? zone : 0;
}

/** Minutes that the moment's zone is ahead of UTC. */
function offset(at: usize, zone: usize): i32 {
  if (load<u8>(at + zone) === 90) return 0;
  const minutes = <i32>(twoDigits(at + zone + 1) * 60 + twoDigits(at + zone + 4));
  return load<u8>(at + zone) === 45 ? -minutes : minutes;
}

/** Minutes of the day in UTC; negative, or more than a day has, where that is another day. */
function minutesOf(at: usize, zone: usize): i32 {
  return <i32>(twoDigits(at + 11) * 60 + twoDigits(at + 14)) - offset(at, zone);
}

/** The digits behind the point, of six. */
function microsOf(at: usize, zone: usize): u32 {
  let micros: u32 = 0;
  for (let i: usize = 20; i < 26; i++) micros = micros * 10 + (i < zone ? <u32>load<u8>(at + i) - 48 : 0);
  return micros;
}

/** Whether a moment is the midnight of its own zone. */
export function isMidnight(at: usize, zone: usize): bool {
  return twoDigits(at + 11) + twoDigits(at + 14) + twoDigits(at + 17) === 0 && microsOf(at, zone) === 0;
}

/** Microseconds since 1970, in the steps of `readMoment`: far from there they are no whole number any more. */
export function timeOf(at: usize, zone: usize): f64 {
  const month = <i32>twoDigits(at + 5);
  const year = <i32>yearAt(at) - (month < 3 ? 1 : 0);
  const ofMarch = (153 * (month + (month < 3 ? 9 : -3)) + 2) / 5 + <i32>twoDigits(at + 8) - 1;
  const days = year * 365 + year / 4 - year / 100 + year / 400 + ofMarch - 719_468;
  const seconds = (<i64>days * 1440 + minutesOf(at, zone)) * 60 + twoDigits(at + 17);
  return <f64>(seconds * 1000) * 1000 + <f64>microsOf(at, zone);
}

/** Writes a moment in UTC as both databases read it; 0 for any text that is none in the usual form. */
export function writeMoment(out: usize, at: usize, length: usize): usize {
  const zone = zoneAt(at, length);
  if (zone === 0) return 0;
  const minutes = minutesOf(at, zone);
  copy(out, at, 10);
  if (minutes < 0) writeDay(out, yearAt(at), twoDigits(at + 5), twoDigits(at + 8) - 1);
  else if (minutes >= 1440) writeDay(out, yearAt(at), twoDigits(at + 5), twoDigits(at + 8) + 1);
  const ofDay: u32 = (minutes + 1440) % 1440;
  store<u8>(out, 32, 10);
  writeDigits(out + 11, ofDay / 60, 2);
  store<u8>(out, 58, 13);
  writeDigits(out + 14, ofDay % 60, 2);
  copy(out + 16, at + 16, 3);
  let to = out + 19;
  const micros = microsOf(at, zone);
  if (micros > 0) {
    store<u8>(to, 46);
    to = writeDigits(to + 1, micros, 6);
  }
  store<u32>(to, 0x30302b);
  return to + 3;
}

/** Writes a day, also the one before a month's first and the one behind its last. */
function writeDay(out: usize, ofYear: u32, ofMonth: u32, ofDay: u32): void {
  let months = ofYear * 12 + ofMonth - 1;
  let day = ofDay;
  if (day === 0) {
    months--;
    day = daysIn(months / 12, (months % 12) + 1);
  } else if (day > daysIn(ofYear, ofMonth)) {
    months++;
    day = 1;
  }
  writeDigits(out, months / 12, 4);
  writeDigits(out + 5, (months % 12) + 1, 2);
  writeDigits(out + 8, day, 2);
}
