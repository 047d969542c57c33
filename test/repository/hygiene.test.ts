import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { longest } from "../support/order.ts";
import { root } from "./sources.ts";

const folders = ["src", "streams", "schemas", "reports", "simulator", "test", "bench"];
const pages = ["*.md", "*.json", "*.yaml", "*.ts", "bench/*.md", ".ci/*", "simulator/documented.json"];

/** What belongs to the project: git's list, or where there is no git the same folders. */
function projectFiles(): string[] {
  if (existsSync(join(root, ".git"))) {
    return execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" })
      .split("\0")
      .filter(path => path !== "" && existsSync(join(root, path)));
  }
  return [
    ...folders.flatMap(folder => globSync(`${folder}/**/*.ts`, { cwd: root })),
    ...globSync(pages, { cwd: root }),
  ];
}

const files = projectFiles().map(path => ({ path, text: readFileSync(join(root, path), "utf8") }));

// Spelled so that this file doesn't contain what it forbids.
const inSources = [
  /\b(?:test|it|describe|suite)(?:\.\w+)*\.(?:only|skip|todo)\b/,
  /\b(?:TO[D]O|FIX[M]E|XX[X])\b/,
  /\bas (?:unknown as )?an[y]\b|[:<] ?an[y]\b(?=[;,)>[\]= |])/,
  /@ts-(?:ign[o]re|noch[e]ck|exp[e]ct-error)/,
];
// Addresses of the reader's own machine and of example hosts are nobody's.
const everywhere = [
  /(?<![\w./~-])\/(?:work|root|Users|home\/\w+|tmp\/\w+)\/[\w.]/,
  /\bregistry\.(?!json)[\w-]+\.\w+|\bnpmr[c]\b|artifactor[y]|verdacci[o]/i,
];

function lines(
  patterns: readonly RegExp[],
  among: readonly { readonly path: string; readonly text: string }[],
): string[] {
  return among.flatMap(({ path, text }) =>
    text
      .split("\n")
      .flatMap((line, at) =>
        patterns.some(pattern => pattern.test(line)) ? [`${path}:${at + 1}: ${line.trim()}`] : [],
      ),
  );
}

test("sources have no test left out or alone, nothing unfinished, and no hole in the types", () => {
  const sources = files.filter(({ path }) => path.endsWith(".ts"));
  expect(sources.length).toBeGreaterThan(150);
  expect(lines(inSources, sources)).toEqual([]);
});

test("no file names this machine's folders or a package registry", () => {
  expect(lines(everywhere, files)).toEqual([]);
});

test("the lock file leaves open where packages come from", () => {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, { readonly resolved?: string; readonly integrity?: string }>>;
  };
  const entries = Object.entries(packages).filter(([path]) => path !== "");
  expect(entries.length).toBeGreaterThan(50);
  expect(entries.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
  expect(entries.filter(([, { integrity }]) => integrity === undefined)).toEqual([]);
});

test.each([
  [inSources, `test.${"only"}(`, true],
  [inSources, `describe.${"skip"}.each(`, true],
  [inSources, `// TO${"DO"}: later`, true],
  [inSources, `const x = y as an${"y"};`, true],
  [inSources, `f(x: an${"y"}): void`, true],
  [inSources, "// any of them: any", false],
  [inSources, "for the first time only (skip nothing)", false],
  [everywhere, `open("/wo${"rk"}/main/x")`, true],
  [everywhere, `"/ho${"me"}/someone/x"`, true],
  [everywhere, "https://host.example/root/x and ./work/x", false],
  [everywhere, `https://registry.${"npmjs"}.org/x`, true],
])("what is looked for is found: %#", (patterns, line, found) => {
  expect(lines(patterns, [{ path: "x", text: line }]).length > 0).toBe(found);
});

test("the files that the tests begin with are there", () => {
  expect(longest.filter(path => !existsSync(join(root, path)))).toEqual([]);
});
