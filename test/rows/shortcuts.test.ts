import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Kind } from "../../src/catalog/columns.ts";
import { CsvWriter } from "../../src/rows/csv.ts";
import { decimal } from "../../src/rows/decimal.ts";
import { type Reading, writeValue } from "../../src/rows/encode_value.ts";
import { isoUtc, momentText, readMoment, writeUsualMoment } from "../../src/rows/moment.ts";

interface Written extends Reading {
  readonly text: string;
}

function written(kind: Kind, value: unknown): Written {
  const writer = new CsvWriter(1);
  const reading: Reading = { problem: undefined, note: undefined, rounded: 0, wide: false };
  writeValue(writer, kind, value, isoUtc, reading);
  return { ...reading, text: writer.bytes.toString("latin1", 0, writer.position) };
}

/** What the long way makes of a decimal's text, without any short cut. */
function theLongWay(text: string): Written {
  const result = decimal(text, 9, 29);
  const nothing = { note: undefined, rounded: 0, wide: false, text: "" };
  if (text === "") return { ...nothing, problem: undefined, rounded: 1 };
  if (result === undefined) return { ...nothing, problem: "expected a number, got other text" };
  if (result === "range") return { ...nothing, problem: "expected at most 29 digits before the point, got more" };
  const wide = result.integerDigits > 12 || result.fractionDigits > 6;
  return { problem: undefined, note: undefined, rounded: result.rounded ? 1 : 0, wide, text: result.text };
}

const cents = fc.tuple(fc.integer({ min: -(10 ** 15), max: 10 ** 15 }), fc.integer({ min: 0, max: 8 }));
const numbers = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -2e9, max: 2e9 }),
  fc.integer(),
  cents.map(([digits, places]) => digits / 10 ** places),
  fc.constantFrom(0, -0, 999_999_999, 999_999_999.999999, 1e9, 1e-6, 1e-7, 0.0000015, 0.9999999, 4.35, 1e15, -0.000001),
);
const numerals = fc.oneof(
  fc.stringMatching(/^-?\d{1,14}(\.\d{1,12})?$/),
  fc.stringMatching(/^-?(0|[1-9]\d{0,12})\.\d{0,3}0{0,12}$/),
  fc.stringMatching(/^[-+]?\d{0,3}\.?\d{0,3}([eE]-?\d)?$/),
  fc.constantFrom("-0", "-0.0", "0.000", "00.5", "1.", ".5", "-", "", "1..2", "1.2.3", " 1", "1 ", "-0.5"),
);

describe("short cuts of the encoder", () => {
  test("a number is written as String() would, or not at all", () => {
    fc.assert(
      fc.property(numbers, number => {
        const writer = new CsvWriter(1);
        const done = writer.number(number);
        expect(writer.bytes.toString("latin1", 0, writer.position)).toBe(done ? String(number) : "");
      }),
      { numRuns: 20_000 },
    );
    for (const short of [0.1, 12.34, 123456789.123456, 5, -7.5, 999_999_999])
      expect(new CsvWriter(1).number(short)).toBe(true);
  });

  test("a decimal that came as a number is what its numeral means", () => {
    fc.assert(
      fc.property(numbers, number => {
        expect(written("money", number)).toEqual(theLongWay(String(number)));
      }),
      { numRuns: 20_000 },
    );
  });

  test("a decimal that came as text is what the long way makes of it", () => {
    fc.assert(
      fc.property(numerals, text => {
        expect(written("money", text)).toEqual(theLongWay(text));
      }),
      { numRuns: 20_000 },
    );
  });

  test("counts and scores agree with it", () => {
    fc.assert(
      fc.property(numerals, text => {
        const long = theLongWay(text);
        const whole = long.problem === undefined && long.rounded === 0 && !long.text.includes(".");
        expect(written("count", text).text).toBe(whole ? long.text : "");
        const isNumber = decimal(text, 0, Number.MAX_SAFE_INTEGER) !== undefined;
        expect(written("score", text).text).toBe(isNumber ? String(Number(text) + 0) : "");
      }),
      { numRuns: 20_000 },
    );
  });

  test("64 bits are written as the signed integer they are", () => {
    const written = (bits: bigint): string => {
      const writer = new CsvWriter(1);
      writer.bits(bits);
      return writer.bytes.toString("latin1", 0, writer.position);
    };
    const powers = fc.tuple(fc.constantFrom(2n, 10n), fc.bigInt(0n, 64n), fc.bigInt(-1n, 1n));
    const any = fc.oneof(
      fc.bigInt(-(2n ** 64n), 2n ** 64n),
      powers.map(([base, power, more]) => base ** power + more),
    );
    fc.assert(
      fc.property(any, fc.boolean(), (bits, isNegative) => {
        const signed = isNegative ? -bits : bits;
        expect(written(signed)).toBe(String(BigInt.asIntN(64, signed)));
      }),
      { numRuns: 20_000 },
    );
  });

  test("a text is written as UTF-8 in quotes, or not at all", () => {
    const units = fc.constantFrom(
      "a",
      '"',
      "\u00e9",
      "\u07ff",
      "\u0800",
      "\ud7ff",
      "\ue000",
      "\uffff",
      "😀",
      "\ud83d",
      "\0",
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          fc.array(units).map(all => all.join("")),
        ),
        text => {
          const writer = new CsvWriter(1);
          const done = writer.text(text);
          expect(done).toBe(!text.includes("\0") && text.isWellFormed());
          const whole = writer.bytes.toString("utf8", 0, writer.position);
          expect(whole).toBe(done ? `"${text.replaceAll('"', '""')}"` : "");
        },
      ),
      { numRuns: 20_000 },
    );
  });

  test("a moment that is copied is what reading and printing it makes", () => {
    const parts = fc.tuple(
      fc.stringMatching(/^(00|17|19|20|21)\d\d-[01]\d-[0-3]\d$/),
      fc.constantFrom("T", " "),
      fc.stringMatching(/^[0-2]\d:[0-6]\d:[0-6]\d$/),
      fc.oneof(fc.constant(""), fc.stringMatching(/^[.,]\d{0,8}$/)),
      fc.oneof(fc.constantFrom("Z", "z", "+00:00", ""), fc.stringMatching(/^[-+][01]\d:[0-6]\d$/)),
    );
    fc.assert(
      fc.property(parts, ([day, between, time, fraction, zone]) => {
        const text = day + between + time + fraction + zone;
        const micros = readMoment(text, isoUtc);
        const long = micros === undefined ? "" : momentText(micros);
        const writer = new CsvWriter(1);
        const copied = writeUsualMoment(writer, text) ? writer.bytes.toString("latin1", 0, writer.position) : long;
        // Far from 1970 microseconds are more than a double holds: there only the copy is exact.
        const comparable = Number.isSafeInteger(micros ?? 0) ? (all: string) => all : (all: string) => all.slice(0, 19);
        expect(comparable(copied)).toBe(comparable(long));
        expect(comparable(written("moment", text).text)).toBe(comparable(long));
        expect(written("date", text).text).toBe(micros === undefined ? "" : day);
      }),
      { numRuns: 20_000 },
    );
    for (const usual of ["2026-07-07T04:09:22Z", "2026-07-07T04:09:22.120Z", "2026-07-07T04:09:22-05:00"])
      expect(writeUsualMoment(new CsvWriter(1), usual)).toBe(true);
  });
});
