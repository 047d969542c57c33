import { expect, test } from "vitest";
import type { Company } from "../../../src/config/config.ts";
import type { Api } from "../../../src/source/api.ts";
import { DayLimit, keyLockOf } from "../../../src/sync/run/service.ts";

const company = (name: string, key: string, baseUrl = "https://a.example"): Company => ({
  ...{ name, baseUrl, key: () => key, refreshKey: async () => key },
});
const DAY_MS = 86_400_000;

test("a day's limit counts what was sent for all companies with the key, also for those that the run leaves out", () => {
  let now = 10 * DAY_MS;
  const day = new DayLimit(100, { now: () => now, sleep: async () => undefined });
  const [one, beside, other] = [company("one", "k"), company("beside", "k"), company("other", "l")];
  const stats = { requests: 0 };
  const api = { stats } as unknown as Api;
  day.note(new Map(Object.entries({ one: 30, beside: 20, other: 50 })), [one, beside, other]);
  day.add(one, api);
  expect(day.mostOf(one, api)).toBe(50);
  stats.requests = 40;
  now += DAY_MS;
  expect(day.mostOf(one, api)).toBe(140);
});

test("companies with one key at one origin have one lock, and its name tells nothing of the key", () => {
  const key = "sk-0123456789";
  const same = [company("one", key), company("two", key, "https://a.example/path")].map(keyLockOf);
  expect(same[0]).toEqual(same[1]);
  const others = [company("one", "sk-other"), company("one", key, "https://b.example")].map(keyLockOf);
  expect(new Set([...same, ...others].map(([name]) => name)).size).toBe(3);
  expect(same[0]![0]).toMatch(/^key [0-9a-f]{16}$/);
});
