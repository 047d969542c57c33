import { hash64, writeBits } from "./hash";
import { writeJson } from "./json";
import * as layout from "./layout";
import { isDay, isMidnight, timeOf, writeMoment, zoneAt } from "./moment";
import { digitsEnd, rows } from "./scan";

/*
 * Writes the lines of the rows that were read: the main one, the key's with the hashes, and a byte for each column whose field
 * the row lacks. Nothing is written of a row that holds a value which came in another form than the usual one of its kind; see
 * src/rows/encode_usual_value.ts, whose functions these repeat for bytes.
 */

const COMMA: u8 = 44;
const QUOTE: u8 = 34;
const LONGEST_KEY: usize = 500;
const INTEGER_DIGITS: usize = 12;
const PLACES: usize = 6;
/** So many digits a double holds of any number. */
const EXACT_DIGITS: usize = 15;

/** Values of the row that were stored, but not as they came. */
let rounded: u32 = 0;

/** Writes the rows of the tape from `from` on; answers where that ends, 0 where there is no room. */
export function write(tape: usize, from: usize): usize {
  const all = layout.columns();
  // Of a row without its fields: commas and what a moment or a text's quotes add, hashes, and what stands beside it.
  let least = (<usize>all + 16) << 4;
  for (let place: u32 = 0; place < all; place++) least += load<u32>(layout.column(place), layout.BESIDE_LENGTH);
  let out = from;
  let row = tape;
  for (let left = rows(); left > 0; left--, row += layout.rowSize()) {
    const length: usize = load<u32>(row, layout.END) - load<u32>(row, layout.START);
    if (load<u32>(row, layout.ODD) !== 0) continue;
    if (!layout.hasRoom(out, least + (length << 2))) return 0;
    const end = writeRow(row, out);
    if (end !== 0) out = end;
  }
  return out;
}

function writeRow(row: usize, from: usize): usize {
  const all = layout.columns();
  const stable = load<u32>(layout.PROGRAM, layout.STABLE);
  rounded = 0;
  let out = from;
  let changeable = from;
  let absent: u32 = 0;
  for (let place: u32 = 0; place < all; place++) {
    if (place === stable) changeable = out;
    const column = layout.column(place);
    const field = layout.fieldOf(row, place);
    if (layout.startOf(field) !== 0) out = writeField(out, load<u32>(column, layout.KIND), field);
    else if (load<u32>(column, layout.KIND) === layout.BESIDE) out = writeBeside(out, column);
    else absent++;
    if (out === 0) return 0;
    store<u8>(out++, COMMA);
  }
  if (stable === all) changeable = out;
  store<u16>(out, 0x0a2c);
  const key = out + 2;
  out = writeKey(row, key);
  if (out === 0) return 0;
  out = writeBits(out, hash64(from, changeable));
  store<u8>(out++, COMMA);
  out = writeBits(out, hash64(changeable, key));
  store<u8>(out++, 10);
  store<u32>(row, <u32>from, layout.MAIN);
  store<u32>(row, <u32>key, layout.KEY);
  store<u32>(row, <u32>out, layout.STOP);
  store<u32>(row, absent, layout.ABSENT);
  store<u32>(row, rounded, layout.ROUNDED);
  store<f64>(row, timeIn(row), layout.TIME);
  for (let place: u32 = 0; absent > 0; place++) {
    const isField = load<u32>(layout.column(place), layout.KIND) !== layout.BESIDE;
    if (!isField || layout.startOf(layout.fieldOf(row, place)) !== 0) continue;
    store<u8>(out++, place);
    absent--;
  }
  return out;
}

/** Each part of the key with a comma behind it; 0 where one is no text, or may be too long. */
function writeKey(row: usize, from: usize): usize {
  let out = from;
  const keys = load<u32>(layout.PROGRAM, layout.KEYS);
  for (let nth: u32 = 0; nth < keys; nth++) {
    const field = layout.fieldOf(row, load<u32>(layout.PROGRAM + (nth << 2), layout.KEY_PLACES));
    const start = layout.startOf(field);
    const end = layout.endOf(field);
    if (start === 0 || layout.sortOf(field) > layout.ESCAPED || end - start > LONGEST_KEY) return 0;
    out = writeText(out, start, end, layout.sortOf(field));
    if (out === 0) return 0;
    store<u8>(out++, COMMA);
  }
  return out;
}

