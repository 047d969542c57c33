import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Numeral } from "../../src/numeral.ts";
import { BodyError, BodyTooLargeError, decompress, inUtf8, losesDigits, parseJson } from "../../src/source/body.ts";

const parse = (text: string) => parseJson(Buffer.from(text));

/** The decimal value of a numeral as [coefficient, power of ten], the coefficient without trailing zeros: written apart from the code under test. */
function decimal(numeral: string): [bigint, number] {
  const [mantissa = "", exponent = "0"] = numeral.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  let coefficient = BigInt(whole.replace("-", "") + fraction);
  let power = Number(exponent) - fraction.length;
  if (coefficient === 0n) return [0n, 0];
  while (coefficient % 10n === 0n) {
    coefficient /= 10n;
    power += 1;
  }
  return [mantissa.startsWith("-") ? -coefficient : coefficient, power];
}

const written = (value: unknown) => (value instanceof Numeral ? value.text : String(value));

describe("numerals", () => {
  const digits = (max: number) => fc.string({ unit: fc.constantFrom(..."0123456789"), minLength: 1, maxLength: max });
  const numeral = fc
    .tuple(
      fc.constantFrom("", "-"),
      digits(25).map(text => text.replace(/^0+(?=.)/, "")),
      fc.option(digits(25), { nil: undefined }),
      fc.option(fc.oneof(fc.integer({ min: -30, max: 30 }), fc.integer({ min: -400, max: 400 })), { nil: undefined }),
      fc.constantFrom("e", "E", "e+"),
    )
    .map(([sign, whole, fraction, exponent, e]) => {
      const power = exponent === undefined ? "" : `${exponent < 0 ? e[0] : e}${exponent}`;
      return `${sign}${whole}${fraction === undefined ? "" : `.${fraction}`}${power}`;
    });

  test("text → parse → the same decimal value, wherever the numeral stands on the page", () => {
    fc.assert(
      fc.property(
        fc.array(numeral, { minLength: 1, maxLength: 8 }),
        fc.string({ maxLength: 40 }),
        (numerals, filler) => {
          const rows = numerals.map(text => `{"n": ${text},"s":${JSON.stringify(filler)},"a":[${text},-1]}`);
          const page = parse(`{"data":[${rows.join(",")}]}`) as { data: { n: unknown; a: unknown[] }[] };
          for (const [index, row] of page.data.entries()) {
            expect(decimal(written(row.n))).toEqual(decimal(numerals[index]!));
            expect(decimal(written(row.a[0]))).toEqual(decimal(numerals[index]!));
          }
        },
      ),
      { numRuns: 2000 },
    );
  });

  test("only what a double cannot hold becomes a Numeral", () => {
    expect(parse("[9007199254740993, 0.30000000000000001, 12345678901234567.123456789]")).toEqual([
      new Numeral("9007199254740993"),
      new Numeral("0.30000000000000001"),
      new Numeral("12345678901234567.123456789"),
    ]);
    expect(
      parse("[9007199254740993, 1.0, 1e2, 0.1, 0.30000000000000004, 100000000000000000000, 1.50000000000000000]"),
    ).toEqual([new Numeral("9007199254740993"), 1, 100, 0.1, 0.30000000000000004, 1e20, 1.5]);
    expect(parse("[9007199254740993,1e400]")).toEqual([new Numeral("9007199254740993"), new Numeral("1e400")]);
    expect(Object.is((parse("[-0]") as number[])[0], -0)).toBe(true);
  });

  test("what only looks like a numeral stays text, and one of any power of ten is exact", () => {
    expect(parse('["9007199254740993","\\"9007199254740993",{"\\\\":[-9007199254740993]},"x: 1e400"]')).toEqual([
      "9007199254740993",
      '"9007199254740993',
      { "\\": [new Numeral("-9007199254740993")] },
      "x: 1e400",
    ]);
    expect(parse('{"a":1e400,"b":-1.5E-400,"c":1e-7,"d":1e999999999}')).toEqual({
      a: new Numeral("1e400"),
      b: new Numeral("-1.5E-400"),
      c: 1e-7,
      d: new Numeral("1e999999999"),
    });
    expect(parse("12345678901234567890")).toEqual(new Numeral("12345678901234567890"));
  });

  test("floats printed in full and digits in strings leave the page to the quick parser", () => {
    expect(
      losesDigits(
        Buffer.from('{"a":0.30000000000000004,"b":"12345678901234567890","c":"2026-01-01T00:00:00.123456789Z"}'),
      ),
    ).toBe(false);
    expect(losesDigits(Buffer.from('{"a":12345678901234567}'))).toBe(true);
    for (let shift = 0; shift < 32; shift += 1) {
      expect(losesDigits(Buffer.from(`${" ".repeat(shift)}-9007199254740993`))).toBe(true);
    }
  });
});

