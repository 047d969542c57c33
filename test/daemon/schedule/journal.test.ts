import { expect, test } from "vitest";
import { keepJournal } from "../../../src/daemon/schedule/journal.ts";
import { configOf, desk } from "./desk.ts";

test("the journal says what runs next, what began, how it ended and what comes of it", async () => {
  const nightly = { name: "nightly", cron: "0 2 * * *", retries: 2, retry_after: "10m" };
  const { clock, daemon, scripts, offer } = await desk("2026-03-10T20:00:00Z", { schedules: [nightly] });
  const lines: [string, string, object][] = [];
  const at = (level: string) => (facts: object, message: string) => void lines.push([level, message, facts]);
  const stop = keepJournal(daemon, { info: at("info"), warn: at("warn"), debug: at("debug") });
  scripts.push({ throws: new Error("no luck") }, { code: 1, streams: { items: "failed" } });
  await clock.until("2026-03-11T12:00:00Z");
  const told = lines.map(([level, message]) => `${level} ${message}`);
  expect(told).toEqual([
    "info next run",
    "info a run begins",
    expect.stringMatching(/^warn the run could not begin, and is tried again: This is a bug .*no luck/),
    "info a run begins",
    "warn the run failed, and is tried again",
    "info a run begins",
    "info the run ended well",
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
  expect(lines.map(([, message]) => message)).toEqual([
    expect.stringMatching(
      /^The new configuration is in use; changed: .*schedules.*\. A run under way ends with the one/,
    ),
    expect.stringContaining("No schedule has a next time"),
    expect.stringMatching(/^The configuration is kept as it was\. .*nonsense/),
    "The configuration was read again: it does not differ from the one in use.",
  ]);
  stop();
  daemon.reload();
  await clock.settle();
  expect(lines).toHaveLength(4);
});
