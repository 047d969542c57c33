import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "rolldown";
import { expect, onTestFinished, test } from "vitest";
import { commitOf } from "../rolldown.config.ts";
import type { buildIdentity, versionInWords } from "../src/package_root.ts";
import { root } from "./repository/sources.ts";
import { commitAll } from "./support/built.ts";

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tributary-identity-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test("a build is named by its commit; by none where a file has changed since, and outside a repository", () => {
  const folder = emptyFolder();
  writeFileSync(join(folder, "a"), "1");
  expect(commitOf(folder)).toBe("");
  const first = commitAll(folder);
  expect(first).toMatch(/^[0-9a-f]{8}, \d{4}-\d\d-\d\d$/);
  expect(commitOf(folder)).toBe(first);
  writeFileSync(join(folder, "b"), "2");
  expect(commitOf(folder)).toBe("");
  expect(commitOf(folder) || commitAll(folder)).not.toBe(first);
  // A folder within somebody else's repository.
  mkdirSync(join(folder, "within"));
  expect(commitOf(join(folder, "within"))).toBe("");
});

/** A program of this commit that was installed at this time. */
async function installed(commit: string, at: number) {
  const folder = emptyFolder();
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", version: "1.2.3" }));
  const file = join(folder, "package_root.js");
  await build({
    input: join(root, "src/package_root.ts"),
    platform: "node",
    transform: { define: { BUILD: JSON.stringify(commit) } },
    output: { file },
  });
  utimesSync(file, at, at);
  const program: { buildIdentity: typeof buildIdentity; versionInWords: typeof versionInWords } = await import(file);
  return { identity: program.buildIdentity(), version: program.versionInWords() };
}

test("builds of one commit are one, whenever they were installed; without a commit their files' time tells them apart", async () => {
  const [first, again, other] = ["8f23a01b, 2026-11-29", "8f23a01b, 2026-11-29", "9c0d1e2f, 2026-11-30"];
  const programs = await Promise.all([installed(first, 1), installed(again, 2), installed(other, 2)]);
  const [one, same, next] = programs.map(({ identity }) => identity);
  expect(same).toBe(one);
  expect(next).not.toBe(one);
  expect(programs[0].version).toBe(`1.2.3 (${first})`);
  const unnamed = await Promise.all([installed("", 1), installed("", 2)]);
  expect(unnamed[0].identity).not.toBe(unnamed[1].identity);
  expect(unnamed[0].version).toBe("1.2.3");
});
