import { isUtf8 } from "node:buffer";
import { TextDecoder } from "node:util";
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from "node:zlib";
import { parseExactly, sameNumber } from "./exact_json.ts";

export class BodyTooLargeError extends Error {
  override readonly name = "BodyTooLargeError";
}

/** The body cannot be decoded or is not JSON: cut off on its way, or not the service's. `message` shows nothing of the body. */
export class BodyError extends Error {
  override readonly name = "BodyError";
}

/** The encodings `decompress` reads, as the value of Accept-Encoding. */
export const acceptEncoding = "gzip, br, deflate";

/** Each may make a body of `maxBytes` once more; a server and a proxy need one each. */
const MOST_ENCODINGS = 3;

/** Undoes a Content-Encoding. At most `maxBytes` come into being (BodyTooLargeError); a cut or broken stream is a BodyError. */
export function decompress(body: Buffer, contentEncoding: string | undefined, maxBytes: number): Buffer {
  let bytes = body;
  const encodings = contentEncoding?.toLowerCase().split(",").reverse() ?? [];
  if (encodings.length > MOST_ENCODINGS) throw new BodyError(`a body in ${encodings.length} encodings at once`);
  for (const encoding of encodings) bytes = decoded(bytes, encoding.trim(), maxBytes);
  if (bytes.length > maxBytes) throw new BodyTooLargeError();
  return bytes;
}

