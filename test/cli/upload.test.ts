import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { SimulatorOptions } from "../../simulator/simulator.ts";
import { atTerminal, type Ended, inProcess } from "./process.ts";
import { json, secretKey, simulated, workplace } from "./workplace.ts";

const processed = { views: false, meanings: { processed: { status: ["processed"] } } };

async function office(options: SimulatorOptions = {}, config: Readonly<Record<string, unknown>> = {}) {
  const simulator = await simulated(options);
  const work = workplace(simulator, config);
  const file = (name: string, content = `content of ${name}`) => writeFileSync(join(work.folder, name), content);
  const run = (...args: string[]) => inProcess(["upload", ...args], { cwd: work.folder, env: configured(work.folder) });
  return { ...work, spawned: work.run, simulator, file, run };
}

const configured = (folder: string) => ({ KEY: secretKey, TRIBUTARY_CONFIG: join(folder, "config.yaml") });

/** Codes of what ended a command that was called with --json. */
function codesOf(ended: Ended): readonly string[] {
  const { error } = json<{ error: { code: string; fields: { faults?: readonly { code: string }[] } } }>(ended);
  return error.fields.faults?.map(({ code }) => code) ?? [error.code];
}

test("files are uploaded, waited for and shown as rows", async () => {
  const { run, file, simulator } = await office({ faults: { processingMs: 300 } }, processed);
  file("a.pdf");
  file("b.xlsx");
  const ended = await run("a.pdf", "b.xlsx", "--wait", "1m");
  expect(ended.code).toBe(0);
  expect(ended.stdout).toMatch(/uploaded +DOC-U\d +a\.pdf\nuploaded +DOC-U\d +b\.xlsx\n/);
  expect(ended.stdout).toMatch(/\ningested\nrow_type +id [\s\S]*\ndocument +DOC-U1 /);
  expect(ended.stdout).toMatch(/\ndocuments\ndoc_id[\s\S]*\nDOC-U1 /);
  expect(ended.stdout).toMatch(/\nfindings\nfinding_item_id/);
  const again = json<{ uploads: object[]; rows: Record<string, object[]> }>(await run("a.pdf", "--wait", "--json"));
  expect(again.uploads).toMatchObject([{ outcome: "present", doc_id: expect.any(String) }]);
  expect(again.rows["ingested"]).toMatchObject([{ title: "a.pdf", size_bytes: "16.000000000" }]);
  expect(simulator.uploads.all).toHaveLength(2);
});

test("not processed in time, or with nothing that says when: exit code 5, and what to do", async () => {
  const { run, file } = await office({ faults: { endlessProcessing: { next: 9 } } }, processed);
  file("a.pdf");
  const late = await run("a.pdf", "--wait", "200ms");
  expect(late.code).toBe(5);
  expect(late.stdout).toContain("Not processed within 200 ms, as far as is said: DOC-U1 (processing).");
  const other = await office();
  other.file("a.pdf");
  const unread = await other.run("a.pdf", "--wait", "10m");
  expect(unread.code).toBe(5);
  expect(unread.stdout).toContain("Set meanings.processed in the configuration");
});

test("what cannot be sent is told before anything is: what was expected, what came, what to do", async () => {
  const { run, file, folder, simulator, spawned } = await office();
  file("good.pdf");
  file("empty.pdf", "");
  file("strange");
  file("secret.pdf");
  mkdirSync(join(folder, "inbox"));
  const ended = await run("good.pdf", "none.pdf", "empty.pdf", "inbox", "strange", "--json");
  expect(ended.code).toBe(2);
  expect(codesOf(ended)).toEqual([
    "upload.file_not_found",
    "upload.file_empty",
    "upload.directory",
    "upload.not_a_document",
  ]);
  for (const path of [folder, join(folder, "config.yaml")]) chmodSync(path, 0o755);
  chmodSync(join(folder, "secret.pdf"), 0o000);
  const unreadable = await spawned(["upload", "secret.pdf"], process.getuid?.() === 0 ? { uid: 65_534 } : {});
  expect(unreadable.code).toBe(2);
  expect(unreadable.stderr).toContain("secret.pdf: expected a file that can be read, got EACCES: check its rights.");
  expect(simulator.requests.total).toBe(0);
  expect(existsSync(join(folder, "w.duckdb"))).toBe(false);
  expect((await run("strange", "--content-type", "text/plain")).code).toBe(0);
  expect(simulator.uploads.all).toMatchObject([{ contentType: "text/plain" }]);
});

