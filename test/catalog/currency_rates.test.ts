import { describe, expect, test } from "vitest";
import { currencyFactors, type ReportingCurrency } from "../../src/catalog/currency_rates.ts";

const week: ReportingCurrency = { report: "EUR", maxAgeMs: 7 * 86_400_000 };
const factors = (text: string, currency: ReportingCurrency = week) =>
  currencyFactors(text.split("\n"), currency).map(({ currency: code, day, factor }) => `${code} ${day} ${factor}`);

// The head of the bank's file, the comma at the end of its lines included.
const ecb = `Date,USD,JPY,CYP,
2026-03-05,1.25,160,N/A,
2026-03-04,1.6,150,0.5,`;

describe("the factors of amounts", () => {
  test("the European Central Bank's history is taken as it is: units for one euro, the latest day first", () => {
    expect(factors(ecb, { ...week, maxAgeMs: 86_400_000 })).toEqual([
      "USD 2026-03-04 0.625000000000000",
      "USD 2026-03-05 0.800000000000000",
      "JPY 2026-03-04 0.006666666666667",
      "JPY 2026-03-05 0.006250000000000",
      "CYP 2026-03-04 2.000000000000000",
    ]);
  });

  test("another reporting currency than the file's base is reached by both rates of the day", () => {
    expect(factors(ecb, { report: "USD", maxAgeMs: 86_400_000 })).toEqual([
      "JPY 2026-03-04 0.010666666666667",
      "JPY 2026-03-05 0.007812500000000",
      "CYP 2026-03-04 3.200000000000000",
      "EUR 2026-03-04 1.600000000000000",
      "EUR 2026-03-05 1.250000000000000",
    ]);
  });

  test("a list of date, currency and rate is for one unit of the reporting currency, or of `base`, its columns in any order", () => {
    const list = "currency;rate;date;source\nusd;1.6;2026-03-04;bank\nCHF;0.8;2026-03-04;bank";
    expect(factors(list, { ...week, maxAgeMs: 1 })).toEqual([
      "USD 2026-03-04 0.625000000000000",
      "CHF 2026-03-04 1.250000000000000",
    ]);
    expect(factors(list, { report: "USD", base: "EUR", maxAgeMs: 1 })).toEqual([
      "CHF 2026-03-04 2.000000000000000",
      "EUR 2026-03-04 1.600000000000000",
    ]);
  });

  test("a rate holds until the next one, and for max_age at most", () => {
    const days = (maxAgeMs: number) =>
      factors("date,currency,rate\n2026-03-04,USD,2\n2026-03-07,USD,4", { report: "EUR", maxAgeMs }).map(line =>
        line.slice(4, 18),
      );
    expect(days(2 * 86_400_000)).toEqual(
      ["2026-03-04 0.5", "2026-03-05 0.5", "2026-03-07 0.2", "2026-03-08 0.2"].map(day => day.padEnd(14)),
    );
  });

  test.each([
    ["", "currency.rates: expected a first line with date, currency and rate"],
    ["date;currency;rate\n04.03.2026;USD;2", 'line 2: expected a date such as 2026-03-31, got "04.03.2026"'],
    ["date,currency,rate\n2026-03-04,US dollar,2", "line 2: expected a currency's three letters"],
    ["date,currency,rate\n2026-03-04,USD,0", 'line 2: expected a rate of USD above 0 such as 1.0837, got "0"'],
    ["date;currency;rate\n2026-03-04;USD;1,6", 'line 2: expected a rate of USD above 0 such as 1.0837, got "1,6"'],
    ["date,currency,rate\n2026-03-04,USD,2\n2026-03-04,USD,3", "line 3: expected one rate of USD for 2026-03-04"],
  ])("%j is refused, and the line is named", (text, message) => {
    expect(() => factors(text)).toThrow(message);
  });

  test("a file without rates of the reporting currency is refused", () => {
    expect(() => factors(ecb, { ...week, report: "SEK" })).toThrow(
      "currency: expected rates of SEK, got those of CYP, JPY, USD for one EUR",
    );
  });

  test("a factor that has no room beside an amount is none", () => {
    expect(factors("date,currency,rate\n2026-03-04,XAU,0.000000001", { ...week, maxAgeMs: 1 })).toEqual([]);
  });
});
