import { expect, test } from "vitest";
import { unconfigured } from "../../../src/config/config.ts";
import { selectedByConfig } from "../../../src/config/selection.ts";
import { checkSchedules } from "../../../src/operations/check/schedules.ts";
import { configured } from "../../../src/privacy/configured_catalog.ts";
import { streams } from "../../../streams/index.ts";
import { loaded } from "./loaded.ts";

async function linesOf(schedules: readonly object[], more: object = {}, now = "2026-11-21T21:42:00Z") {
  const config = await loaded({ schedules, ...more });
  const catalogue = configured(streams, unconfigured());
  const on = selectedByConfig(catalogue, config.config.streams);
  return [...checkSchedules({ loaded: config, catalogue, on, now: Date.parse(now) })];
}

const nightly = { name: "nightly", cron: "0 2 * * *" };

test("each schedule tells its next three times by its own clock, over the change of it", async () => {
  const berlin = { name: "berlin", cron: "30 2 * * *", timezone: "Europe/Berlin" };
  const newYork = { name: "new_york", cron: "15 0 6 * * MON-FRI", timezone: "America/New_York" };
  const spring = await linesOf([nightly, berlin, newYork], {}, "2026-03-27T12:00:00Z");
  expect(spring.filter(({ code }) => code === "check.schedule")).toMatchObject(
    [
      [
        "nightly",
        '"0 2 * * *" in UTC: next Sat 2026-03-28 02:00 +00:00, Sun 2026-03-29 02:00 +00:00, Mon 2026-03-30 02:00 +00:00',
      ],
      [
        "berlin",
        '"30 2 * * *" in Europe/Berlin: next Sat 2026-03-28 02:30 +01:00, Sun 2026-03-29 03:00 +02:00, Mon 2026-03-30 02:30 +02:00',
      ],
      [
        "new_york",
        '"15 0 6 * * MON-FRI" in America/New_York: next Mon 2026-03-30 06:00 -04:00, Tue 2026-03-31 06:00 -04:00, Wed 2026-04-01 06:00 -04:00',
      ],
    ].map(([name, message]) => ({ name: `schedule ${name}`, level: "ok", message, advice: null })),
  );
});

test("an expression that nobody can read fails with its place, and the others are told all the same", async () => {
  const lines = await linesOf([nightly, { name: "broken", cron: "0 25 * * *" }, { name: "never", cron: "0 0 31 2 *" }]);
  const [broken] = lines;
  expect(broken).toMatchObject({ name: "schedules", level: "fail", exitCode: 2 });
  expect(broken?.advice).toMatch(/schedules\[1\]\.cron \(broken\): .*Got "0 25 \* \* \*"/);
  expect(broken?.advice).toMatch(/schedules\[2\]\.cron \(never\): .*no such day/);
  expect(lines.map(({ name }) => name)).toEqual(["schedules", "schedule nightly"]);
});

test("names of streams that don't exist fail, of schedules and of hooks", async () => {
  const hooks = { secret: "0123456789abcdef", streams: ["ingsted"] };
  const [line] = await linesOf([{ ...nightly, streams: ["invoces"] }], { hooks });
  expect(line).toMatchObject({ name: "schedules", level: "fail", exitCode: 2 });
  expect(line?.advice).toMatch(/streams \(nightly\).*Did you mean invoices\?/);
  expect(line?.advice).toMatch(/hooks\.streams.*Did you mean ingested\?/);
});

test("two schedules that meet in a minute are pointed out, and doubly read streams are a warning", async () => {
  const sunday = { name: "sunday", cron: "0 3 * * SUN", timezone: "Europe/Berlin" };
  const met = (lines: Awaited<ReturnType<typeof linesOf>>) =>
    lines.filter(({ code }) => code === "check.schedules_meet" || code === "check.schedules_overlap");
  const [line] = met(await linesOf([nightly, sunday]));
  expect(line).toMatchObject({
    ...{ name: "schedules", level: "warn", code: "check.schedules_overlap" },
    message: expect.stringContaining("Sun 2026-11-22 02:00 +00:00"),
    fields: { schedules: ["nightly", "sunday"], at: "2026-11-22T02:00:00.000Z", timezone: "UTC" },
  });
  const apart = [
    { ...nightly, streams: ["purchase_order*"] },
    { ...sunday, streams: ["items"] },
  ];
  expect(met(await linesOf(apart))).toMatchObject([{ level: "ok", code: "check.schedules_meet" }]);
  // Only in the same minute, whatever the seconds.
  expect(met(await linesOf([nightly, { ...sunday, cron: "1 3 * * SUN" }]))).toEqual([]);
  expect(met(await linesOf([nightly, { ...sunday, cron: "59 0 3 * * SUN" }]))).toHaveLength(1);
});

test("streams that no schedule reads are named; a daily run of all leaves nothing out and is never late", async () => {
  const warnings = (await linesOf([{ ...nightly, streams: ["purchase_orders", "items"] }])).filter(
    ({ level }) => level === "warn",
  );
  const unread = ["invoices", "findings", "findings_summary", "ingested", "purchase_order_details", "invoice_matches"];
  expect(warnings).toMatchObject([{ code: "check.streams_unscheduled", fields: { streams: unread } }]);
  const daily = await linesOf([{ ...nightly, timezone: "Europe/Berlin" }], {}, "2026-10-20T12:00:00Z");
  expect(daily.map(({ name, level }) => [name, level])).toEqual([
    ["schedule nightly", "ok"],
    ["freshness", "ok"],
  ]);
});

test("a pause between runs that is longer than data may be old is a warning, judged by all that read a stream", async () => {
  const workdays = { name: "workdays", cron: "0 2 * * MON-FRI" };
  const freshnessOf = async (schedules: readonly object[], more: object = {}) =>
    (await linesOf(schedules, more)).find(({ name }) => name === "freshness");
  expect(await freshnessOf([workdays])).toMatchObject({
    ...{ level: "warn", code: "check.freshness_missed" },
    message: "data counts as late after 26 h, but purchase_orders and 7 more may wait 72 h from one run to the next",
  });
  expect(await freshnessOf([workdays], { freshness: { late_after: "73h" } })).toMatchObject({ level: "ok" });
  expect(await freshnessOf([workdays, { name: "weekend", cron: "0 2 * * SAT,SUN" }])).toMatchObject({ level: "ok" });
  expect(await freshnessOf([{ name: "often", cron: "* * * * *" }])).toMatchObject({ level: "ok" });
  expect(
    await freshnessOf([
      { name: "monthly", cron: "0 2 1 * *" },
      { ...nightly, streams: ["items"] },
    ]),
  ).toMatchObject({ fields: { stream: "purchase_orders", others: 6, pause_ms: 31 * 86_400_000 } });
});