describe("parseJson", () => {
  test("strange keys stay the row's own and reach no prototype", () => {
    for (const extra of ["1", "9007199254740993"]) {
      const row = parse(`{"__proto__":{"polluted":${extra}},"constructor":null}`) as object;
      expect(Object.keys(row)).toEqual(["__proto__", "constructor"]);
      expect(Object.getPrototypeOf(row)).toBe(Object.prototype);
      expect("polluted" in {}).toBe(false);
    }
  });

  test("UTF-8, with or without a byte order mark", () => {
    expect(parse('{"a":"Žluťoučký 🦄"}')).toEqual({ a: "Žluťoučký 🦄" });
    expect(parse("\ufeff[1]")).toEqual([1]);
  });

  test.each([
    "",
    "<html>",
    '{"a":',
    "[1,]",
    "[9007199254740993",
    "[09007199254740993]",
    "[9007199254740993.]",
    "{9007199254740993:1}",
    '{9007199254740993 :1,"a":9007199254740993}',
    '{"a":9007199254740993"}',
  ])("%j is no JSON, and the error does not show it", text => {
    expect(() => parse(text)).toThrow(BodyError);
    if (text !== "") expect(() => parse(text)).not.toThrow(text);
  });
});

describe("decompress", () => {
  const plain = Buffer.from(JSON.stringify({ data: "x".repeat(1000) }));

  test.each([
    ["gzip", gzipSync(plain)],
    ["GZIP", gzipSync(plain)],
    ["br", brotliCompressSync(plain)],
    ["deflate", deflateSync(plain)],
    ["deflate", deflateRawSync(plain)],
    ["deflate, gzip", gzipSync(deflateSync(plain))],
    ["identity", plain],
    [undefined, plain],
  ])("%s", (encoding, bytes) => {
    expect(decompress(bytes, encoding, 10_000).equals(plain)).toBe(true);
    expect(() => decompress(bytes, encoding, 500)).toThrow(BodyTooLargeError);
  });

  test("a body that was cut off, and an encoding nobody asked for", () => {
    expect(() => decompress(gzipSync(plain).subarray(0, 20), "gzip", 10_000)).toThrow(BodyError);
    expect(() => decompress(brotliCompressSync(plain).subarray(0, 20), "br", 10_000)).toThrow(BodyError);
    expect(() => decompress(Buffer.alloc(0), "gzip", 10_000)).toThrow(BodyError);
    expect(() => decompress(plain, "zstd", 10_000)).toThrow(/zstd/);
  });

  test("a bomb ends at the ceiling", () => {
    const bomb = gzipSync(Buffer.alloc(200 * 1024 * 1024));
    expect(bomb.length).toBeLessThan(1024 * 1024);
    const before = process.memoryUsage().arrayBuffers;
    expect(() => decompress(bomb, "gzip", 8 * 1024 * 1024)).toThrow(BodyTooLargeError);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 * 1024);
  });
});

describe("characters", () => {
  test("a byte that is no UTF-8 stays what it is: two different keys stay two", () => {
    const cut = Buffer.concat([Buffer.from('{"a":"M'), Buffer.from([0xfc, 0xe4]), Buffer.from('ß€😀","b":1}')]);
    expect(parseJson(cut)).toEqual({ a: "M\udcfc\udce4ß€😀", b: 1 });
    const [one, other] = [0xe4, 0xf6].map(byte => parseJson(Buffer.from([0x22, byte, 0x22])));
    expect(one).not.toBe(other);
    // The beginning of a character, a character in more bytes than it needs, and half a surrogate pair.
    for (const bytes of [
      [0xe2, 0x82],
      [0xc0, 0xaf],
      [0xed, 0xa0, 0x80],
    ])
      expect(parseJson(Buffer.from([0x22, ...bytes, 0x22]))).toBe(
        String.fromCharCode(...bytes.map(byte => 0xdc00 + byte)),
      );
  });

  test("text is written as it was read", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), text => {
        expect(parse(JSON.stringify(text))).toBe(text);
      }),
    );
  });

  const latin = Buffer.from('{"a":"Mü"}', "latin1");
  const greek = Buffer.concat(
    [[0x41, 0xe1], [0x41, 0xaa], [0xe1]]
      .map((bytes, at) =>
        Buffer.concat([Buffer.from(`${at === 0 ? "{" : ","}"${"abc"[at]}":"`), Buffer.from(bytes), Buffer.from('"')]),
      )
      .concat(Buffer.from("}")),
  );
  const wide = Buffer.from('{"a":"M"}', "utf16le");
  test.each([
    ["application/json; charset=iso-8859-1", latin, { a: "Mü" }],
    ['application/json; Charset="windows-1252"', latin, { a: "Mü" }],
    ["application/json; charset=utf-16le", wide, { a: "M" }],
    // JSON is UTF-8, whatever a proxy says by default.
    ["application/json; charset=iso-8859-1", Buffer.from('{"a":"Mü"}'), { a: "Mü" }],
    ["application/json; charset=klingon", latin, { a: "M\udcfc" }],
    ["application/json", latin, { a: "M\udcfc" }],
    [undefined, latin, { a: "M\udcfc" }],
    // A text that its charset cannot read keeps its bytes; the others are read.
    ["application/json; charset=windows-1253", greek, { a: "Aα", b: "A\udcaa", c: "α" }],
  ])("%s", (contentType, bytes, expected) => {
    expect(parseJson(inUtf8(bytes, contentType))).toEqual(expected);
  });
});
