import * as layout from "./layout";
import { digitsEnd } from "./scan";

/* Writes texts and numbers; each function answers where that ends, 0 for a value that is not the usual one of its kind. */

const QUOTE: u8 = 34;
const INTEGER_DIGITS: usize = 12;
const PLACES: usize = 6;
/** So many digits a double holds of any number. */
const EXACT_DIGITS: usize = 15;

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
  layout.copy(to, first, last - first);
  return to + last - first;
}

/** A decimal that came as text: see `canonicalEnd`. */
export function writeDecimal(out: usize, start: usize, end: usize): usize {
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
  layout.copy(out, start, last - start);
  return out + last - start;
}

/** A number that came as text, and whose double has no other text. */
export function writeScore(out: usize, start: usize, end: usize): usize {
  const to = writeDecimal(out, start, end);
  return to - out > EXACT_DIGITS ? 0 : to;
}

/** A whole number that came as text: see `writePlainWhole`. */
export function writeCount(out: usize, start: usize, end: usize): usize {
  const first = load<u8>(start) === 45 ? start + 1 : start;
  const length = end - start;
  if (first === end || length > INTEGER_DIGITS || digitsEnd(first) !== end) return 0;
  if (length > 1 && load<u8>(first) === 48) return 0;
  layout.copy(out, start, length);
  return out + length;
}
