import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "./clock.ts";
import { all, ended, office } from "./daemon.ts";
import { startReceiver } from "./receiver.ts";

const bad = { lists: "expected 200, got 500" };

test("Slack gets a text and nothing else, with its three characters escaped", async () => {
  const receiver = await startReceiver();
  const { clock, notifier } = office([{ to: { url: receiver.url, format: "slack" }, on: all }]);
  notifier.observe(ended(clock, 1, { lists: "expected <b> & got <!channel>" }));
  await notifier.settle();
  const [body] = receiver.bodies();
  expect(Object.keys(body!)).toEqual(["text"]);
  expect(body!["text"]).toMatch(/^\*nightly failed with exit code 1, 1 stream of 1 not read\*\nRun run-/);
  expect(body!["text"]).toContain("expected &lt;b&gt; &amp; got &lt;!channel&gt;");
});

test("a target hears only of its occasions", async () => {
  const [first, second] = [await startReceiver(), await startReceiver()];
  const { clock, notifier } = office([
    { to: { url: first.url, format: "json" }, on: ["failure"] },
    { to: { url: second.url, format: "json" }, on: ["recovery"] },
  ]);
  notifier.observe(ended(clock, 1, bad));
  notifier.observe(ended(clock, 0, { lists: null }));
  await notifier.settle();
  expect(first.bodies().map(body => body["occasion"])).toEqual(["failure"]);
  expect(second.bodies().map(body => body["occasion"])).toEqual(["recovery"]);
  expect(first.received[0]!.headers).toMatchObject({ "content-type": "application/json", "user-agent": "tributary" });
});

test("a login in the address becomes a header", async () => {
  const receiver = await startReceiver();
  const url = receiver.url.replace("//", "//ops:p%40ss@");
  const { clock, notifier } = office([{ to: { url, format: "json" }, on: all }]);
  notifier.observe(ended(clock, 1, bad));
  await notifier.settle();
  expect(receiver.received[0]!.headers.authorization).toBe(`Basic ${Buffer.from("ops:p@ss").toString("base64")}`);
});

test("a target that fails is tried three times, after 5 and 30 seconds", async () => {
  const receiver = await startReceiver();
  receiver.answer = nth => ({ status: nth < 3 ? 503 : 200 });
  const { clock, notifier, said } = office([{ to: { url: receiver.url, format: "json" }, on: all }]);
  notifier.observe(ended(clock, 1, bad));
  await eventually(() => expect(clock.pauses()).toEqual([5_000]));
  clock.advance(4_999);
  expect(receiver.received).toHaveLength(1);
  clock.advance(1);
  await eventually(() => expect(clock.pauses()).toEqual([30_000]));
  clock.advance(30_000);
  await notifier.settle();
  expect(receiver.received).toHaveLength(3);
  expect(said).toEqual([expect.stringContaining("notify.targets[0] (127.0.0.1:")]);
});

test("after the third failure it is given up, with a line in the log that names index and host only", async () => {
  const receiver = await startReceiver();
  receiver.answer = () => ({ status: 500 });
  const url = `${receiver.url}/services/T0/very-secret-path?token=very-secret-token`;
  const { clock, notifier, said } = office([{ to: { url, format: "json" }, on: all }]);
  notifier.observe(ended(clock, 1, bad));
  for (const pause of [5_000, 30_000]) {
    await eventually(() => expect(clock.pauses()).toEqual([pause]));
    clock.advance(pause);
  }
  await notifier.settle();
  expect(receiver.received).toHaveLength(3);
  expect(receiver.received[0]!.path).toContain("very-secret-path");
  expect(said).toHaveLength(1);
  expect(said[0]).toContain("it answered 500 (3 tries)");
  expect(said[0]).toContain(new URL(url).host);
  expect(said.join()).not.toContain("very-secret");
});

