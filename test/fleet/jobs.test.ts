import { expect, test } from "vitest";
import { companyData, companyDataOf, runData, runDataOf } from "../../src/fleet/job_data.ts";
import { companyPriority, LEAST_OF_DUE, runPriority } from "../../src/fleet/priority.ts";
import { asDue } from "../../src/sync/context.ts";

test("what was asked for travels as JSON, and nothing of a configuration or its keys does", () => {
  const selection = { names: ["a"], named: ["a"], company: undefined };
  const limits = { maxTimeMs: 1_000, maxRequests: undefined, waitMs: 5 };
  const order = { command: "sync", selection, refresh: { ...asDue, full: true }, limits, config: { secret: "key" } };
  const data = runDataOf(order as never, { runId: "r", startedAt: "2026-01-01", isRetry: false });
  const shared = {
    ...{ runId: "r", startedAt: "2026-01-01", askedAt: "2026-01-01", command: "sync", waitMs: 5 },
    refresh: { full: true, allDetails: false, confirmDeletes: false, resume: false },
  };
  const travelled: unknown = JSON.parse(JSON.stringify(data));
  expect(travelled).toEqual({ ...shared, selection: { names: ["a"], named: ["a"] }, maxTimeMs: 1_000 });
  const own = companyDataOf(runData.parse(travelled), "acme", "key 0");
  expect(JSON.parse(JSON.stringify(own))).toEqual({
    ...{ ...shared, company: "acme", keyLock: "key 0" },
    selection: { names: ["a"], named: ["a"], company: "acme" },
  });
  expect(() => companyData.parse(travelled)).toThrow("company");
});

test("runs take turns, what is due goes before a backfill, and the kept place takes what is due alone", () => {
  const due = [0, 1, 2, 250_000].map(turn => companyPriority(turn, {}));
  const history = [0, 1, 250_000].map(turn => companyPriority(turn, { backfill: {} }));
  expect(due).toEqual(due.toSorted((a, b) => b - a));
  expect(new Set(due.slice(0, 3)).size).toBe(3);
  expect(Math.min(...due)).toBeGreaterThanOrEqual(LEAST_OF_DUE);
  expect(Math.max(...history)).toBeLessThan(LEAST_OF_DUE);
  expect(Math.min(...history)).toBeGreaterThan(0);
  expect(runPriority({})).toBeGreaterThan(runPriority({ backfill: {} }));
});
