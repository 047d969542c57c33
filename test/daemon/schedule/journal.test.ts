import { expect, test } from "vitest";
import { keepJournal } from "../../../src/daemon/schedule/journal.ts";
import type { Message } from "../../../src/message.ts";
import { logTo } from "../../support/log.ts";
import { configOf, desk } from "./desk.ts";

test("the journal says what runs next, what began, how it ended and what comes of it", async () => {
  const nightly = { name: "nightly", cron: "0 2 * * *", retries: 2, retry_after: "10m" };
  const { clock, daemon, scripts, offer } = await desk("2026-03-10T20:00:00Z", { schedules: [nightly] });
  const lines: [string, Message, object][] = [];
  const log = logTo((_, facts, level, message) => lines.push([level, message!, facts]));
  const stop = keepJournal(daemon, log);
  scripts.push({ throws: new Error("no luck") }, { code: 1, streams: { items: "failed" } });
  await clock.until("2026-03-11T12:00:00Z");
  const failed = { is_retried: true };
  expect(lines).toMatchObject([
    ["info", { code: "schedule.next_run" }, {}],
    ["info", { code: "schedule.run_begins" }, {}],
    ["warn", { code: "schedule.run_not_begun", fields: { ...failed, reason: expect.stringContaining("no luck") } }, {}],
    ["info", { code: "schedule.run_begins" }, {}],
    ["warn", { code: "schedule.run_failed", fields: failed }, {}],
    ["info", { code: "schedule.run_begins" }, {}],
    ["info", { code: "schedule.run_succeeded" }, {}],
  ]);
  expect(lines[0]?.[2]).toEqual({ schedule: "nightly", at: "2026-03-11T02:00:00.000Z" });
  expect(lines[2]?.[2]).toMatchObject({ exit_code: 70, retry_at: "2026-03-11T02:11:00.000Z" });
  expect(lines[4]?.[2]).toMatchObject({
    cause: "retry",
    run_id: "r",
    requests: 0,
    retry_at: "2026-03-11T02:32:00.000Z",
    failed: ["items"],
  });
  lines.length = 0;
  offer((await configOf({ schedules: [] })).config);
  await clock.until("2026-03-11T12:00:10Z");
  offer(new Error("nonsense"));
  await clock.until("2026-03-11T12:00:20Z");
  daemon.reload();
  await clock.settle();
  expect(lines.map(([, message]) => message)).toMatchObject([
    { code: "schedule.config_changed", fields: { changed: expect.arrayContaining(["schedules"]) } },
    { code: "schedule.no_next_run" },
    { code: "schedule.config_refused", fields: { reason: expect.stringContaining("nonsense") } },
    { code: "schedule.config_unchanged" },
  ]);
  stop();
  daemon.reload();
  await clock.settle();
  expect(lines).toHaveLength(4);
});