function decoded(bytes: Buffer, encoding: string, maxOutputLength: number): Buffer {
  if (encoding === "" || encoding === "identity") return bytes;
  const limits = { maxOutputLength };
  try {
    if (encoding === "gzip" || encoding === "x-gzip") return gunzipSync(bytes, limits);
    if (encoding === "br") return brotliDecompressSync(bytes, limits);
    // Some servers send raw deflate without the zlib header (its low nibble is 8).
    if (encoding === "deflate")
      return ((bytes[0] ?? 8) & 15) === 8 ? inflateSync(bytes, limits) : inflateRawSync(bytes, limits);
  } catch (error) {
    if (error instanceof RangeError && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE")
      throw new BodyTooLargeError();
    throw new BodyError(`a ${encoding} body of ${bytes.length} bytes that cannot be decompressed`);
  }
  throw new BodyError(`a body in an encoding that was not asked for (${encoding.slice(0, 40)})`);
}

/**
 * A body in UTF-8, out of the charset that its `Content-Type` declares. JSON is UTF-8 by its specification: what can be read so
 * is, whatever is declared; a charset that Node.js doesn't know changes nothing. A text with bytes that the charset has not stays as it came.
 */
export function inUtf8(body: Buffer, contentType: string | undefined): Buffer {
  const charset = /;\s*charset\s*=\s*"?([\w.:-]+)/i.exec(contentType ?? "")?.[1]?.toLowerCase();
  if (charset === undefined || charset === "utf-8" || charset === "utf8") return body;
  // ASCII in UTF-16 is UTF-8 with NULs, which JSON has not.
  if (isUtf8(body) && !body.includes(0)) return body;
  const decoder = decoderOf(charset);
  if (decoder === undefined) return body;
  const whole = decodedBy(decoder, body);
  return whole ?? Buffer.concat(textsOf(body).map(text => (isUtf8(text) ? text : (decodedBy(decoder, text) ?? text))));
}

function decoderOf(charset: string): TextDecoder | undefined {
  try {
    return new TextDecoder(charset, { fatal: true });
  } catch {
    return undefined;
  }
}

function decodedBy(decoder: TextDecoder, bytes: Buffer): Buffer | undefined {
  try {
    return Buffer.from(decoder.decode(bytes));
  } catch {
    return undefined;
  }
}

/** A body cut behind each quote, which is part of a character in UTF-16 and ISO-2022 alone. */
function textsOf(body: Buffer): readonly Buffer[] {
  const texts: Buffer[] = [];
  for (let from = 0; from < body.length; from += texts.at(-1)!.length) {
    const quote = body.indexOf('"', from);
    texts.push(body.subarray(from, quote < 0 ? body.length : quote + 1));
  }
  return texts;
}

/**
 * The text of UTF-8. A byte that is none becomes half a surrogate pair, U+DC00 and the byte, as Python's `surrogateescape` has
 * it: no database takes that as text, so that the value is a problem, or its row a reject, with the byte to be read from it. As
 * U+FFFD two different keys would be one.
 */
function textOf(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString("utf8");
  let text = "";
  let from = 0;
  for (let at = 0; at < bytes.length; ) {
    const length = sequenceLength(bytes, at);
    if (length > 0) {
      at += length;
      continue;
    }
    text += bytes.toString("utf8", from, at) + String.fromCharCode(0xdc00 + bytes[at]!);
    from = ++at;
  }
  return text + bytes.toString("utf8", from);
}

/** Of the character that begins there, in bytes; 0 where none does. */
function sequenceLength(bytes: Buffer, at: number): number {
  const first = bytes[at]!;
  if (first < 0x80) return 1;
  const length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  return at + length <= bytes.length && isUtf8(bytes.subarray(at, at + length)) ? length : 0;
}

/** UTF-8 JSON to values; numerals that a double cannot hold become a `Numeral`. Not JSON: BodyError. More values than memory is meant for: BodyTooLargeError. */
export function parseJson(bytes: Buffer): unknown {
  if (bytes.length > MANY_VALUES && holdsMoreThan(bytes, MANY_VALUES)) throw new BodyTooLargeError();
  const text = bytes[0] === 0xef ? textOf(bytes).replace(/^\uFEFF/, "") : textOf(bytes);
  try {
    const isFar = mayBeFar.test(text) && farPower.test(text);
    return isFar || losesDigits(bytes) ? parseExactly(text) : JSON.parse(text);
  } catch {
    throw new BodyError(`a body of ${bytes.length} bytes that is not JSON`);
  }
}

/** Three digits of a power of ten may be more than a double reaches: first what takes half as long and hits identifiers too. */
const mayBeFar = /\d[eE][+-]?\d{3}/;
const farPower = /[:,[\s]-?\d[\d.]*[eE][+-]?\d{3}/;

/** Values of one body at most. Rows of 1.7 kB have 50; an empty object takes three bytes of the body and sixty of memory. */
const MANY_VALUES = 5_000_000;

/** Whether more than `limit` values stand in a body: each but the first of its list has a comma before it. */
function holdsMoreThan(bytes: Buffer, limit: number): boolean {
  let values = 0;
  let inText = false;
  for (let at = 0; at < bytes.length && values <= limit; at++) {
    const byte = bytes[at]!;
    if (byte === 34) inText = !inText;
    else if (inText) at += byte === 92 ? 1 : 0;
    else if (byte === 44 || byte === 91 || byte === 123) values++;
  }
  return values > limit;
}

const stride = 15;
const longest = stride + 1;
// What may stand before a numeral in JSON; a run of digits inside a string has a quote or text there.
const before = new Set([..." \t\r\n:,[-"].map(character => character.charCodeAt(0)));

/** Whether a numeral would lose digits in a double: needs 16 or more characters of `[0-9.]`. */
export function losesDigits(bytes: Buffer): boolean {
  let end = 0;
  for (let at = digitFrom(bytes, 0); at >= 0; at = digitFrom(bytes, end)) {
    // A run is looked at once, however long it is.
    end = at + 1;
    while (end < bytes.length && isDigit(bytes[end]!)) end += 1;
    let start = at;
    while (start > 0 && isDigit(bytes[start - 1]!)) start -= 1;
    if (end - start < longest || (start > 0 && !before.has(bytes[start - 1]!))) continue;
    // Floats printed in full are long and lose nothing: the exact parser, five times slower, is not for them.
    const numeral = /^[\d./]+(?:[eE][+-]?\d+)?/.exec(bytes.toString("latin1", start, end + 12))?.[0] ?? "";
    if (!sameNumber(numeral, Number(numeral))) return true;
  }
  return false;
}

/** A digit from `at` on, or -1: every 15th byte is looked at (0.3 µs a row of 1.7 kB). */
function digitFrom(bytes: Buffer, at: number): number {
  let place = Math.ceil(at / stride) * stride;
  while (place < bytes.length && !isDigit(bytes[place]!)) place += stride;
  return place < bytes.length ? place : -1;
}

// [./0-9] in one comparison: a slash only makes a few more pages take the exact parser.
function isDigit(byte: number): boolean {
  return (byte - 46) >>> 0 < 12;
}