test.each([
  ["/ingest/initiate", 403, 1, 1, /got status 403 .*This key may not upload: use one that may\./],
  ["/ingest/finalize", 422, 1, 1, /Expected data from POST \/ingest\/finalize, got status 422 /],
  [
    "/uploads",
    413,
    1,
    1,
    /a\.pdf: expected its upload address to take it, got status 413: the file is too large\. Send less/,
  ],
] as const)("refused at %s with %i: told, and nothing is lost", async (only, status, next, code, told) => {
  const { run, file, simulator } = await office({ faults: { only, refuse: { status, next } } });
  file("a.pdf");
  const refused = await run("a.pdf");
  expect(refused.code).toBe(code);
  expect(refused.stdout).toMatch(told);
  expect(`${refused.stdout}${refused.stderr}`).not.toMatch(/signature=/);
  expect((await run("a.pdf")).code).toBe(0);
  expect(simulator.uploads.all.flatMap(({ documents }) => documents)).toHaveLength(1);
});

test("wrong uses, a refused key, another company's lock: each has its exit code", async () => {
  const { run, file, folder, simulator, start } = await office();
  file("a.pdf");
  for (const args of [[], ["a.pdf", "--watch", "inbox"], ["--watch", "inbox", "--wait"], ["a.pdf", "--wait", "soon"]])
    expect((await run(...args)).code).toBe(2);
  const config = readFileSync(join(folder, "config.yaml"), "utf8");
  writeFileSync(
    join(folder, "two.yaml"),
    config.replace("company: acme", "companies: [{ name: one, key: a }, { name: two, key: b }]"),
  );
  const several = await run("a.pdf", "--config", join(folder, "two.yaml"));
  expect(several).toMatchObject({ code: 2, stderr: "--company: expected one of one, two, got none.\n" });
  simulator.renewKey("another");
  expect((await run("a.pdf")).code).toBe(3);
  simulator.renewKey(secretKey);
  Object.assign(simulator.faults, { only: "/items", hang: 1 });
  const child = start("sync", "items");
  while (simulator.requests.count("/items") === 0) await sleep(20);
  const locked = await run("a.pdf");
  expect(locked.code).toBe(4);
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(simulator.uploads.all).toEqual([]);
  expect((await run("a.pdf", "--wait", "0s")).code).toBe(5);
});

test("a service that is not the one whose rows the warehouse keeps is sent nothing", async () => {
  const { run, file, folder, simulator } = await office({}, processed);
  file("a.pdf");
  const place = { cwd: folder, env: configured(folder) };
  expect((await inProcess(["sync", "items"], place)).code).toBe(0);
  const other = await simulated({ seed: 2 });
  const config = join(folder, "config.yaml");
  writeFileSync(config, readFileSync(config, "utf8").replace(simulator.url, other.url));
  const refused = await run("a.pdf");
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("This warehouse keeps company acme from");
  expect([...simulator.uploads.all, ...other.uploads.all]).toEqual([]);
});

