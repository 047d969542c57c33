import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { SimulatorOptions } from "../../simulator/simulator.ts";
import { inProcess } from "./process.ts";
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

test("files are uploaded, waited for and shown as rows", async () => {
  const { run, file, simulator } = await office({ faults: { processingMs: 300 } }, processed);
  file("a.pdf");
  file("b.xlsx");
  const ended = await run("a.pdf", "b.xlsx", "--wait", "1m");
  expect(ended.code).toBe(0);
  expect(ended.stdout).toMatch(/a\.pdf +uploaded +DOC-U\d\n.*b\.xlsx +uploaded +DOC-U\d\n/);
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
  const ended = await run("good.pdf", "none.pdf", "empty.pdf", "inbox", "strange");
  expect(ended.code).toBe(2);
  expect(ended.stderr.split("\n").map(line => line.replace(`${folder}/`, ""))).toEqual([
    "none.pdf: expected a file, got nothing of that name: check the path.",
    "empty.pdf: expected a file with content, got an empty one.",
    "inbox: expected a file, got a directory: name its files, or watch it with --watch.",
    "strange: expected a name whose ending tells the media type, got none that is known: give --content-type.",
    "",
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
  const child = start("upload", "--watch", "inbox");
  const output = text(child.stderr);
  const growing = join(inbox, "growing.pdf");
  for (let size = 1; readdirSync(inbox).includes("a.pdf") && child.exitCode === null; size++) {
    writeFileSync(growing, "x".repeat(size));
    await sleep(100);
  }
  expect(readdirSync(join(inbox, "done"))).toEqual(["a.pdf"]);
  const whole = readFileSync(growing, "utf8");
  while (readdirSync(inbox).includes("growing.pdf") && child.exitCode === null) await sleep(50);
  writeFileSync(join(inbox, "a.pdf"), "second");
  while (readdirSync(inbox).includes("a.pdf") && child.exitCode === null) await sleep(50);
  child.kill("SIGTERM");
  const [code] = await once(child, "exit");
  expect(readdirSync(join(inbox, "done"))).toEqual(["2-a.pdf", "a.pdf", "growing.pdf"]);
  expect(readdirSync(join(inbox, "failed"))).toEqual(["strange"]);
  expect(readdirSync(inbox).toSorted()).toEqual([".hidden.pdf", "done", "failed"]);
  expect(simulator.uploads.all.map(({ bytes }) => bytes)).toEqual([5, whole.length, 6]);
  expect(await output).toContain("strange: expected a name whose ending tells the media type");
  expect(code).toBe(1);
});