test("no server at the address: the log says so without the address, and later messages are sent", async () => {
  const receiver = await startReceiver();
  const { clock, notifier, said } = office([
    { to: { url: "http://127.0.0.1:1/very-secret", format: "json" }, on: all },
    { to: { url: receiver.url, format: "json" }, on: all },
  ]);
  notifier.observe(ended(clock, 1, bad));
  notifier.observe(ended(clock, 0, { lists: null }));
  await eventually(() => expect(receiver.received).toHaveLength(2));
  expect(receiver.bodies().map(body => body["occasion"])).toEqual(["failure", "recovery"]);
  for (const pause of [5_000, 30_000, 5_000, 30_000]) {
    await eventually(() => expect(clock.pauses()).toEqual([pause]));
    clock.advance(pause);
  }
  await notifier.settle();
  expect(said.filter(line => line.includes("ECONNREFUSED"))).toHaveLength(2);
  expect(said.join()).not.toContain("very-secret");
});

test.each([400, 403, 404])("an answer of %i is final", async status => {
  const receiver = await startReceiver();
  receiver.answer = () => ({ status });
  const { clock, notifier, said } = office([{ to: { url: receiver.url, format: "json" }, on: all }]);
  notifier.observe(ended(clock, 1, bad));
  await notifier.settle();
  expect(receiver.received).toHaveLength(1);
  expect(said[0]).toContain(`it answered ${status}`);
});

test("a redirect is not followed", async () => {
  const [receiver, other] = [await startReceiver(), await startReceiver()];
  receiver.answer = () => ({ status: 307, headers: { location: other.url } });
  const { clock, notifier, said } = office([{ to: { url: receiver.url, format: "json" }, on: all }]);
  notifier.observe(ended(clock, 1, bad));
  await notifier.settle();
  expect(other.received).toHaveLength(0);
  expect(said[0]).toContain("configure the address it leads to");
});

test("a target that does not answer within ten seconds is given up", async () => {
  const receiver = await startReceiver();
  receiver.answer = nth => (nth === 1 ? "hang" : { status: 200 });
  const { clock, notifier } = office([{ to: { url: receiver.url, format: "json" }, on: all }]);
  notifier.observe(ended(clock, 1, bad));
  await eventually(() => expect(receiver.received).toHaveLength(1));
  expect(clock.pauses()).toEqual([10_000]);
  clock.advance(10_000);
  await eventually(() => expect(clock.pauses()).toEqual([5_000]));
  clock.advance(5_000);
  await notifier.settle();
  expect(receiver.received).toHaveLength(2);
});

test("when the daemon ends, what is under way is given up", async () => {
  const receiver = await startReceiver();
  receiver.answer = () => "hang";
  const { clock, notifier, said, ending } = office([{ to: { url: receiver.url, format: "json" }, on: all }]);
  notifier.observe(ended(clock, 1, bad));
  await eventually(() => expect(receiver.received).toHaveLength(1));
  ending.abort();
  await notifier.settle();
  expect(said[0]).toContain("given up, as tributary ends");
});

test("no secret reaches a target or the log, whatever an error says", async () => {
  const receiver = await startReceiver();
  const key = "sk-live-0123456789";
  const { clock, notifier, said } = office(
    [
      { to: { url: receiver.url, format: "json" }, on: all },
      { to: { url: receiver.url, format: "slack" }, on: all },
    ],
    { secrets: [key, receiver.url] },
  );
  notifier.observe(ended(clock, 1, { lists: `refused with ${key} for ${Buffer.from(key).toString("base64")}` }));
  notifier.observe(ended(clock, 0, { lists: null }, { schedule: key }));
  notifier.observe(ended(clock, 1, { lists: key }, { schedule: key }));
  await notifier.settle();
  expect(receiver.received).toHaveLength(4);
  const everything = receiver.received.map(({ body }) => body).join() + said.join();
  expect(everything).toContain("•••");
  expect(everything).not.toContain(key);
  expect(everything).not.toContain(Buffer.from(key).toString("base64").slice(0, 20));
});

