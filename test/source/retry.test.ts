import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { backoff, httpDate, limitedWait, retryAfterMs } from "../../src/source/retry.ts";

const now = Date.UTC(2026, 5, 1, 12);

describe("Retry-After", () => {
  test("seconds, with or without a fraction", () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), seconds => {
        expect(retryAfterMs(String(seconds), new Date(now))).toBe(seconds * 1000);
        expect(retryAfterMs(` ${seconds} `, new Date(now))).toBe(seconds * 1000);
      }),
    );
    expect(retryAfterMs("1.5", new Date(now))).toBe(1500);
  });

  test("an HTTP date is measured against the answer's time", () => {
    const seconds = fc.integer({ min: -100_000, max: 100_000 });
    fc.assert(
      fc.property(seconds, seconds, (wait, skew) => {
        const date = new Date(now + skew * 1000);
        const header = new Date(date.getTime() + wait * 1000).toUTCString();
        expect(retryAfterMs(header, date)).toBe(Math.max(0, wait * 1000));
      }),
    );
  });

  test.each([undefined, "", "soon", "-5", "1e3", "0x10", "12 apples"])("%j is no wait", header => {
    expect(retryAfterMs(header, new Date(now))).toBeUndefined();
  });

  test("any text gives undefined or a length of time", () => {
    fc.assert(
      fc.property(fc.string(), header => {
        const wait = retryAfterMs(header, new Date(now));
        expect(wait === undefined || wait >= 0).toBe(true);
      }),
    );
  });
});

test("httpDate reads the Date header", () => {
  expect(httpDate("Sun, 06 Nov 1994 08:49:37 GMT")?.toISOString()).toBe("1994-11-06T08:49:37.000Z");
  expect(httpDate("Sunday, 06-Nov-94 08:49:37 GMT")?.toISOString()).toBe("1994-11-06T08:49:37.000Z");
  expect(httpDate("7")).toBeUndefined();
  expect(httpDate(undefined)).toBeUndefined();
});

test("backoff: full jitter below 0.5, 1, 2, 4 … 30 s, never less than the service asked for", () => {
  expect([1, 2, 3, 4, 5, 7, 9].map(failures => backoff(failures, () => 1))).toEqual([
    500, 1000, 2000, 4000, 8000, 30_000, 30_000,
  ]);
  expect(backoff(5, () => 0)).toBe(0);
  expect(backoff(3, () => 0.25)).toBe(500);
  expect(backoff(1, () => 1, 7000)).toBe(7000);
});

test("limitedWait: what the service asks, else from 1 s on doubling, with half as much jitter", () => {
  expect(limitedWait(9, 1234, () => 1)).toBe(1234);
  expect([1, 2, 3, 10].map(count => limitedWait(count, undefined, () => 0))).toEqual([1000, 2000, 4000, 60_000]);
  expect(limitedWait(1, undefined, () => 1)).toBe(1500);
  expect(limitedWait(1, 0, () => 0)).toBe(1000);
});