test("a folder is watched: what has stopped growing is sent and moved, what cannot be sent is put aside", async () => {
  const { folder, start, simulator } = await office();
  const inbox = join(folder, "inbox");
  mkdirSync(inbox);
  writeFileSync(join(inbox, "a.pdf"), "first");
  writeFileSync(join(inbox, "strange"), "x");
  writeFileSync(join(inbox, ".hidden.pdf"), "x");
  const child = start("upload", "--watch", "inbox", "--yes", "--json");
  const output = text(child.stderr);
  const counts = text(child.stdout).then(stdout => ({ stdout, stderr: "", code: 1 }));
  const growing = join(inbox, "growing.pdf");
  for (let size = 1; !existsSync(join(inbox, "done/a.pdf")) && child.exitCode === null; size++) {
    writeFileSync(growing, "x".repeat(size));
    await sleep(100);
  }
  expect(readdirSync(join(inbox, "done"))).toEqual(["a.pdf"]);
  const whole = readFileSync(growing, "utf8");
  while (!existsSync(join(inbox, "done/growing.pdf")) && child.exitCode === null) await sleep(50);
  writeFileSync(join(inbox, "a.pdf"), "second");
  while (!existsSync(join(inbox, "done/2-a.pdf")) && child.exitCode === null) await sleep(50);
  child.kill("SIGTERM");
  const [code] = await once(child, "exit");
  expect(readdirSync(join(inbox, "done"))).toEqual(["2-a.pdf", "a.pdf", "growing.pdf"]);
  expect(readdirSync(join(inbox, "failed"))).toEqual(["strange"]);
  expect(readdirSync(inbox).toSorted()).toEqual([".hidden.pdf", "done", "failed", "sending"]);
  expect(simulator.uploads.all.map(({ bytes }) => bytes)).toEqual([5, whole.length, 6]);
  const logged = (await output)
    .trim()
    .split("\n")
    .map(line => JSON.parse(line));
  expect(logged.find(({ code: each }) => each === "command.upload_watching")?.fields).toEqual({
    ...{ folder: inbox, files: expect.any(Number) },
  });
  expect(logged.map(({ code: each }) => each)).toContain("upload.not_a_document");
  expect(json(await counts)).toEqual({ exit_code: 1, done: 3, present: 0, failed: 1, left: 0 });
  expect(code).toBe(1);
});

test("the configuration, secrets, the warehouse and hidden files are never sent, whatever media type is given", async () => {
  const { run, file, folder, simulator } = await office({}, { archive: { path: "./raw" } });
  for (const name of [".env", ".invoice.pdf", "run.sh", "tool.exe", "script.js"]) file(name);
  file("a.pdf");
  expect((await run("a.pdf")).code).toBe(0);
  mkdirSync(join(folder, "raw"));
  for (const name of ["raw/page.txt", "w.duckdb.wal"]) file(name);
  symlinkSync(join(folder, "config.yaml"), join(folder, "linked.pdf"));
  const own = ["config.yaml", "w.duckdb", "w.duckdb.wal", "w.versions/work.duckdb", "raw/page.txt", "linked.pdf"];
  const refused = await run(...own, ".env", ".invoice.pdf", "--content-type", "application/pdf", "--json");
  expect(refused.code).toBe(2);
  // The .env beside the configuration was read with it; both reasons hold.
  expect(codesOf(refused)).toEqual([...own, ".env"].map(() => "upload.own_file").concat("upload.hidden"));
  const others = await run("run.sh", "tool.exe", "script.js", "--json");
  expect([others.code, codesOf(others)]).toEqual([2, Array(3).fill("upload.not_a_document")]);
  expect((await run("run.sh", "--content-type", "text/x-shellscript")).code).toBe(0);
  expect(simulator.uploads.all.map(({ fileName }) => fileName)).toEqual(["a.pdf", "run.sh"]);
  for (const type of ["pdf", "text/", "text/plain; charset=utf-8", "a b/c"])
    expect((await run("a.pdf", "--content-type", type)).code).toBe(2);
});

test("more than 20 files, and a folder, are sent after a confirmation or with --yes", async () => {
  const { run, file, folder, simulator } = await office();
  const files = Array.from({ length: 21 }, (_, nth) => `${nth}.pdf`);
  for (const name of files) file(name);
  mkdirSync(join(folder, "inbox"));
  for (const args of [files, ["--watch", "inbox"]]) {
    const refused = await run(...args, "--json");
    expect([refused.code, codesOf(refused)]).toEqual([2, ["command.upload_off_terminal"]]);
  }
  const place = { cwd: folder, env: configured(folder) };
  expect((await atTerminal(["upload", ...files], place, [["Send 21 files to", "n\r"]])).code).toBe(130);
  expect((await atTerminal(["upload", "--watch", "inbox"], place, [["Send 0 files of", "n\r"]])).code).toBe(130);
  expect(simulator.requests.total).toBe(0);
  expect((await atTerminal(["upload", ...files], place, [["Send 21 files to", "y\r"]])).code).toBe(0);
  expect((await run(...files, "--yes")).code).toBe(0);
  expect((await run(...files.slice(1))).code).toBe(0);
  expect(simulator.uploads.all).toHaveLength(21);
});

