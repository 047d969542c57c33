import { expect, test } from "vitest";
import { criticalPath } from "../../bench/parts/latency.ts";

test("the critical path of lists is the longest one, after the key's own request", () => {
  const counts = { "/auth/me": 1, "/po": 5, "/items": 4 };
  expect(criticalPath({ counts, spentMs: { "/auth/me": 50, "/po": 250, "/items": 200 } })).toBe(50 + 250);
});

test("the critical path of many details is all requests, eight at a time", () => {
  const counts = { "/auth/me": 1, "/po": 8, "/po/{po_number}": 791 };
  const spentMs = { "/auth/me": 100, "/po": 800, "/po/{po_number}": 79_100 };
  expect(criticalPath({ counts, spentMs })).toBe(100 + (80_000 - 100) / 8);
});
