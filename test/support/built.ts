import { execFileSync } from "node:child_process";
import { chmod, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "rolldown";
import config from "../../rolldown.config.ts";

const root = resolve(import.meta.dirname, "../..");

/**
 * Builds the command that tests start. A sync by the sources takes twice the CPU: their types are stripped at each start.
 * Sources that can't be built are started as they are, so that tests that need no process of their own run all the same.
 */
export async function buildProgram(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "tributary-built-"));
  // Some tests start it as another user.
  await chmod(folder, 0o755);
  for (const part of ["node_modules", "package.json", "config.example.yaml", "models", "assets"])
    await symlink(join(root, part), join(folder, part), "junction");
  const dir = join(folder, "dist");
  try {
    await build({ ...config, cwd: root, logLevel: "warn", output: { ...config.output, dir } });
    process.env["TRIBUTARY_BUILT"] = join(dir, "tributary.js");
  } catch (error) {
    process.stderr.write(`The command could not be built, tests start its sources: ${error}\n`);
  }
  return () => rm(folder, { recursive: true, force: true });
}

const git = (folder: string, ...words: string[]): string =>
  execFileSync("git", words, { cwd: folder, encoding: "utf8" }).trim();

/** Makes a repository of a folder, or commits what has changed in it. Returns the commit and its date. */
export function commitAll(folder: string): string {
  const author = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"];
  git(folder, "init", "--quiet");
  git(folder, "add", ".");
  git(folder, ...author, "commit", "--quiet", "--message", "all");
  return git(folder, "log", "-1", "--abbrev=8", "--format=%h, %cs");
}
