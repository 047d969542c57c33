import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from "node:zlib";
import { Numeral } from "../numeral.ts";

/** The body is larger than the ceiling, decompressed. */
export class BodyTooLargeError extends Error {
  override readonly name = "BodyTooLargeError";
}

/** The body cannot be decoded or is not JSON: cut off on its way, or not the service's. `message` shows nothing of the body. */
export class BodyError extends Error {
  override readonly name = "BodyError";
}

/** The encodings `decompress` reads, as the value of Accept-Encoding. */
export const acceptEncoding = "gzip, br, deflate";

/** Undoes a Content-Encoding. At most `maxBytes` come into being (BodyTooLargeError); a cut or broken stream is a BodyError. */
export function decompress(body: Buffer, contentEncoding: string | undefined, maxBytes: number): Buffer {
  let bytes = body;
  const encodings = contentEncoding?.toLowerCase().split(",").reverse() ?? [];
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
 * UTF-8 JSON to values. A numeral whose digits a double cannot hold becomes a `Numeral`; every other is a number.
 * On pages without a long digit run, `1e400` is Infinity (looking for exponents costs more than all other checks). Not JSON: BodyError.
 */
export function parseJson(bytes: Buffer): unknown {
  const text = bytes[0] === 0xef ? bytes.toString("utf8").replace(/^\uFEFF/, "") : bytes.toString("utf8");
  try {
    return losesDigits(bytes) ? JSON.parse(text, exactly) : JSON.parse(text);
  } catch {
    throw new BodyError(`a body of ${bytes.length} bytes that is not JSON`);
  }
}

const stride = 15;
const longest = stride + 1;
// What may stand before a numeral in JSON; a run of digits inside a string has a quote or text there.
const before = new Set([..." \t\r\n:,[-"].map(character => character.charCodeAt(0)));

/** Whether a numeral would lose digits in a double: needs 16 or more characters of `[0-9.]`, so every 15th byte is looked at (0.3 µs a row of 1.7 kB). */
export function losesDigits(bytes: Buffer): boolean {
  for (let at = 0; at < bytes.length; at += stride) {
    if (!isDigit(bytes[at]!)) continue;
    let end = at + 1;
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

// [./0-9] in one comparison: a slash only makes a few more pages take the exact parser.
function isDigit(byte: number): boolean {
  return (byte - 46) >>> 0 < 12;
}

function exactly(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number") return value;
  const source = context?.source;
  return source === undefined || sameNumber(source, value) ? value : new Numeral(source);
}

/** Whether the shortest text of a double means the same number as the JSON numeral it was read from; 1.0 and 1e0 are 1. */
export function sameNumber(source: string, value: number): boolean {
  if (String(value) === source) return true;
  return Number.isFinite(value) && canonical(source) === canonical(String(value));
}

/** Sign, significant digits and power of ten of a numeral: equal for numerals that mean the same number. */
function canonical(numeral: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(numeral) ?? [];
  const all = (whole + fraction).replace(/^0+/, "");
  const digits = all.replace(/0+$/, "");
  if (digits === "") return "0";
  return `${sign}${digits}e${BigInt(exponent) - BigInt(fraction.length) + BigInt(all.length - digits.length)}`;
}
