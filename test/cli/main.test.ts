import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { transformSync } from "rolldown/utils";
import { expect, test } from "vitest";
import { reportFailure } from "../../src/cli/invocation/failure.ts";
import { ConfigError, DestinationError } from "../../src/errors.ts";
import { generalMessages } from "../../src/messages.ts";
import { sentence } from "../support/log.ts";
import { program, variables } from "../support/program.ts";
import { deafContext, emptyFolder, tributary } from "./process.ts";

const cwd = emptyFolder();

test("--help lists the commands and examples, and loads nothing but commander and zod", async () => {
  const hook = `import{registerHooks}from"node:module";registerHooks({resolve(s,c,n){const r=n(s,c);process._rawDebug(r.url);return r}})`;
  const main = join(import.meta.dirname, "../../src/cli/main.ts");
  const place = { cwd, main, node: ["--import", `data:text/javascript,${encodeURIComponent(hook)}`] };
  const { code, stdout, stderr } = await tributary(["--help"], place);
  expect(code).toBe(0);
  expect(stdout).toMatch(/init +write config.yaml[\s\S]*config +print[\s\S]*simulate +run[\s\S]*Examples:/);
  for (const command of commands) expect(stdout).toMatch(new RegExp(`\\n  ${command} .*[a-z]`));
  const packages = [...stderr.matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)/g)].map(match => match[1]);
  expect(new Set(packages)).toEqual(new Set(["commander", "zod"]));
});

const commands = "init check config streams sync backfill schedule status rejects reset ddl simulate".split(" ");

test.each(commands)("%s has its own help with examples", async command => {
  for (const args of [
    [command, "--help"],
    ["help", command],
  ]) {
    const { code, stdout } = await tributary(args, { cwd });
    expect(stdout).toContain(`Usage: tributary ${command} [options]`);
    expect(stdout).toContain(`Examples:\n  tributary ${command}`);
    expect(code).toBe(0);
  }
});

test("--help describes what all commands share; a command's help names what it takes of that", async () => {
  const { stdout: all } = await tributary(["--help"], { cwd });
  const common = all.split("\nOptions of all commands")[1]!.split("\n\n")[0]!;
  const described = (help: string) =>
    [...help.matchAll(/^ {2}(--[a-z-]+)(?: <\w+>)? {2,}\S/gm)].map(match => match[1]!);
  const { stdout: sync } = await tributary(["sync", "--help"], { cwd });
  expect(described(common)).toEqual(expect.arrayContaining(["--config", "--company", "--json", "--verbose"]));
  for (const option of described(common)) expect(sync).toContain(option);
  expect(described(sync)).toEqual(expect.arrayContaining(["--full", "--dry-run", "--max-time"]));
  expect(described(sync).filter(option => described(common).includes(option))).toEqual([]);
  const { stdout: config } = await tributary(["config", "--help"], { cwd });
  expect(config).not.toContain("--company");
});

test("--version is the package's, with the commit of a build that has one", async () => {
  expect((await tributary(["--version"], { cwd })).stdout).toMatch(/^\d+\.\d+\.\d+( \([0-9a-f]{8}, [\d-]{10}\))?\n$/);
});

/** Older ones of this machine: `TRIBUTARY_OLD_NODE`, or those in its folders of programs. */
const olderNodes = [
  process.env["TRIBUTARY_OLD_NODE"] ?? "",
  ...variables.PATH.split(delimiter).map(each => join(each, "node")),
]
  .filter(existsSync)
  .map(node => ({ node, version: execFileSync(node, ["--version"], { encoding: "utf8" }).trim().slice(1) }))
  .filter(({ version }) => Number.parseInt(version, 10) < 24);
/** The present one, which calls itself older. */
const posing = `Object.defineProperty(process,"versions",{value:{...process.versions,node:"18.20.8"}})`;
const pose = ["--import", `data:text/javascript,${encodeURIComponent(posing)}`];

test.each([{ node: process.execPath, version: "18.20.8", words: pose }, ...olderNodes])(
  "under Node.js $version at $node the installed command says what it needs, with exit code 2",
  ({ node, version, ...more }) => {
    const [line] = readFileSync(program, "utf8").split("\n");
    const flags = line!.match(/(?<= )--\S+/g)!;
    const words = [...("words" in more ? more.words : []), ...flags, program, "config"];
    const { message, fields } = generalMessages.old_node({ wanted: ">=24", version, path: realpathSync(node) });
    expect(spawnSync(node, words, { cwd, encoding: "utf8" })).toMatchObject({
      status: 2,
      stdout: "",
      stderr: `${message}\n`,
    });
    const { status, stdout, stderr } = spawnSync(node, [...words, "--json"], { cwd, encoding: "utf8" });
    const error = { code: "general.old_node", message, fields, exit_code: 2 };
    expect({ status, stderr, ...JSON.parse(stdout) }).toEqual({ status: 2, stderr: "", ok: false, error });
  },
);

test("the installed command's first file is in the syntax of ECMAScript 2022, and imports nothing before the version is known", () => {
  const text = readFileSync(program, "utf8");
  const [lowered, same] = ["es2022", "esnext"].map(target => transformSync("tributary.js", text, { target }));
  expect([lowered!.errors, lowered!.helpersUsed]).toEqual([[], {}]);
  expect(lowered!.code).toBe(same!.code);
  expect(text).not.toMatch(/^(import|export .*from)\b/m);
});

