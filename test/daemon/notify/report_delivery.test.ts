import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { loadConfig } from "../../../src/config/load.ts";
import {
  attachReports,
  deliverReports,
  isFirstWithChanges,
  type ReportTools,
  type WholeRun,
} from "../../../src/daemon/notify/report_delivery.ts";
import type { DaemonEvent, FinishedRun } from "../../../src/daemon/schedule/events.ts";
import { commandOf } from "../../../src/daemon/schedule/order.ts";
import { ConfigError } from "../../../src/errors.ts";
import { createRedactor } from "../../../src/secrets.ts";
import { type RunReport, runSync } from "../../../src/sync/run/run.ts";
import { logTo, sentence } from "../../support/log.ts";
import { duckdbWarehouse, passing, warehouses } from "../../support/warehouse.ts";
import { scenario } from "../../sync/scenario.ts";
import { eventually, type HandClock, handClock } from "./clock.ts";
import { ended } from "./daemon.ts";
import { startInbox } from "./inbox.ts";
import { startReceiver } from "./receiver.ts";

const coded = { code: "notify.report_not_delivered", message: expect.any(String) };

const page = `<!doctype html><meta name="generator" content="tributary report"><p>Łódź</p>`;

/** A run that ended now and loaded so many rows. */
function night(clock: HandClock, inserted: number, schedule = "nightly"): FinishedRun & WholeRun {
  const finished = ended(clock, 0, { orders: null }, { schedule });
  const outcome = finished.outcome as RunReport;
  return { ...finished, schedule, outcome: { ...outcome, streams: [{ ...outcome.streams[0]!, inserted }] } };
}

