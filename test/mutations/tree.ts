import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { z } from "zod";
import { changed } from "./change.ts";
import type { Mutant } from "./mutant.ts";

const root = resolve(import.meta.dirname, "../..");
const LONGEST_MS = 600_000;

const reportOf = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      message: z.string(),
      assertionResults: z.array(z.object({ fullName: z.string(), status: z.string() })),
    }),
  ),
});
type Report = z.infer<typeof reportOf>;

/** A copy of the project that may be broken. */
export interface Tree {
  /** Does something while the mutant's file is changed. */
  broken<T>(mutant: Mutant, doing: () => Promise<T>): Promise<T>;
  /** Runs test files, with a further option of Vitest. */
  test(files: readonly string[], option: string): Promise<Report>;
}

/** The project as it is now, what is not committed included, in a folder of its own beside the same packages. */
export async function copyProject(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tributary-mutations-"));
  const words = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const { stdout } = await promisify(execFile)("git", words, { cwd: root, maxBuffer: 1 << 24 });
  for (const path of stdout.split("\0").filter(each => each !== "" && existsSync(join(root, each)))) {
    await mkdir(join(folder, dirname(path)), { recursive: true });
    await cp(join(root, path), join(folder, path));
  }
  await symlink(join(root, "node_modules"), join(folder, "node_modules"), "junction");
  return folder;
}

export function openTree(folder: string): Tree {
  return {
    async broken({ file, in: name, change }, doing) {
      const path = join(folder, file);
      const source = await readFile(path, "utf8");
      await writeFile(path, changed(source, name, change));
      try {
        return await doing();
      } finally {
        await writeFile(path, source);
      }
    },
    async test(files, option) {
      const output = join(folder, "report.json");
      await rm(output, { force: true });
      const config = "--config=test/mutations/vitest.config.ts";
      const words = ["run", ...files, config, option, "--reporter=json", `--outputFile=${output}`];
      const child = spawn(process.execPath, [join(root, "node_modules/vitest/vitest.mjs"), ...words], {
        cwd: folder,
        timeout: LONGEST_MS,
        stdio: ["ignore", "pipe", "pipe"],
      });
      const outputs = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
      const report = reportOf.parse(JSON.parse(await readFile(output, "utf8").catch(() => '{"testResults":[]}')));
      if (report.testResults.length === 0)
        throw new Error(`expected a report of ${files.join(" ")}, got\n${outputs[0]}${outputs[1]}`);
      return report;
    },
  };
}

/** Tests that fail though nothing is broken, and files that hold none. */
export async function redOf(tree: Tree, mutants: readonly Mutant[]): Promise<string[]> {
  const files = [...new Set(mutants.map(({ tests }) => tests))];
  const { testResults } = await tree.test(files, "--retry=2");
  return files.flatMap(file => {
    const own = testResults.filter(({ name }) => name.endsWith(file));
    const all = own.flatMap(({ assertionResults }) => assertionResults);
    const faults = own.flatMap(({ message }) => (message === "" ? [] : [`${file}: ${message}`]));
    const failed = all.filter(({ status }) => status === "failed").map(({ fullName }) => fullName);
    return all.some(({ status }) => status === "passed") ? [...faults, ...failed] : [...faults, `${file} ran no test`];
  });
}

/** Whether a test fails while the mutant is there: that test, or else the reason why none does. */
export async function noticed(
  tree: Tree,
  { tests }: Mutant,
): Promise<{ readonly isCaught: boolean; readonly by: string }> {
  const { testResults } = await tree.test([tests], "--bail=1");
  const all = testResults.flatMap(({ assertionResults }) => assertionResults);
  const failed = all.find(({ status }) => status === "failed");
  if (failed !== undefined) return { isCaught: true, by: failed.fullName };
  const message = testResults.map(each => each.message).join(" ");
  return { isCaught: false, by: message === "" ? `every test of ${tests} passed` : message };
}
