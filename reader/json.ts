import { BODY, copy, DECIMAL, MEMBERS, NUMBER, PLAIN } from "./layout";
import { sortOfValue, space, textEnd, valueEnd } from "./scan";
import { writeEscaped, writeNumber } from "./values";

/*
 * Writes a JSON value as text in a field of CSV: its keys sorted, its numbers canonical, as src/rows/json.ts does. 0 for what
 * may be written in another way, and for no JSON: nested values were not looked at before.
 */

/** Of a member where its key begins and ends, and where its value begins. */
const MEMBER: usize = 16;
const DEEPEST = 16;

/** Where the value ended that was written last. */
let next: usize = 0;

/** Writes the value that begins at `start`, quotes around it. */
export function writeJson(out: usize, start: usize): usize {
  store<u8>(out, 34);
  const to = write(out + 1, start, MEMBERS, 0);
  if (to === 0) return 0;
  store<u8>(to, 34);
  return to + 1;
}

function write(out: usize, at: usize, members: usize, depth: i32): usize {
  const byte: u32 = load<u8>(at);
  if (byte === 91) return depth === DEEPEST ? 0 : writeArray(out, at, members, depth + 1);
  if (byte === 123) return depth === DEEPEST ? 0 : writeObject(out, at, members, depth + 1);
  const end = valueEnd(at);
  if (end === 0) return 0;
  next = end;
  if (byte === 34) return writeQuoted(out, at, end);
  if (byte === 45 || byte - 48 < 10) return sortOfValue() === NUMBER ? writeNumber(out, at, end, DECIMAL) : 0;
  copy(out, at, end - at);
  return out + end - at;
}

/** A text within the text: its quotes are doubled. */
function writeQuoted(out: usize, start: usize, end: usize): usize {
  store<u8>(out, 34);
  let to = out + 1 + end - start;
  if (sortOfValue() === PLAIN) copy(out + 1, start, end - start);
  else to = writeEscaped(out + 1, start, end, true);
  if (to === 0) return 0;
  store<u8>(to, 34);
  return to + 1;
}

function writeArray(out: usize, start: usize, members: usize, depth: i32): usize {
  store<u8>(out, 91);
  let to = out + 1;
  let at = space(start + 1);
  while (load<u8>(at) !== 93) {
    to = write(to, at, members, depth);
    if (to === 0) return 0;
    at = space(next);
    if (load<u8>(at) === 93) break;
    if (load<u8>(at) !== 44) return 0;
    store<u8>(to++, 44);
    at = space(at + 1);
    if (load<u8>(at) === 93) return 0;
  }
  next = at + 1;
  store<u8>(to, 93);
  return to + 1;
}

function writeObject(out: usize, start: usize, members: usize, depth: i32): usize {
  const end = sorted(start, members);
  if (end === 0) return 0;
  const after = next;
  store<u8>(out, 123);
  let to = out + 1;
  for (let member = members; member < end; member += MEMBER) {
    const key: usize = load<u32>(member);
    const length = <usize>load<u32>(member, 4) - key;
    if (member > members) store<u8>(to++, 44);
    store<u16>(to, 0x2222);
    copy(to + 2, key, length);
    to += length + 2;
    store<u32>(to, 0x3a2222);
    to = write(to + 3, load<u32>(member, 8), end, depth);
    if (to === 0) return 0;
  }
  next = after;
  store<u8>(to, 125);
  return to + 1;
}

/** Puts an object's members at `members`; answers where they end, 0 where one may not be written or comes twice. */
function sorted(start: usize, members: usize): usize {
  let end = members;
  let at = space(start + 1);
  while (load<u8>(at) !== 125) {
    if (load<u8>(at) !== 34 || end === BODY) return 0;
    const keyEnd = textEnd(at + 1);
    if (keyEnd === 0 || !isHarmless(at + 1, keyEnd)) return 0;
    const colon = space(keyEnd + 1);
    if (load<u8>(colon) !== 58) return 0;
    const from = space(colon + 1);
    const to = valueEnd(from);
    if (to === 0) return 0;
    let member = end;
    for (; member > members; member -= MEMBER) {
      const order = compared(at + 1, keyEnd, load<u32>(member - MEMBER), load<u32>(member - MEMBER, 4));
      if (order === 0) return 0;
      if (order > 0) break;
      v128.store(member, v128.load(member - MEMBER));
    }
    store<u32>(member, <u32>at + 1);
    store<u32>(member, <u32>keyEnd, 4);
    store<u32>(member, <u32>from, 8);
    end += MEMBER;
    at = space(to);
    if (load<u8>(at) === 125) break;
    if (load<u8>(at) !== 44) return 0;
    at = space(at + 1);
    if (load<u8>(at) === 125) return 0;
  }
  next = at + 1;
  return end;
}

/** The order of two keys; 0 for equal ones. */
function compared(a: usize, aEnd: usize, b: usize, bEnd: usize): i32 {
  const length = min(aEnd - a, bEnd - b);
  for (let i: usize = 0; i < length; i++) {
    const difference = <i32>load<u8>(a + i) - <i32>load<u8>(b + i);
    if (difference !== 0) return difference;
  }
  return <i32>(aEnd - a) - <i32>(bEnd - b);
}

/** Whether a key is ASCII without escapes, and holds no part of a name that says a secret: see src/rows/confidential.ts. */
function isHarmless(start: usize, end: usize): bool {
  for (let at = start; at < end; at++) {
    const byte: u32 = load<u8>(at);
    if (byte === 92 || byte > 126) return false;
    const word = load<u32>(at) | 0x20202020;
    // key, toke(n), secr(et), pass
    if ((word & 0xffffff) === 0x79656b || word === 0x656b6f74 || word === 0x72636573 || word === 0x73736170)
      return false;
  }
  return true;
}
