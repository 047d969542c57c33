import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import type { CliContext } from "../../src/cli/invocation/context.ts";
import { attachOptions, runOptions } from "../../src/cli/invocation/options.ts";
import { commands } from "../../src/cli/program.ts";
import { configSchema } from "../../src/config/schema.ts";
import { backfillOptions, reportOptions, syncFlags, uploadOptions } from "../../src/options/options.ts";
import { schemaKeys } from "../config/schema_keys.ts";
import { expression, retiredLines, string } from "../language/comments.ts";
import { generated } from "./generate.ts";
import { root, sourcesIn } from "./sources.ts";

/*
 * npm run size: prints each size of the project beside its limit in limits.json. Sizes only fall: size.test.ts fails where
 * one is above its limit, or so far below that the limit no longer holds it. With --lower it writes the lower limits.
 */

export interface Size {
  readonly name: string;
  readonly count: () => number | Promise<number>;
}

/** Lines count if people write them: TypeScript, SQL, styles and scripts of pages, but no file that a command makes. */
export const sizes: readonly Size[] = [
  { name: "lines of the engine", count: () => lines("{src,reader,assets,reports}/**/*.{ts,css,js,sql}") },
  { name: "lines of the connector", count: () => lines("{streams,schemas,models}/**/*.{ts,sql}") },
  { name: "lines of the simulator, with its tests", count: () => lines("simulator/**/*.ts") },
  { name: "lines of the tests", count: () => lines("test/**/*.ts") },
  { name: "options that a command declares itself", count: declaredOptions },
  { name: "keys of the configuration", count: () => schemaKeys(configSchema).length },
  { name: "names of core that other rooms import", count: () => new Set(importedOfCore().flat()).size },
  { name: "places that import names of core", count: () => importedOfCore().length },
  {
    name: "comment lines with a retired word",
    count: () => sum("{src,reader,streams,schemas,simulator,bench,test}/**/*.ts", text => retiredLines(text).length),
  },
  {
    name: "assertions of a whole sentence",
    count: () => sum("{test,simulator/test}/**/*.ts", text => sentenceAssertions(text)),
  },
];

function sum(pattern: string, count: (text: string) => number): number {
  const paths = globSync(pattern, { cwd: root }).map(path => path.replaceAll("\\", "/"));
  const written = paths.filter(path => !generated.some(file => file.path === path));
  const texts = written.map(path => readFileSync(join(root, path), "utf8"));
  return texts.reduce((all, text) => all + count(text), 0);
}

const lines = (pattern: string): number => sum(pattern, text => text.split("\n").length - 1);

/** Options of all commands and their subcommands, without those that they share with each other, the library, jobs or schedules. */
async function declaredOptions(): Promise<number> {
  const program = new Command();
  // Commands use their context when they run.
  for (const [name, , load] of commands) (await load()).register(program.command(name), {} as CliContext);
  const optionsOf = (command: Command): readonly string[] => [
    ...command.options.map(({ flags, description }) => `${flags}: ${description}`),
    ...command.commands.flatMap(optionsOf),
  ];
  const several = [syncFlags, backfillOptions, uploadOptions, reportOptions];
  const command = new Command();
  attachOptions(command, [...runOptions, "yes"]);
  const shared = [
    command,
    ...several.map(own => {
      const each = new Command();
      attachOptions(each, [own]);
      return each;
    }),
  ].flatMap(optionsOf);
  return optionsOf(program).filter(option => !shared.includes(option)).length;
}

const core = /^src\/(catalog|rows|source|config|warehouse|sync)\//;

/** For each import of a file of core by a file of `src` outside it: the names, each with its file. */
function importedOfCore(): readonly (readonly string[])[] {
  const users = sourcesIn("src").filter(({ path }) => !core.test(path));
  const imports = users.flatMap(source => source.imports).filter(({ to }) => core.test(to));
  return imports.map(({ to, names }) => names.map(name => `${to} ${name}`));
}

const assertion = new RegExp(
  String.raw`\b(?:toThrow|stringContaining|stringMatching|toMatch|toContain|toBe|toEqual)\(\s*(${string}|${expression})`,
  "g",
);

/** How many assertions of a test compare with a literal of four words or more. */
export function sentenceAssertions(source: string): number {
  const literals = [...source.matchAll(assertion)].map(match => match[1]!.slice(1, -1));
  return literals.filter(literal => literal.trim().split(/\s+/).length >= 4).length;
}

export interface Limit {
  readonly limit: number;
  /** Why it was raised, if it ever was. */
  readonly raised?: string;
}

const limitsPath = join(root, "test/repository/limits.json");

export const limits = JSON.parse(readFileSync(limitsPath, "utf8")) as Readonly<Record<string, Limit>>;

const formatted = (count: number): string => count.toLocaleString("en");

/** The complaint about a count that its limit does not hold. A hundredth below is fine, or each commit would edit limits. */
export function complaint(name: string, count: number, limit: number): string | undefined {
  const state = `${name}: ${formatted(count)}, limit ${formatted(limit)}.`;
  if (count > limit) return `${state} Take some away, or raise the limit in test/repository/limits.json with a reason`;
  if (count < limit - Math.floor(limit / 100)) return `${state} Lower the limit: npm run size -- --lower`;
  return undefined;
}

/** The limits for these counts: lower where a count is lower, with room for the lines of a few commits, else as they are. */
export function lowered(
  present: Readonly<Record<string, Limit>>,
  counts: ReadonlyMap<string, number>,
): Readonly<Record<string, Limit>> {
  const entries = Object.entries(present).map(([name, { limit, ...others }]) => {
    const count = counts.get(name) ?? limit;
    return [name, { limit: Math.min(limit, count + Math.floor(count / 200)), ...others }] as const;
  });
  return Object.fromEntries(entries);
}

if (process.argv[1] === import.meta.filename) {
  const counts = new Map<string, number>();
  for (const { name, count } of sizes) counts.set(name, await count());
  const held = process.argv.includes("--lower") ? lowered(limits, counts) : limits;
  if (held !== limits) writeFileSync(limitsPath, `${JSON.stringify(held, null, 2)}\n`);
  console.log(`${"".padEnd(40)}${"now".padStart(8)}${"limit".padStart(8)}`);
  for (const [name, count] of counts)
    console.log(`${name.padEnd(40)}${formatted(count).padStart(8)}${formatted(held[name]!.limit).padStart(8)}`);
  const complaints = [...counts].flatMap(([name, count]) => complaint(name, count, held[name]!.limit) ?? []);
  if (complaints.length > 0) console.log(`\n${complaints.join("\n")}`);
  process.exitCode = complaints.length > 0 ? 1 : 0;
}