test.each<[string[], string, object]>([
  [["confg"], "cli.unknown_command", { name: "confg", suggestion: "config" }],
  [["sync", "--dry-run=1"], "cli.option_with_value", { option: "--dry-run", given: "--dry-run=1", command: "sync" }],
  [["reset"], "cli.usage", { reason: "Missing required argument 'stream'", command: "reset" }],
  [["refresh", "items", ...Array(1_001).fill("k")], "command.refresh_too_many_keys", { most: 1_000, keys: 1_001 }],
  [["simulate", "--fault", "hng=1"], "command.simulate_unknown_fault", { name: "hng", suggestion: "hang" }],
  [["simulate", "--fault", "hang=x"], "command.simulate_fault_value", { fault: "hang", value: "x" }],
])(
  "bad usage %j is exit code 2 and one paragraph, or one document with a code and fields",
  async (args, code, fields) => {
    const [plain, json] = [await tributary(args, { cwd }), await tributary([...args, "--json"], { cwd })];
    const { error } = JSON.parse(json.stdout) as { error: { message: string } };
    expect(error).toMatchObject({ code, fields, exit_code: 2 });
    expect([plain, json]).toMatchObject([
      { code: 2, stdout: "", stderr: `${error.message}\n` },
      { code: 2, stderr: "" },
    ]);
  },
);

test("without a command the help is shown, as bad usage", async () => {
  const { code, stdout, stderr } = await tributary([], { cwd });
  expect(stderr).toMatch(/^Usage: tributary[\s\S]*Name a command\.\n$/);
  expect([code, stdout]).toEqual([2, ""]);
});

test("with --json an error is the one document on stdout", async () => {
  const { code, stdout, stderr } = await tributary(["config", "--json"], { cwd });
  expect(JSON.parse(stdout)).toEqual({
    ok: false,
    error: {
      ...{ code: expect.any(String), fields: expect.any(Object), exit_code: 2 },
      message: expect.stringContaining("There is no configuration at config.yaml"),
    },
  });
  expect([code, stderr]).toEqual([2, ""]);
});

test("a stack is for --log-level debug only", async () => {
  const folder = emptyFolder();
  writeFileSync(join(folder, "config.yaml"), "api:\n  max_concurency: 3\n  base_url: https://service.invalid\n");
  const env = { PROCUREMENT_API_KEY: "key-from-the-environment" };
  const plain = await tributary(["config"], { cwd: folder, env });
  const debug = await tributary(["config", "--log-level=debug"], { cwd: folder, env });
  const line = "config.yaml:2:3 api.max_concurency: unknown key, did you mean max_concurrency?";
  expect(plain.stderr).toBe(`The configuration can't be used.\n${line}\n`);
  expect(debug.stderr).toMatch(/max_concurrency\?\n {4}at /);
  expect([plain.code, debug.code]).toEqual([2, 2]);
});

async function failing(error: unknown, argv: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const { context, written } = deafContext({ env: { PROCUREMENT_API_KEY: "key-from-the-environment" }, cwd });
  const file = join(emptyFolder(), "config.yaml");
  writeFileSync(file, "api: { base_url: https://service.invalid }\n");
  await context.openConfig({ config: file });
  const code = reportFailure(error, argv, context);
  const { stdout, stderr } = await written();
  return { code, out: stdout, err: stderr };
}

test("any other error is a bug: exit code 70, without the key", async () => {
  const bug = new TypeError("undefined is not key-from-the-environment");
  const plain = await failing(bug, ["sync"]);
  expect(plain).toMatchObject({ code: 70, out: "" });
  expect(plain.err).toMatch(/^This is a bug in tributary: TypeError: undefined is not •••\n.*--log-level debug/s);
  const debug = await failing(bug, ["sync", "--log-level", "debug"]);
  expect(debug.err).toContain("main.test.ts");
  expect(debug.err).not.toContain("key-from-the-environment");
  const { out } = await failing(bug, ["sync", "--json"]);
  expect(JSON.parse(out).error).toMatchObject({ code: "cli.bug", fields: { what: "TypeError: undefined is not •••" } });
});

test("a cause is told at debug, and a JSON error is redacted", async () => {
  const [message, fields] = ["bad key-from-the-environment", { values: ["key-from-the-environment"] }];
  const error = new ConfigError({ code: "test.bad", message, fields }, new Error("underneath"));
  expect((await failing(error, ["sync", "--log-level=trace"])).err).toContain("caused by Error: underneath");
  const { out } = await failing(error, ["sync", "--json"]);
  expect(JSON.parse(out)).toEqual({
    ok: false,
    error: { code: "test.bad", message: "bad •••", fields: { values: ["•••"] }, exit_code: 2 },
  });
});

test("where closing failed as well, what the work failed with is told", async () => {
  const work = async () => {
    await using _opened = {
      [Symbol.asyncDispose]: () => Promise.reject(new Error("nothing left to close")),
    };
    throw new DestinationError(sentence("The disk is gone."));
  };
  const error: unknown = await work().catch(failure => failure);
  expect(await failing(error, ["sync"])).toEqual({ code: 6, out: "", err: "The disk is gone.\n" });
});
