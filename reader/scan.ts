import * as layout from "./layout";

/*
 * Reads the array of a page's rows: where each row stands, and each of its fields. A zero ends the body, which no JSON has, so
 * that nothing reads beyond it. What is accepted is JSON; of a row that is odd (see `ODD`) its place alone is right.
 */

const QUOTE: u32 = 34;
const BACKSLASH: u32 = 92;

/** The rows that `scan` found. */
let found: u32 = 0;
/** Where their tape ends. */
let tapeEnd: usize = 0;
/** What the value was that `valueEnd` looked at. */
let sort: u32 = 0;

export function rows(): u32 {
  return found;
}

export function sortOfValue(): u32 {
  return sort;
}

export function endOfTape(): usize {
  return tapeEnd;
}

/** Reads the array that begins at `from` into the tape at `tape`. Answers where it ends, 0 for anything but at most `most` objects. */
export function scan(from: usize, tape: usize, most: u32): usize {
  found = 0;
  tapeEnd = tape;
  const size = layout.rowSize();
  let at = space(from + 1);
  if (load<u8>(at) === 93) return at + 1;
  for (; found < most; found++) {
    if (load<u8>(at) !== 123 || !layout.hasRoom(tapeEnd, size)) return 0;
    memory.fill(tapeEnd, 0, size);
    const end = scanRow(at, tapeEnd);
    if (end === 0) return 0;
    store<u32>(tapeEnd, <u32>at, layout.START);
    store<u32>(tapeEnd, <u32>end, layout.END);
    tapeEnd += size;
    at = space(end);
    const next = load<u8>(at);
    if (next === 93) {
      found++;
      return at + 1;
    }
    if (next !== 44) return 0;
    at = space(at + 1);
  }
  return 0;
}

/** Reads an object; answers where it ends, 0 for no JSON. */
function scanRow(start: usize, row: usize): usize {
  const all = layout.columns();
  let before = layout.PROGRAM;
  let at = space(start + 1);
  if (load<u8>(at) === 125) return at + 1;
  while (true) {
    if (load<u8>(at) !== QUOTE) return 0;
    at++;
    let place = load<u32>(before, layout.FOLLOWING);
    if (!isName(at, layout.column(place))) {
      for (place = 0; place < all && !isName(at, layout.column(place)); ) place++;
      if (place < all) store<u32>(before, place, layout.FOLLOWING);
    }
    if (place < all) {
      before = layout.column(place);
      at += load<u32>(before, layout.NAME_LENGTH);
    } else {
      at = textEnd(at) + 1;
      if (at === 1) return 0;
      store<u32>(row, 1, layout.ODD);
    }
    at = space(at);
    if (load<u8>(at) !== 58) return 0;
    at = space(at + 1);
    const end = valueEnd(at);
    if (end === 0) return 0;
    if (place < all) {
      const field = layout.fieldOf(row, place);
      if (layout.startOf(field) !== 0) store<u32>(row, 1, layout.ODD);
      store<u32>(field, <u32>at);
      store<u32>(field, ((<u32>end) << 4) | sort, 4);
    }
    at = space(end);
    const next = load<u8>(at);
    if (next === 125) return at + 1;
    if (next !== 44) return 0;
    at = space(at + 1);
  }
}

/** Whether a column's name stands here. */
function isName(at: usize, column: usize): bool {
  const length = load<u32>(column, layout.NAME_LENGTH);
  const name: usize = load<u32>(column, layout.NAME);
  let i: u32 = 0;
  for (; i + 8 <= length; i += 8) if (load<u64>(at + i) !== load<u64>(name + i)) return false;
  const left = length - i;
  return left === 0 ? i > 0 : (load<u64>(at + i) ^ load<u64>(name + i)) << (64 - (left << 3)) === 0;
}

export function space(from: usize): usize {
  let at = from;
  while (true) {
    const byte = load<u8>(at);
    if (byte > 32 || (byte !== 32 && byte !== 10 && byte !== 13 && byte !== 9)) return at;
    at++;
  }
}

/** Where a value ends, and in `sort` what it is; 0 for no JSON. Of what has something in it only its end is known. */
export function valueEnd(at: usize): usize {
  const byte: u32 = load<u8>(at);
  if (byte === QUOTE) {
    sort = layout.PLAIN;
    const end = textEnd(at + 1);
    return end === 0 ? 0 : end + 1;
  }
  if (byte - 48 < 10 || byte === 45) return numberEnd(at);
  const word = load<u32>(at);
  sort = word === 0x6c6c756e ? layout.NULL : layout.TRUE;
  if (word === 0x6c6c756e || word === 0x65757274) return at + 4;
  sort = layout.FALSE;
  if (word === 0x736c6166) return load<u8>(at, 4) === 101 ? at + 5 : 0;
  if (byte !== 91 && byte !== 123) return 0;
  sort = layout.OTHER;
  return nestedEnd(at);
}

/** The quote that ends a text; 0 where none does, or the text is no JSON. Where it has escapes `sort` says so. */
export function textEnd(from: usize): usize {
  let at = from;
  while (true) {
    const bytes = v128.load(at);
    const special = v128.or(
      v128.or(v128.eq<u8>(bytes, v128.splat<u8>(34)), v128.eq<u8>(bytes, v128.splat<u8>(92))),
      v128.lt<u8>(bytes, v128.splat<u8>(32)),
    );
    const mask = v128.bitmask<u8>(special);
    if (mask === 0) {
      at += 16;
      continue;
    }
    at += ctz(mask);
    const byte: u32 = load<u8>(at);
    if (byte === QUOTE) return at;
    if (byte !== BACKSLASH) return 0;
    sort = layout.ESCAPED;
    const letter: u32 = load<u8>(at, 1);
    if (letter === 117) {
      for (let i: usize = 2; i < 6; i++) if (!isHex(load<u8>(at + i))) return 0;
      at += 6;
    } else if (isEscape(letter)) at += 2;
    else return 0;
  }
}

function isHex(byte: u32): bool {
  return byte - 48 < 10 || (byte | 32) - 97 < 6;
}

function isEscape(byte: u32): bool {
  if (byte === QUOTE || byte === BACKSLASH || byte === 47) return true;
  return byte === 110 || byte === 116 || byte === 114 || byte === 98 || byte === 102;
}

function numberEnd(start: usize): usize {
  sort = layout.NUMBER;
  let at = load<u8>(start) === 45 ? start + 1 : start;
  const first = at;
  at = digitsEnd(at);
  if (at === first || (at - first > 1 && load<u8>(first) === 48)) return 0;
  if (load<u8>(at) === 46) {
    const point = at + 1;
    at = digitsEnd(point);
    if (at === point) return 0;
  }
  if ((load<u8>(at) | 32) !== 101) return at;
  sort = layout.OTHER;
  const sign: u32 = load<u8>(at, 1);
  const power = sign === 43 || sign === 45 ? at + 2 : at + 1;
  at = digitsEnd(power);
  return at === power ? 0 : at;
}

export function digitsEnd(from: usize): usize {
  let at = from;
  while (<u32>load<u8>(at) - 48 < 10) at++;
  return at;
}

/** Where an array or an object ends, if it is one. */
function nestedEnd(from: usize): usize {
  let at = from;
  let depth = 0;
  while (true) {
    const byte: u32 = load<u8>(at);
    if (byte === QUOTE) {
      at = textEnd(at + 1);
      if (at === 0) return 0;
      sort = layout.OTHER;
    } else if (byte === 91 || byte === 123) depth++;
    else if ((byte === 93 || byte === 125) && --depth === 0) return at + 1;
    else if (byte === 0) return 0;
    at++;
  }
}
