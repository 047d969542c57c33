/* XXH64 with seed 0, as xxhash-wasm computes it, and 64 bits as text. */

const PRIME1: u64 = ((<u64>0x9e3779b1) << 32) | 0x85ebca87;
const PRIME2: u64 = ((<u64>0xc2b2ae3d) << 32) | 0x27d4eb4f;
const PRIME3: u64 = ((<u64>0x165667b1) << 32) | 0x9e3779f9;
const PRIME4: u64 = ((<u64>0x85ebca77) << 32) | 0xc2b2ae63;
const PRIME5: u64 = ((<u64>0x27d4eb2f) << 32) | 0x165667c5;

function round(lane: u64, input: u64): u64 {
  return rotl(lane + input * PRIME2, 31) * PRIME1;
}

function merged(hash: u64, lane: u64): u64 {
  return (hash ^ round(0, lane)) * PRIME1 + PRIME4;
}

/** The hash of the bytes from `from` to `end`. */
export function hash64(from: usize, end: usize): u64 {
  const length = end - from;
  let at = from;
  let hash = PRIME5;
  if (length >= 32) {
    let a = PRIME1 + PRIME2;
    let b = PRIME2;
    let c: u64 = 0;
    let d: u64 = 0 - PRIME1;
    for (; at + 32 <= end; at += 32) {
      a = round(a, load<u64>(at));
      b = round(b, load<u64>(at, 8));
      c = round(c, load<u64>(at, 16));
      d = round(d, load<u64>(at, 24));
    }
    hash = rotl(a, 1) + rotl(b, 7) + rotl(c, 12) + rotl(d, 18);
    hash = merged(merged(merged(merged(hash, a), b), c), d);
  }
  hash += <u64>length;
  for (; at + 8 <= end; at += 8) hash = rotl(hash ^ round(0, load<u64>(at)), 27) * PRIME1 + PRIME4;
  if (at + 4 <= end) {
    hash = rotl(hash ^ (<u64>load<u32>(at) * PRIME1), 23) * PRIME2 + PRIME3;
    at += 4;
  }
  for (; at < end; at++) hash = rotl(hash ^ (<u64>load<u8>(at) * PRIME5), 11) * PRIME1;
  hash = (hash ^ (hash >> 33)) * PRIME2;
  hash = (hash ^ (hash >> 29)) * PRIME3;
  return hash ^ (hash >> 32);
}

const CHUNK: u64 = 100_000_000;

/** Writes 64 bits as the signed integer they are; answers where it ends. */
export function writeBits(at: usize, bits: u64): usize {
  let to = at;
  let size = bits;
  if (<i64>bits < 0) {
    store<u8>(to++, 45);
    size = 0 - bits;
  }
  if (size < CHUNK) return writeDigits(to, <u32>size, digitsOf(<u32>size));
  const high = size / CHUNK;
  const low = <u32>(size - high * CHUNK);
  if (high < CHUNK) to = writeDigits(to, <u32>high, digitsOf(<u32>high));
  else {
    const top = <u32>(high / CHUNK);
    to = writeDigits(to, top, digitsOf(top));
    to = writeDigits(to, <u32>(high - top * CHUNK), 8);
  }
  return writeDigits(to, low, 8);
}

/** So many digits of an integer, with zeros before it. */
export function writeDigits(at: usize, value: u32, length: u32): usize {
  let rest = value;
  for (let to = at + length; to > at; ) {
    const tens = rest / 10;
    store<u8>(--to, 48 + rest - tens * 10);
    rest = tens;
  }
  return at + length;
}

function digitsOf(value: u32): u32 {
  let length: u32 = 1;
  for (let rest = value; rest >= 10; rest /= 10) length++;
  return length;
}
