import { hash64, writeBits } from "./hash";
import { writeJson } from "./json";
import * as layout from "./layout";
import { isDay, isMidnight, timeOf, writeMoment, zoneAt } from "./moment";
import { rows } from "./scan";
import { writeCount, writeDecimal, writeEscaped, writeNumber, writeScore } from "./values";

/*
 * Writes the lines of the rows that were read: the main one, the key's with the hashes, and a byte for each column whose field
 * the row lacks. Nothing is written of a row that holds a value which came in another form than the usual one of its kind; see
 * src/rows/encode_usual_value.ts, whose functions these repeat for bytes.
 */

const COMMA: u8 = 44;
const LONGEST_KEY: usize = 500;

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
  layout.copy(out, load<u32>(column, layout.BESIDE_START), length);
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
  if (kind === layout.WHOLE) return writeJson(out, start);
  if (kind === layout.OBJECT) return load<u8>(start) === 123 ? writeJson(out, start) : 0;
  if (kind === layout.ARRAY) return load<u8>(start) === 91 ? writeJson(out, start) : 0;
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

/** A text from quote to quote. 0 where it holds what databases don't, or half a character. */
function writeText(out: usize, start: usize, end: usize, sort: u32): usize {
  if (sort === layout.ESCAPED) return writeEscaped(out, start, end, false);
  layout.copy(out, start, end - start);
  return out + end - start;
}

/** A day, or the midnight of one. */
function writeDate(out: usize, at: usize, length: usize): usize {
  if (length !== 10) {
    const zone = zoneAt(at, length);
    if (zone === 0 || !isMidnight(at, zone)) return 0;
    rounded++;
  } else if (!isDay(at)) return 0;
  layout.copy(out, at, 10);
  return out + 10;
}