function timeIn(row: usize): f64 {
  const place = load<u32>(layout.PROGRAM, layout.TIME_PLACE);
  if (place >= layout.columns()) return NaN;
  const field = layout.fieldOf(row, place);
  const start = layout.startOf(field);
  if (start === 0 || layout.sortOf(field) !== layout.PLAIN) return NaN;
  const zone = zoneAt(start + 1, layout.endOf(field) - start - 2);
  return zone === 0 ? NaN : timeOf(start + 1, zone);
}

function writeBeside(out: usize, column: usize): usize {
  const length: usize = load<u32>(column, layout.BESIDE_LENGTH);
  copy(out, load<u32>(column, layout.BESIDE_START), length);
  return out + length;
}

/** Writes a value; answers where that ends, 0 for one that is not the usual one of its kind. */
function writeField(out: usize, kind: u32, field: usize): usize {
  const start = layout.startOf(field);
  const end = layout.endOf(field);
  const sort = layout.sortOf(field);
  if (sort === layout.NULL) return out;
  if (kind === layout.TEXT) return sort <= layout.ESCAPED ? writeText(out, start, end, sort) : 0;
  if (kind === layout.FLAG) return writeFlag(out, sort);
  if (kind === layout.WHOLE) return writeJson(out, start, end);
  if (sort === layout.NUMBER) return kind <= layout.SCORE ? writeNumber(out, start, end, kind) : 0;
  if (sort !== layout.PLAIN) return 0;
  if (end - start === 2) {
    rounded++;
    return out;
  }
  if (kind === layout.DECIMAL) return writeDecimal(out, start + 1, end - 1);
  if (kind === layout.COUNT) return writeCount(out, start + 1, end - 1);
  if (kind === layout.SCORE) return writeScore(out, start + 1, end - 1);
  if (kind === layout.DATE) return writeDate(out, start + 1, end - start - 2);
  return kind === layout.MOMENT ? writeMoment(out, start + 1, end - start - 2) : 0;
}

function writeFlag(out: usize, sort: u32): usize {
  if (sort === layout.TRUE) {
    store<u32>(out, 0x65757274);
    return out + 4;
  }
  if (sort !== layout.FALSE) return 0;
  store<u32>(out, 0x736c6166);
  store<u8>(out, 101, 4);
  return out + 5;
}

/** Copies by sixteen bytes: what stands behind is written over later. */
export function copy(to: usize, from: usize, length: usize): void {
  for (let i: usize = 0; i < length; i += 16) v128.store(to + i, v128.load(from + i));
}

/** A text from quote to quote. 0 where it holds what databases don't, or half a character. */
function writeText(out: usize, start: usize, end: usize, sort: u32): usize {
  if (sort === layout.ESCAPED) return writeEscaped(out, start, end, false);
  copy(out, start, end - start);
  return out + end - start;
}

/** A text with escapes from quote to quote: what they mean or, in JSON, they themselves. 0 for one that is not known. */
export function writeEscaped(out: usize, start: usize, end: usize, inJson: bool): usize {
  let at = start;
  let to = out;
  while (at < end) {
    const bytes = v128.load(at);
    v128.store(to, bytes);
    const mask = v128.bitmask<u8>(v128.eq<u8>(bytes, v128.splat<u8>(92)));
    const plain: usize = min<usize>(mask === 0 ? 16 : ctz(mask), end - at);
    at += plain;
    to += plain;
    if (mask === 0 || at === end) continue;
    const letter: u32 = load<u8>(at, 1);
    at += 2;
    if (letter === 117) {
      to = inJson ? 0 : writeCharacter(to, fourHex(at));
      if (to === 0) return 0;
      at += 4;
      continue;
    }
    if (inJson && letter !== 47) store<u8>(to++, 92);
    if (letter === QUOTE) store<u8>(to++, QUOTE);
    store<u8>(to++, inJson ? letter : unescaped(letter));
  }
  return to;
}

