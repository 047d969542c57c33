import { expect, test } from "vitest";
import { requireSchedules } from "../../src/config/schedules.ts";
import { changedKeys, watchChanges } from "../../src/daemon/schedule/source.ts";
import { streams } from "../../streams/index.ts";
import { configOf } from "../daemon/schedule/desk.ts";

const now = Date.parse("2026-03-10T12:00:00Z");

test("schedules that can't be used are refused together, each with its place and what was expected", async () => {
  const loaded = await configOf({
    schedules: [
      { name: "good", cron: "0 2 * * *", streams: ["items", "invoice*", "preset:core"] },
      { name: "minute", cron: "61 2 * * *" },
      { name: "february", cron: "0 0 30 2 *" },
      { name: "misspelt", cron: "0 2 * * *", streams: ["itemz"] },
      { name: "hook", cron: "0 2 * * *" },
      { name: "refresh", cron: "0 2 * * *" },
    ],
    hooks: { secret: "s".repeat(20), streams: ["feeds"] },
  });
  const lines = (() => {
    try {
      requireSchedules(loaded, streams, now);
      return [];
    } catch (error) {
      expect(error).toMatchObject({ name: "ConfigError", exitCode: 2 });
      return (error as Error).message.split("\n");
    }
  })();
  expect(lines).toEqual([
    "The schedules can't be used.",
    expect.stringMatching(
      /config\.yaml:\d+:\d+ schedules\[1\]\.cron \(minute\): expected a cron .*Invalid value for minute: 61.*"61 2 \* \* \*"\.$/,
    ),
    expect.stringMatching(/schedules\[2\]\.cron \(february\): expected a time that comes/),
    expect.stringMatching(/config\.yaml:\d+:\d+ schedules\[3\]\.streams \(misspelt\): .*"itemz".*Did you mean items\?/),
    expect.stringMatching(/schedules\[4\]\.name \(hook\): expected another name/),
    expect.stringMatching(/schedules\[5\]\.name \(refresh\): expected another name/),
    expect.stringMatching(/config\.yaml:\d+:\d+ hooks\.streams: .*"feeds"/),
  ]);
});

test("the schedule that a configuration without one has is good", async () => {
  requireSchedules(await configOf({}), streams, now);
});

test("a file's change is reported once, when two looks find the same; a file that is gone for a moment has not changed", async () => {
  const stamps = ["a", "a", "empty", "b", "b", "b", undefined, "b", "b", undefined, "c", "c", "c"];
  const { changed } = await watchChanges(async () => stamps.shift());
  const told: boolean[] = [];
  while (stamps.length > 0) told.push(await changed());
  //             a      empty  b      b     b      gone   b      b      gone   c      c     c
  expect(told).toEqual([false, false, false, true, false, false, false, false, false, false, true, false]);
});

test("a change that was loaded before it came to rest is not reported again, the next one is", async () => {
  let stamp = "a";
  const { changed, taken } = await watchChanges(async () => stamp);
  stamp = "b";
  await changed();
  await taken();
  const told = [await changed(), await changed()];
  stamp = "c";
  expect([...told, await changed(), await changed()]).toEqual([false, false, false, true]);
});

test("changes are reported by their keys, without values", () => {
  const before = { api: { key: "old", timeout: "30s" }, company: "acme", schedules: [{ name: "a" }], memory: 1 };
  const after = { api: { key: "new", timeout: "30s" }, companies: ["acme"], schedules: [{ name: "b" }], memory: 1 };
  expect(changedKeys(before, after)).toEqual(["api.key", "company", "schedules", "companies"]);
});
