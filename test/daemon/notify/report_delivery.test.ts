import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loadConfig } from "../../../src/config/load.ts";
import { attachReports, deliverReports, type ReportTools } from "../../../src/daemon/notify/report_delivery.ts";
import type { DaemonEvent } from "../../../src/daemon/schedule/events.ts";
import { ConfigError } from "../../../src/errors.ts";
import { createRedactor } from "../../../src/secrets.ts";
import { logTo, sentence } from "../../support/log.ts";
import { eventually, handClock } from "./clock.ts";
import { ended } from "./daemon.ts";
import { startInbox } from "./inbox.ts";
import { startReceiver } from "./receiver.ts";

const coded = { code: "notify.report_not_delivered", message: expect.any(String) };

const page = `<!doctype html><meta name="generator" content="tributary report"><p>Łódź</p>`;

async function office(reports: readonly object[], make?: ReportTools["make"]) {
  const folder = mkdtempSync(join(tmpdir(), "tributary-reports-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const schedules = [
    { name: "nightly", cron: "0 2 * * *" },
    { name: "hourly", cron: "0 * * * *" },
  ];
  const file = join(folder, "config.yaml");
  const api = { base_url: "http://127.0.0.1:1", key: "key-for-nothing" };
  writeFileSync(file, JSON.stringify({ api, destination: { path: "w.duckdb" }, schedules, reports }));
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
  const { folder, config, said, tools } = await office([
    { after: ["nightly"], out: "report.html", mail, post: receiver.url, months: 3 },
    { after: ["hourly"], out: "other.html" },
  ]);
  await deliverReports(config, "nightly", tools);
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
  await deliverReports(config, "hook", tools);
  expect(inbox.mails).toHaveLength(1);
});

test("what fails is tried three times and said without a secret; the others go all the same", async () => {
  const [inbox, receiver] = [await startInbox("the mailbox is full"), await startReceiver()];
  receiver.answer = nth => ({ status: nth < 3 ? 503 : 200 });
  const mail = { smtp: inbox.url.replace("secret-word", "wrong-word"), from: "t@example.com", to: ["a@example.com"] };
  const { folder, config, clock, said, tools } = await office([{ mail }, { out: "kept.html" }, { post: receiver.url }]);
  writeFileSync(join(folder, "kept.html"), "my own");
  const done = deliverReports(config, "nightly", tools);
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