test("--dry-run names what would be sent, and sends and writes nothing", async () => {
  const { run, file, folder, simulator } = await office();
  file("a.pdf");
  mkdirSync(join(folder, "inbox"));
  for (const name of ["inbox/b.csv", "inbox/run.sh"]) file(name);
  const plan = (name: string, bytes: number, content_type: string | null, code: string | null) => ({
    ...{ file: join(folder, name), bytes, content_type, code, error: code && expect.stringContaining(name) },
  });
  expect(json(await run("a.pdf", "--dry-run", "--json"))).toEqual({
    dry_run: true,
    files: [plan("a.pdf", 16, "application/pdf", null)],
  });
  expect(json(await run("--watch", "inbox", "--dry-run", "--json"))).toEqual({
    dry_run: true,
    files: [plan("inbox/b.csv", 22, "text/csv", null), plan("inbox/run.sh", 23, null, "upload.not_a_document")],
  });
  expect((await run("a.pdf", "--dry-run")).stdout).toMatch(/a\.pdf +application\/pdf +16\n/);
  expect([simulator.requests.total, readdirSync(folder).toSorted()]).toEqual([0, ["a.pdf", "config.yaml", "inbox"]]);
  expect(readdirSync(join(folder, "inbox"))).toHaveLength(2);
});

test("--watch of a file, of a folder that is not there and of one that refuses it: exit code 2, and nothing is made", async () => {
  const { run, file, folder } = await office();
  mkdirSync(join(folder, "inbox"));
  for (const name of ["a.pdf", "inbox/done"]) file(name);
  const watch = async (name: string) => {
    const ended = await run("--watch", name, "--yes", "--json");
    return [ended.code, codesOf(ended)];
  };
  expect(await watch("a.pdf")).toEqual([2, ["upload.not_a_folder"]]);
  expect(await watch("inbx")).toEqual([2, ["upload.no_such_folder"]]);
  expect(await watch("a.pdf/inbox")).toEqual([2, ["upload.folder_not_usable"]]);
  expect(await watch("inbox")).toEqual([2, ["upload.folder_not_usable"]]);
  const { error } = json<{ error: { fields: object } }>(await run("--watch", "inbx", "--yes", "--json"));
  expect(error.fields).toEqual({ folder: join(folder, "inbx"), suggestion: join(folder, "inbox") });
  expect(existsSync(join(folder, "inbx"))).toBe(false);
});

test("documents, and those that an unknown upload may have become, are named whole at 80 columns", async () => {
  const { file, folder, simulator } = await office({ faults: { only: "/ingest/finalize" } });
  const name = `${"long ".repeat(12)}name.pdf`;
  file(name);
  simulator.faults.truncatedBody = 1;
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
  const printed = text(stdout);
  const surface = { stdout: stdout as unknown as NodeJS.WriteStream };
  const ended = await inProcess(["upload", name], { cwd: folder, env: configured(folder), ...surface });
  stdout.end();
  expect(ended.code).toBe(5);
  expect(await printed).toMatch(/\bDOC-U1\b/);
  Object.assign(simulator.faults, { truncatedBody: 0 });
  const other = `${"other ".repeat(12)}name.pdf`;
  file(other);
  const wide = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
  const uploaded = text(wide);
  await inProcess(["upload", other], {
    ...{ cwd: folder, env: configured(folder), stdout: wide as unknown as NodeJS.WriteStream },
  });
  wide.end();
  expect(await uploaded).toMatch(/^uploaded +DOC-U2 +other .*…$/m);
});

test("what was mended when the warehouse was opened is a warning of the upload that met it", async () => {
  const { run, file, folder } = await office();
  file("a.pdf");
  expect((await run("a.pdf")).code).toBe(0);
  truncateSync(join(folder, "w.versions/work.duckdb"), 5_000);
  const ended = json<{ warnings: object[]; uploads: object[] }>(await run("a.pdf", "--json"));
  expect(ended).toMatchObject({
    warnings: [{ code: "duckdb.damaged_replaced" }],
    uploads: [{ outcome: "present", doc_id: "DOC-U1" }],
  });
});