/** A program that keeps what it was given, and does what `then` says. */
async function program(
  then = "",
  first = "",
): Promise<{ words: string[]; given: () => Promise<Record<string, unknown>> }> {
  const folder = await mkdtemp(join(tmpdir(), "tributary-hook-"));
  const [script, output] = [join(folder, "hook.mjs"), join(folder, "given.json")];
  await writeFile(
    script,
    `import { readFileSync, writeFileSync } from "node:fs";
     ${first}
     const input = readFileSync(0, "utf8");
     writeFileSync(process.argv[2], JSON.stringify({ input, env: process.env, argv: process.argv.slice(3) }));
     ${then}`,
  );
  return {
    words: [process.execPath, script, output, "$HOME; echo", "`id`"],
    given: async () => JSON.parse(await readFile(output, "utf8")) as Record<string, unknown>,
  };
}

test("a command gets the notification on its standard input, its arguments as they are, and none of our variables", async () => {
  const hook = await program();
  const env = { ...process.env, LANG: "C", PROCUREMENT_API_KEY: "sk-1234567890", DATABASE_URL: "postgres://x" };
  const { clock, notifier, said } = office([{ to: { command: hook.words }, on: all }], { env });
  notifier.observe(ended(clock, 1, bad));
  await notifier.settle();
  const { input, env: passed, argv } = await hook.given();
  expect(JSON.parse(input as string)).toMatchObject({ product: "tributary", occasion: "failure", schedule: "nightly" });
  expect(argv).toEqual(["$HOME; echo", "`id`"]);
  const names = Object.keys(passed as object).filter(name => name !== "__CF_USER_TEXT_ENCODING");
  expect(["PATH", "HOME", "LANG", "TZ", "TMPDIR", "SystemRoot"]).toEqual(expect.arrayContaining(names));
  expect(names).toEqual(expect.arrayContaining(["PATH", "LANG"]));
  expect(said).toEqual([expect.stringContaining("notify.targets[0] (command)")]);
});

test("a command that fails is named with its exit code and what it said, redacted and cut", async () => {
  const hook = await program(
    'process.stderr.write("no pager for sk-1234567890 " + "x".repeat(5000)); process.exitCode = 7;',
  );
  const { clock, notifier, said } = office([{ to: { command: hook.words }, on: all }], { secrets: ["sk-1234567890"] });
  notifier.observe(ended(clock, 1, bad));
  await notifier.settle();
  expect(said).toHaveLength(1);
  expect(said[0]).toContain("exit code 7, and said: no pager for ••• xxx");
  expect(said[0]!.length).toBeLessThan(900);
});

test("a command that does not end is ended after 30 seconds", async () => {
  const hook = await program("setInterval(() => undefined, 1000);");
  const { clock, notifier, said } = office([{ to: { command: hook.words }, on: all }]);
  notifier.observe(ended(clock, 1, bad));
  await eventually(hook.given);
  expect(clock.pauses()).toEqual([30_000]);
  clock.advance(30_000);
  await notifier.settle();
  expect(said[0]).toContain("it did not end by itself: ended by SIGTERM");
});

test("one that ignores even that is ended all the same", async () => {
  const hook = await program("setInterval(() => undefined, 1000);", 'process.on("SIGTERM", () => undefined);');
  const { clock, notifier, said } = office([{ to: { command: hook.words }, on: all }]);
  notifier.observe(ended(clock, 1, bad));
  await eventually(async () => expect(await hook.given()).toBeDefined());
  clock.advance(30_000);
  await notifier.settle();
  expect(said[0]).toContain("it did not end by itself: it was ended");
});

test("a program that is not there is said so", async () => {
  const { clock, notifier, said } = office([{ to: { command: ["/nowhere/at/all", "token-12345"] }, on: all }]);
  notifier.observe(ended(clock, 1, bad));
  await notifier.settle();
  expect(said[0]).toContain("the program was not found; give its whole path");
  expect(said[0]).not.toContain("token-12345");
});
