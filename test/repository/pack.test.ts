import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startSimulator } from "../../simulator/simulator.ts";
import type { RunReport } from "../../src/sync/run/run.ts";
import { root } from "./sources.ts";

/*
 * What a user gets: the tarball of `npm pack`, installed in a folder that has nothing else. It is built in a copy, so that
 * it holds the present sources and no other test finds `dist` half made.
 */

const KEY = "a-key-that-nobody-sees";
const parts = [
  "src",
  "streams",
  "schemas",
  "reports",
  "simulator",
  "models",
  "package.json",
  "tsconfig.json",
  "rolldown.config.ts",
  "docs",
  "deploy",
];
const pages = ["config.example.yaml", "README.md", "ARCHITECTURE.md", "CHANGELOG.md", "LICENSE"];

let folder: string;
let home: string;
let installed: string;
let packed: readonly string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tributary-pack-"));
  const copy = join(folder, "copy");
  home = join(folder, "home");
  await mkdir(copy);
  await mkdir(home);
  for (const part of [...parts, ...pages]) await cp(join(root, part), join(copy, part), { recursive: true });
  await symlink(join(root, "node_modules"), join(copy, "node_modules"), "junction");
  const pack = await run("npm", ["pack", "--json", "--pack-destination", folder], copy);
  expect(pack).toMatchObject({ code: 0 });
  const { filename, files } = tarballOf(JSON.parse(pack.stdout.slice(pack.stdout.search(/^[[{]/m))));
  packed = files.map(({ path }) => path);
  await writeFile(join(home, "package.json"), '{ "private": true }');
  const tarball = join(folder, filename);
  const quiet = ["--omit=dev", "--prefer-offline", "--no-audit", "--no-fund"];
  expect(await run("npm", ["install", tarball, ...quiet], home)).toMatchObject({ code: 0 });
  installed = join(home, "node_modules", "tributary-warehouse");
}, 600_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

test("the tarball holds the program and its pages, no sources, tests, maps, or paths of this machine", async () => {
  const others = packed.filter(path => !/^(dist\/chunks\/.+\.js|docs\/.+|models\/\w+\.sql|deploy\/.+)$/.test(path));
  const made = ["dist/tributary.js", "dist/LICENSES.txt"];
  expect(others.sort()).toEqual([...pages, ...made, "package.json"].sort());
  const leaks: string[] = [];
  for (const path of packed) {
    const content = await readFile(join(installed, path), "utf8");
    if ([root, folder, "sourceMappingURL"].some(trace => content.includes(trace))) leaks.push(path);
  }
  expect(leaks).toEqual([]);
});

test("the command says its version and its help", async () => {
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { readonly version: string };
  expect(await tributary(["--version"])).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: "" });
  const help = await tributary(["--help"]);
  expect(help).toMatchObject({ code: 0, stderr: "" });
  expect(help.stdout).toMatch(/^ {2}sync\b/m);
});

test("init, config and streams work out of the tarball", async () => {
  expect(await tributary(["init", "--yes"])).toMatchObject({ code: 0, stderr: "" });
  expect(await readFile(join(home, "config.yaml"), "utf8")).toBe(
    await readFile(join(root, "config.example.yaml"), "utf8"),
  );
  const config = await tributary(["config"]);
  expect(config).toMatchObject({ code: 0, stderr: "" });
  expect(config.stdout).not.toContain(KEY);
  const streams = await tributary(["streams"]);
  expect(streams).toMatchObject({ code: 0, stderr: "" });
  expect(streams.stdout).toContain("purchase_order_details");
});

test("a sync over HTTP fills a warehouse, and the next one finds nothing new", async () => {
  const sizes = { orders: 40, invoices: 40, items: 40, findings: 20, ingested: 60 };
  const simulator = await startSimulator({ sizes, key: KEY });
  try {
    const config = ["api:", `  base_url: ${simulator.url}`, `  key: \${PROCUREMENT_API_KEY}`, "company: acme", ""];
    await writeFile(join(home, "small.yaml"), config.join("\n"));
    const runs: RunReport[] = [];
    for (const _ of ["first", "second"]) {
      const ended = await tributary(["sync", "--config", "small.yaml", "--json", "--log-level", "warn"]);
      expect(ended).toMatchObject({ code: 0, stderr: "" });
      runs.push(JSON.parse(ended.stdout) as RunReport);
    }
    const counts = runs.map(({ streams }) =>
      streams.map(({ stream, status, inserted, updated, deleted }) => ({ stream, status, inserted, updated, deleted })),
    );
    expect(counts[0]).toContainEqual({
      stream: "purchase_order_details",
      status: "succeeded",
      inserted: 40,
      updated: 0,
      deleted: 0,
    });
    expect(counts[1]).toEqual(
      counts[0]!.map(({ stream, status }) => ({ stream, status, inserted: 0, updated: 0, deleted: 0 })),
    );
    expect(await readdir(home)).toEqual(expect.arrayContaining(["warehouse.duckdb", "warehouse.versions"]));
  } finally {
    await simulator.close();
  }
});

const tributary = (words: readonly string[]) => run("npx", ["--no", "--", "tributary", ...words], home);

/** npm's own commands and everything below them run on the Node.js of this test. */
async function run(command: string, words: readonly string[], cwd: string) {
  const path = [dirname(process.execPath), process.env["PATH"]].join(delimiter);
  const env = { ...process.env, PATH: path, PROCUREMENT_API_KEY: KEY, npm_config_loglevel: "error" };
  const shell = process.platform === "win32";
  const child = spawn(command, words, { cwd, env, shell, stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code: code as number | null, stdout, stderr };
}

interface Tarball {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

/** Older versions of npm answer a list, newer ones an object by package. */
function tarballOf(answer: Tarball[] | Record<string, Tarball>): Tarball {
  const [first] = Object.values(answer);
  if (first === undefined) throw new Error("npm pack made no tarball");
  return first;
}