function unescaped(letter: u32): u32 {
  if (letter === 110) return 10;
  if (letter === 116) return 9;
  if (letter === 114) return 13;
  if (letter === 98) return 8;
  return letter === 102 ? 12 : letter;
}

function fourHex(at: usize): u32 {
  let code: u32 = 0;
  for (let i: usize = 0; i < 4; i++) {
    const digit: u32 = <u32>load<u8>(at + i) - 48;
    code = (code << 4) | (digit < 10 ? digit : (digit & 7) + 9);
  }
  return code;
}

function writeCharacter(to: usize, code: u32): usize {
  if (code === 0 || (code >= 0xd800 && code < 0xe000)) return 0;
  if (code < 0x80) {
    store<u8>(to, code);
    if (code !== QUOTE) return to + 1;
    store<u8>(to, QUOTE, 1);
    return to + 2;
  }
  if (code < 0x800) {
    store<u8>(to, 0xc0 | (code >> 6));
    store<u8>(to, 0x80 | (code & 0x3f), 1);
    return to + 2;
  }
  store<u8>(to, 0xe0 | (code >> 12));
  store<u8>(to, 0x80 | ((code >> 6) & 0x3f), 1);
  store<u8>(to, 0x80 | (code & 0x3f), 2);
  return to + 3;
}

/** A number that came as one, and whose double has no other text that is as short. */
export function writeNumber(out: usize, start: usize, end: usize, kind: u32): usize {
  const isNegative = load<u8>(start) === 45;
  const first = isNegative ? start + 1 : start;
  const point = digitsEnd(first);
  let last = end;
  if (point < end) {
    while (load<u8>(last - 1) === 48) last--;
    if (last === point + 1) last = point;
  }
  const whole = point - first;
  const places = last > point ? last - point - 1 : 0;
  if (kind === layout.COUNT) {
    if (places > 0 || whole > EXACT_DIGITS) return 0;
  } else if (whole > INTEGER_DIGITS || places > PLACES || whole + places > EXACT_DIGITS) return 0;
  let to = out;
  // Zero has no sign.
  if (isNegative && !(places === 0 && whole === 1 && load<u8>(first) === 48)) store<u8>(to++, 45);
  copy(to, first, last - first);
  return to + last - first;
}

/** A decimal that came as text: see `canonicalEnd`. */
function writeDecimal(out: usize, start: usize, end: usize): usize {
  const first = load<u8>(start) === 45 ? start + 1 : start;
  const point = digitsEnd(first);
  const whole = point - first;
  if (whole === 0 || whole > INTEGER_DIGITS || (whole > 1 && load<u8>(first) === 48)) return 0;
  let last = point;
  if (point < end) {
    if (load<u8>(point) !== 46 || point + 1 === end || digitsEnd(point + 1) !== end) return 0;
    for (last = end; load<u8>(last - 1) === 48; ) last--;
    if (last - point > PLACES + 1) return 0;
    if (last === point + 1) last = point;
  }
  if (first !== start && load<u8>(first) === 48 && last === first + 1) return 0;
  copy(out, start, last - start);
  return out + last - start;
}

/** A number that came as text, and whose double has no other text. */
function writeScore(out: usize, start: usize, end: usize): usize {
  const to = writeDecimal(out, start, end);
  return to - out > EXACT_DIGITS ? 0 : to;
}

/** A whole number that came as text: see `writePlainWhole`. */
function writeCount(out: usize, start: usize, end: usize): usize {
  const first = load<u8>(start) === 45 ? start + 1 : start;
  const length = end - start;
  if (first === end || length > INTEGER_DIGITS || digitsEnd(first) !== end) return 0;
  if (length > 1 && load<u8>(first) === 48) return 0;
  copy(out, start, length);
  return out + length;
}

/** A day, or the midnight of one. */
function writeDate(out: usize, at: usize, length: usize): usize {
  if (length !== 10) {
    const zone = zoneAt(at, length);
    if (zone === 0 || !isMidnight(at, zone)) return 0;
    rounded++;
  } else if (!isDay(at)) return 0;
  copy(out, at, 10);
  return out + 10;
}