async function office(
  reports: readonly object[],
  make?: ReportTools["make"],
  destination: object = { path: "w.duckdb" },
) {
  const folder = mkdtempSync(join(tmpdir(), "tributary-reports-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const schedules = [
    { name: "nightly", cron: "0 2 * * *" },
    { name: "hourly", cron: "0 * * * *" },
  ];
  const file = join(folder, "config.yaml");
  const api = { base_url: "http://127.0.0.1:1", key: "key-for-nothing" };
  writeFileSync(file, JSON.stringify({ api, destination, schedules, reports }));
  const { config, secrets } = await loadConfig(file, {});
  const clock = handClock();
  const said: string[] = [];
  const tools = {
    clock,
    log: logTo(text => said.push(text)),
    redact: createRedactor(secrets),
    signal: new AbortController().signal,
    make: make ?? (async ({ months }) => ({ title: `${months} months`, page, words: "1. Look at it: 5" })),
  };
  return { folder, config, clock, said, tools };
}

test("a report goes to a file, to people and to an address; one of another schedule does not", async () => {
  const [inbox, receiver] = [await startInbox(), await startReceiver()];
  const mail = { smtp: inbox.url, from: "tributary@example.com", to: ["a@example.com", "b@example.com"] };
  const { folder, config, clock, said, tools } = await office([
    { after: ["nightly"], out: "report.html", mail, post: receiver.url, months: 3 },
    { after: ["hourly"], out: "other.html" },
  ]);
  await deliverReports(config, night(clock, 1), tools);
  expect(readFileSync(join(folder, "report.html"), "utf8")).toBe(page);
  expect(inbox.mails).toHaveLength(1);
  const [{ from, to, text }] = inbox.mails as [(typeof inbox.mails)[number]];
  expect([from, to]).toEqual(["tributary@example.com", ["a@example.com", "b@example.com"]]);
  expect(text).toContain("Subject: 3 months");
  expect(text).toContain("1. Look at it: 5");
  expect(text.replace(/\s/g, "")).toContain(Buffer.from(page).toString("base64"));
  expect(receiver.received[0]).toMatchObject({ body: page, headers: { "content-type": "text/html; charset=utf-8" } });
  expect(said).toHaveLength(3);
  expect(said.join()).not.toContain("secret-word");
  // Runs that hints ask for have no report.
  await deliverReports(config, night(clock, 1, "hook"), tools);
  expect(inbox.mails).toHaveLength(1);
});

test("what fails is tried three times and said without a secret; the others go all the same", async () => {
  const [inbox, receiver] = [await startInbox("the mailbox is full"), await startReceiver()];
  receiver.answer = nth => ({ status: nth < 3 ? 503 : 200 });
  const mail = { smtp: inbox.url.replace("secret-word", "wrong-word"), from: "t@example.com", to: ["a@example.com"] };
  const { folder, config, clock, said, tools } = await office([{ mail }, { out: "kept.html" }, { post: receiver.url }]);
  writeFileSync(join(folder, "kept.html"), "my own");
  const done = deliverReports(config, night(clock, 1), tools);
  for (const pause of [5_000, 30_000, 5_000, 30_000]) {
    await eventually(() => expect(clock.pauses()).toContain(pause));
    clock.advance(pause);
  }
  expect(await done).toEqual([
    {
      place: "reports[0]",
      schedule: "nightly",
      failures: [{ ...coded, fields: expect.objectContaining({ tries: 3 }) }],
    },
    {
      place: "reports[1]",
      schedule: "nightly",
      failures: [{ ...coded, fields: expect.objectContaining({ tries: 1 }) }],
    },
    { place: "reports[2]", schedule: "nightly", failures: [] },
  ]);
  expect(said).toEqual([
    expect.stringMatching(/^the report could not go to reports\[0\] \(mail\): .*(535|auth|login).* \(3 tries\)$/i),
    expect.stringMatching(/^the report could not go to reports\[1\].*did not write.*\(1 try\)$/),
    expect.stringMatching(/^the report went to reports\[2\] \(127\.0\.0\.1:\d+\)$/),
  ]);
  expect(said.join()).not.toMatch(/wrong-word/);
  expect(readFileSync(join(folder, "kept.html"), "utf8")).toBe("my own");
});

test("a daemon makes them behind runs that brought everything, as long as it leads", async () => {
  const made: string[] = [];
  const heard: string[][] = [];
  const { config, clock, said, tools } = await office([{ after: ["nightly"], out: "report.html" }], async () => {
    made.push(new Date(clock.now()).toISOString());
    if (made.length === 1) throw new ConfigError(sentence("nothing is loaded yet"));
    return { title: "", page, words: "" };
  });
  let [leads, tell]: [boolean, (event: DaemonEvent) => void] = [true, () => undefined];
  const daemon = {
    listen(listener: typeof tell) {
      tell = listener;
      return () => undefined;
    },
  };
  const end = attachReports(
    daemon,
    () => config,
    async () => leads,
    { ...tools, observe: each => void heard.push(each.failures.map(({ code }) => code)) },
  );
  tell(ended(clock, 1));
  tell(ended(clock, 0));
  await eventually(() => expect(said).toEqual(["reports[0] could not be made: nothing is loaded yet"]));
  tell(ended(clock, 0));
  await eventually(() => expect(said).toHaveLength(2));
  leads = false;
  tell(ended(clock, 0));
  await end();
  expect(made).toHaveLength(2);
  expect(heard).toEqual([["notify.report_not_made"], []]);
});

test("a mail that failed goes with the daemon's next run, though that one changed nothing", async () => {
  const inbox = await startInbox();
  const mail = { smtp: inbox.url, from: "t@example.com", to: ["a@example.com"] };
  let fails = true;
  const { config, clock, tools } = await office([{ mail }], async () => {
    if (fails) throw new ConfigError(sentence("nothing is loaded yet"));
    return { title: "", page, words: "" };
  });
  const owed = new Set<string>();
  await deliverReports(config, night(clock, 1), tools, owed);
  fails = false;
  clock.advance(3_600_000);
  await deliverReports(config, night(clock, 0), tools, owed);
  expect(inbox.mails).toHaveLength(1);
  clock.advance(3_600_000);
  await deliverReports(config, night(clock, 0), tools, owed);
  expect(inbox.mails).toHaveLength(1);
});

/** `1`: changed rows; `0`: changed none; `x`: failed and changed rows. */
function runs(...told: readonly `${0 | 1 | "x"} ${string}`[]) {
  return told.map(text => {
    const [what, ...at] = text.split(" ");
    return { at: new Date(`2026-03-${at.join("T")}:00Z`), isWhole: what !== "x", isChanging: what !== "0" };
  });
}

test.each([
  ["the day's first run", "day", runs("1 15 02:00", "1 16 02:00"), true],
  ["a further one", "day", runs("1 16 02:00", "1 16 03:00"), false],
  ["one that changed nothing", "day", runs("1 15 02:00", "0 16 02:00"), false],
  ["one behind runs of the day that changed nothing", "day", runs("0 16 02:00", "0 16 03:00", "1 16 04:00"), true],
  ["one that ends what a failed one began", "day", runs("x 16 02:00", "0 16 02:05"), true],
  ["one behind that", "day", runs("x 16 02:00", "0 16 02:05", "1 16 03:00"), false],
  // 23:30 UTC of the 15th is the 16th in Berlin.
  ["one of the same day in its zone", "day", runs("1 15 23:30", "1 16 02:00"), false],
  // The 16th is a Monday.
  ["Monday's", "week", runs("1 15 02:00", "1 16 02:00"), true],
  ["Tuesday's", "week", runs("1 16 02:00", "1 17 02:00"), false],
  ["Tuesday's, as Monday brought nothing", "week", runs("1 15 02:00", "0 16 02:00", "1 17 02:00"), true],
  ["Sunday's", "week", runs("1 16 02:00", "1 22 20:00"), false],
] as const)("a mail and %s, every %s", (_run, every, past, isDue) => {
  expect(isFirstWithChanges(past, every, "Europe/Berlin")).toBe(isDue);
});

const versions = { name: "duckdb by its versions", make: () => passing(duckdbWarehouse("snapshot")) };

describe.each([...warehouses, versions])("$name", ({ make }) => {
  test("by default a mail follows the first run of a day that changed rows; when: always, each run", async () => {
    const { simulator, warehouse, sync, clock } = await scenario(
      make,
      { findings: 5 },
      { run: (order, tools) => runSync({ ...order, command: commandOf("nightly") }, tools) },
    );
    const inbox = await startInbox();
    const mail = (to: string, more: object) => ({
      mail: { smtp: inbox.url, from: "t@example.com", to: [`${to}@example.com`], ...more },
    });
    const reports = [mail("daily", {}), mail("weekly", { every: "week" }), mail("always", { when: "always" })];
    const { config, tools } = await office(reports, undefined, warehouse.destination);
    const run = async (hours: number, changes: number) => {
      clock.advance(hours * 3_600_000);
      simulator.update("findings", changes);
      const outcome = await sync({ names: ["findings"] });
      expect(outcome.exit_code).toBe(0);
      const before = inbox.mails.length;
      // Each run by a process of its own.
      await deliverReports(config, { schedule: "nightly", outcome }, tools);
      return inbox.mails.slice(before).map(({ to }) => to[0]!.replace("@example.com", ""));
    };
    expect(await run(0, 0)).toEqual(["daily", "weekly", "always"]);
    expect(await run(1, 1)).toEqual(["always"]);
    // From Sunday to Monday.
    expect(await run(23, 0)).toEqual(["always"]);
    expect(await run(1, 0)).toEqual(["always"]);
    expect(await run(1, 1)).toEqual(["daily", "weekly", "always"]);
    expect(await run(1, 1)).toEqual(["always"]);
    expect(await run(24, 1)).toEqual(["daily", "always"]);
    expect(await run(6 * 24, 1)).toEqual(["daily", "weekly", "always"]);
  });
});
