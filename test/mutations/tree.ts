import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { z } from "zod";
import type { Mutation } from "./mutation.ts";

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
  /** Does something while the mutation stands in its file. */
  broken<T>(mutation: Mutation, doing: () => Promise<T>): Promise<T>;
  /** Runs the tests of these files whose names contain one of the texts; `again`: so many times more where one fails. */
  test(files: readonly string[], names: readonly string[], again?: number): Promise<Report>;
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
    async broken({ name, file, text: before, becomes }, doing) {
      const path = join(folder, file);
      const source = await readFile(path, "utf8");
      if (source.split(before).length !== 2) throw new Error(`${name}: expected its text exactly once in ${file}`);
      await writeFile(
        path,
        source.replace(before, () => becomes),
      );
      try {
        return await doing();
      } finally {
        await writeFile(path, source);
      }
    },
    async test(files, names, again = 0) {
      const output = join(folder, "report.json");
      await rm(output, { force: true });
      const pattern = names.map(each => each.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
      const words = [
        "run",
        ...files,
        `--testNamePattern=${pattern}`,
        `--retry=${again}`,
        "--reporter=json",
        `--outputFile=${output}`,
      ];
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

/** Tests that fail though nothing is broken, and names that none of them bears. */
export async function redOf(tree: Tree, mutations: readonly Mutation[]): Promise<string[]> {
  const files = [...new Set(mutations.map(({ test }) => test))];
  const report = await tree.test(files, [...new Set(mutations.map(({ notices }) => notices))], 2);
  const ran = (mutation: Mutation) => outcomes(report, mutation).filter(status => status === "passed").length;
  return [
    ...report.testResults.flatMap(({ name, message, assertionResults }) => [
      ...(message === "" ? [] : [`${name}: ${message}`]),
      ...assertionResults.filter(({ status }) => status === "failed").map(({ fullName }) => fullName),
    ]),
    ...mutations.filter(each => ran(each) === 0).map(({ test, notices }) => `${test} ran no test named ${notices}`),
  ];
}

/** Whether the test named for a mutation fails while it stands, and if not, what happened. */
export async function noticed(tree: Tree, mutation: Mutation): Promise<string> {
  const report = await tree.test([mutation.test], [mutation.notices]);
  const statuses = outcomes(report, mutation);
  if (statuses.includes("failed")) return "caught";
  const message = report.testResults.map(each => each.message).join(" ");
  return statuses.includes("passed") ? "SURVIVED" : `DID NOT RUN ${message}`;
}

function outcomes({ testResults }: Report, { test, notices }: Mutation): string[] {
  return testResults
    .filter(({ name }) => name.endsWith(test))
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ fullName }) => fullName.includes(notices))
    .map(({ status }) => status);
}
