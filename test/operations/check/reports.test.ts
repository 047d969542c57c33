import { mkdtempSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { currencyLine } from "../../../src/operations/check/destination.ts";
import { checkReports } from "../../../src/operations/check/reports.ts";
import { startInbox } from "../../daemon/notify/inbox.ts";
import { loaded } from "./loaded.ts";

const folderOf = () => mkdtempSync(join(tmpdir(), "tributary-check-"));

async function linesOf(reports: readonly object[], offline = false) {
  const { config } = await loaded({ reports });
  return Array.fromAsync(checkReports(config, offline));
}

test("a report's file that cannot be written fails, and nothing is written to try it", async () => {
  const folder = folderOf();
  writeFileSync(join(folder, "file"), "somebody's");
  const outs = ["file", "file/below.html", "new/report.html", "."].map(name => ({ out: join(folder, name) }));
  expect(await linesOf(outs)).toMatchObject([
    { name: "reports[0]", level: "fail", code: "report.foreign_file", exitCode: 2 },
    { name: "reports[1]", level: "fail", code: "report.not_writable", exitCode: 2 },
    { name: "reports[2]", level: "ok", code: "check.report_file" },
    { name: "reports[3]", level: "fail", code: "report.not_a_file", exitCode: 2 },
  ]);
  expect(readdirSync(folder)).toEqual(["file"]);
});

test("a report's folder in which nothing can be made fails", async () => {
  const folder = folderOf();
  symlinkSync(join(folder, "gone"), join(folder, "link"));
  expect(await linesOf([{ out: join(folder, "link/r.html") }])).toMatchObject([
    { level: "fail", code: "check.report_not_writable", fields: { reason: "ENOENT" }, exitCode: 2 },
  ]);
});

test("a mail server that is not there, or refuses the login, fails; a good one is only logged in to", async () => {
  const inbox = await startInbox();
  const closed = createServer();
  await new Promise<void>(done => closed.listen(0, "127.0.0.1", done));
  const { port } = closed.address() as { port: number };
  await new Promise(done => closed.close(done));
  const people = { from: "t@example.com", to: ["a@example.com"] };
  const reports = [inbox.url, `smtp://127.0.0.1:${port}`, inbox.url.replace("secret-word", "wrong-word")].map(smtp => ({
    mail: { smtp, ...people },
  }));
  const lines = await linesOf(reports);
  expect(lines).toMatchObject([
    { name: "reports[0]", level: "ok", code: "check.mail_server" },
    { name: "reports[1]", level: "fail", code: "check.mail_server_unusable", exitCode: 1 },
    { name: "reports[2]", level: "fail", code: "check.mail_server_unusable", exitCode: 1 },
  ]);
  expect(inbox.mails).toEqual([]);
  expect(JSON.stringify(lines)).not.toMatch(/secret-word|wrong-word/);
  expect(await linesOf(reports.slice(1), true)).toMatchObject([{ code: "check.offline" }, { code: "check.offline" }]);
});

test("rates that cannot be read are a warning, as runs go on without them", async () => {
  const file = join(folderOf(), "rates.csv");
  const lineOf = async (text: string | undefined) => {
    if (text !== undefined) writeFileSync(file, text);
    const { config } = await loaded({ currency: { report: "EUR", rates: file } });
    return currencyLine(config, true);
  };
  expect(await lineOf(undefined)).toMatchObject({ level: "warn", code: "views.rates_unreadable", exitCode: 0 });
  expect(await lineOf("date,currency,rate\n1.1.2026,USD,2\n")).toMatchObject({
    level: "warn",
    code: "currency.invalid_line",
  });
  expect(await lineOf("date,currency,rate\n2026-01-01,USD,2\n2026-01-03,USD,2\n")).toMatchObject({
    ...{ name: "currency", level: "ok" },
    fields: { report: "EUR", rates: 2, last: "2026-01-03" },
  });
  const { config } = await loaded({});
  expect(await currencyLine(config, true)).toBeUndefined();
});
