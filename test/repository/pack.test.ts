import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { COPIED } from "../../build.ts";
import { startSimulator } from "../../simulator/simulator.ts";
import type { RunReport } from "../../src/sync/run/run.ts";
import { commitAll } from "../support/built.ts";
import { root } from "./sources.ts";

/*
 * What a user gets: the tarball of `npm pack ./dist`, installed in a folder that has nothing else. It is built in a copy, so
 * that it holds the present sources and no other test finds `dist` half made.
 */

const KEY = "a-key-that-nobody-sees";
const parts = [
  "src",
  "streams",
  "schemas",
  "reports",
  "simulator",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "rolldown.config.ts",
  "build.ts",
  ...COPIED,
];

let folder: string;
let home: string;
let installed: string;
let packed: readonly string[];
/** Its sources' commit. */
let commit: string;
/** Of the libraries in the program, by the licences beside it: name@version. */
let bundled: readonly string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tributary-pack-"));
  const copy = join(folder, "copy");
  home = join(folder, "home");
  await mkdir(copy);
  await mkdir(home);
  for (const part of parts) await cp(join(root, part), join(copy, part), { recursive: true });
  await mkdir(join(copy, "deploy/secrets"), { recursive: true });
  await writeFile(join(copy, "deploy/secrets/status_token"), "a-token-that-nobody-sees");
  await symlink(join(root, "node_modules"), join(copy, "node_modules"), "junction");
  await writeFile(join(copy, ".gitignore"), "node_modules\n");
  commit = commitAll(copy);
  expect(await run("npm", ["run", "build"], copy)).toMatchObject({ code: 0 });
  const pack = await run("npm", ["pack", "./dist", "--json", "--pack-destination", folder], copy);
  expect(pack).toMatchObject({ code: 0 });
  const { filename, files } = tarballOf(JSON.parse(pack.stdout.slice(pack.stdout.search(/^[[{]/m))));
  packed = files.map(({ path }) => path);
  await writeFile(join(home, "package.json"), '{ "private": true }');
  const tarball = join(folder, filename);
  const quiet = ["--omit=dev", "--prefer-offline", "--no-audit", "--no-fund"];
  expect(await run("npm", ["install", tarball, ...quiet], home)).toMatchObject({ code: 0 });
  installed = join(home, "node_modules", "tributary-warehouse");
  const licenses = await readFile(join(installed, "LICENSES.txt"), "utf8");
  bundled = [...licenses.matchAll(/^Name: (\S+)\nVersion: (\S+)$/gm)].map(([, name, version]) => `${name}@${version}`);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

test("the tarball holds the program and its pages, no sources, tests, maps, secrets, or paths of this machine", async () => {
  const others = packed.filter(
    path => !/^(chunks\/.+\.js|docs\/.+|models\/(\w+\.sql|columns\.json)|assets\/.+|deploy\/.+)$/.test(path),
  );
  const made = ["tributary.js", "index.js", "index.d.ts", "package.json", "LICENSES.txt", "sbom.cdx.json"];
  const pages = COPIED.filter(part => part.includes(".") || part === "LICENSE");
  expect(others.sort()).toEqual([...pages, ...made].sort());
  for (const part of COPIED) expect(packed.filter(path => `${path}/`.startsWith(`${part}/`))).not.toEqual([]);
  expect(packed.filter(path => path.includes("status_token"))).toEqual([]);
  const leaks: string[] = [];
  for (const path of packed) {
    const content = await readFile(join(installed, path), "utf8");
    if ([root, folder, "tributary-sbom-", "sourceMappingURL"].some(trace => content.includes(trace))) leaks.push(path);
  }
  expect(leaks).toEqual([]);
});

test("the manifest is the repository's, and asks for nothing but DuckDB", async () => {
  const source = await readJson(join(root, "package.json"));
  const { name, version, description, license, type, engines, dependencies } = source;
  const duckdb = { "@duckdb/node-api": dependencies["@duckdb/node-api"] };
  const bin = { tributary: "tributary.js" };
  const exports = { ".": { types: "./index.d.ts", default: "./index.js" }, "./package.json": "./package.json" };
  const expected = { name, version, description, license, type, engines, bin, exports, dependencies: duckdb };
  expect(await readJson(join(installed, "package.json"))).toEqual(expected);
  // Only dist/ can be published.
  expect(source.private).toBe(true);
});

test("every library in the program is a runtime dependency: npm ls and npm audit with --omit=dev see it", async () => {
  const { packages } = await readJson(join(root, "package-lock.json"));
  const runtime = Object.entries<{ readonly version: string; readonly dev?: boolean }>(packages)
    .filter(([path, { dev }]) => path !== "" && dev !== true)
    .map(([path, { version }]) => `${path.replace(/^.*node_modules\//, "")}@${version}`);
  expect(bundled.filter(library => !runtime.includes(library))).toEqual([]);
});

test("the bill of materials is CycloneDX and lists every library that is bundled or installed", async () => {
  const text = await readFile(join(installed, "sbom.cdx.json"), "utf8");
  const { metadata, components, dependencies, ...head } = JSON.parse(text) as Bom;
  // Without serial number and time, so that the same sources make the same file.
  expect(head).toEqual({ $schema: expect.any(String), bomFormat: "CycloneDX", specVersion: "1.5", version: 1 });
  const { name, version } = await readJson(join(root, "package.json"));
  expect(Object.keys(metadata).sort()).toEqual(["component", "lifecycles", "tools"]);
  expect(metadata.component).toMatchObject({ "bom-ref": `${name}@${version}`, type: "application", name, version });
  const listed = components.map(component => `${component.name}@${component.version}`);
  expect(bundled.length).toBeGreaterThan(50);
  expect(bundled.filter(library => !listed.includes(library))).toEqual([]);
  const there = await readdir(join(home, "node_modules", "@duckdb"));
  expect(there.filter(library => !listed.some(one => one.startsWith(`@duckdb/${library}@`)))).toEqual([]);
  for (const component of components)
    expect(component).toMatchObject({
      "bom-ref": `${component.name}@${component.version}`,
      type: "library",
      purl: `pkg:npm/${component.name.replace("@", "%40")}@${component.version}`,
      scope: expect.stringMatching(/^(required|optional)$/),
      hashes: [{ alg: "SHA-512", content: expect.stringMatching(/^[0-9a-f]{128}$/) }],
      licenses: [expect.anything()],
    });
  const refs = [metadata.component, ...components].map(component => component["bom-ref"]);
  expect(new Set(refs).size).toBe(refs.length);
  expect(dependencies.map(({ ref }) => ref).sort()).toEqual(refs.sort());
  expect(dependencies.flatMap(({ dependsOn }) => dependsOn).filter(ref => !refs.includes(ref))).toEqual([]);
  // No address but the schema's: where packages came from is nobody's.
  expect(text.match(/https?:[^"]+/g)).toEqual([JSON.parse(text).$schema]);
});

test("the command prints its version, commit and date, and its help", async () => {
  const { version } = await readJson(join(root, "package.json"));
  expect(await tributary(["--version"])).toMatchObject({ code: 0, stdout: `${version} (${commit})\n`, stderr: "" });
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
  const simulator = await service(join(home, "small.yaml"));
  try {
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

test("README's program runs and has types that fit, and the process ends by itself", async () => {
  const readme = await readFile(join(root, "README.md"), "utf8");
  const example = /\n## From a program\n\n```js\n([\s\S]+?)```/.exec(readme)![1]!;
  const program = join(home, "program");
  await mkdir(program);
  const simulator = await service(join(program, "config.yaml"));
  try {
    await writeFile(join(program, "example.mts"), example);
    const options = {
      module: "nodenext",
      target: "es2024",
      lib: ["esnext", "dom"],
      types: [],
      strict: true,
      noEmit: true,
    };
    await writeFile(
      join(program, "tsconfig.json"),
      JSON.stringify({ compilerOptions: options, files: ["example.mts"] }),
    );
    const compiler = join(root, "node_modules/typescript/bin/tsc");
    expect(await run("node", [compiler], program)).toEqual({ code: 0, stdout: "", stderr: "" });
    const ended = await run("node", ["example.mts"], program);
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    const rows = ended.stdout.trimEnd().split("\n");
    expect(rows).toHaveLength(40);
    expect(rows[0]).toMatch(/^succeeded PO-\S+ \d+\.\d+ null$/);
  } finally {
    await simulator.close();
  }
});

/** A small service, and a configuration for it. */
async function service(file: string) {
  const sizes = { orders: 40, invoices: 40, items: 40, findings: 20, ingested: 60 };
  const simulator = await startSimulator({ sizes, key: KEY });
  const config = ["api:", `  base_url: ${simulator.url}`, `  key: \${PROCUREMENT_API_KEY}`, "company: acme", ""];
  await writeFile(file, config.join("\n"));
  return simulator;
}

const readJson = async (file: string) => JSON.parse(await readFile(file, "utf8"));

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

interface Component {
  readonly "bom-ref": string;
  readonly name: string;
  readonly version: string;
}

interface Bom {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
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
