import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { commands } from "../../src/cli/program.ts";
import { deafContext } from "../cli/process.ts";
import { pages, read } from "../repository/pages.ts";
import { root } from "../repository/sources.ts";
import { type Finding, findingsIn } from "./rules.ts";

/*
 * npm run lint:text: holds the English of pages and help texts against our rules. findings.json counts the findings of each
 * page by rule, and its counts may only fall: --lower writes lower ones. With --all it prints every finding.
 */

export interface Placed extends Pick<Finding, "rule" | "message"> {
  readonly page: string;
  readonly place: string;
}
/** By page and rule. */
export type Findings = ReadonlyMap<string, readonly Placed[]>;
export type Counts = Readonly<Record<string, number>>;

const countsPath = "test/language/findings.json";

async function allFindings(): Promise<Findings> {
  const found = [...(await findingsInTexts(await helpTexts()))];
  for (const page of pages.filter(page => /^(docs\/|[^/]+$)/.test(page))) {
    const findings = await findingsIn(read(page));
    found.push(...findings.map(({ line, ...finding }) => ({ ...finding, page, place: `${page}:${line}` })));
  }
  return Map.groupBy(found, ({ page, rule }) => `${page} ${rule}`);
}

/** Findings in the help, of which each text has its place. */
export async function findingsInTexts(texts: ReadonlyMap<string, string>): Promise<readonly Placed[]> {
  const places = [...texts.values()];
  // Each text is a paragraph of one line.
  const findings = await findingsIn([...texts.keys()].join("\n\n"));
  return findings.map(({ line, ...finding }) => ({ ...finding, page: "help", place: places[(line - 1) / 2]! }));
}

/** The texts of the command line's help, each with its first place: commands share options. */
async function helpTexts(): Promise<ReadonlyMap<string, string>> {
  const places = new Map<string, string>();
  const add = (text: string, place: string) => {
    if (text !== "" && !places.has(text)) places.set(text, place);
  };
  const { context } = deafContext({ env: {}, cwd: root });
  for (const [name, summary, load] of commands) {
    const command = new Command(name);
    (await load()).register(command, context);
    add(summary, `tributary ${name}`);
    add(command.description(), `tributary ${name}`);
    for (const { description, flags } of command.options) add(description, `tributary ${name} ${flags}`);
    for (const argument of command.registeredArguments)
      add(argument.description, `tributary ${name} <${argument.name()}>`);
  }
  return places;
}

/** Findings of a page and a rule that are more than their count, and names of those that are fewer. */
export function complaints(found: Findings, counts: Counts): readonly string[] {
  const names = [...new Set([...found.keys(), ...Object.keys(counts)])].sort();
  return names.flatMap(name => {
    const [findings, count] = [found.get(name) ?? [], counts[name] ?? 0];
    const more = findings.length - count;
    const difference = `${name}: ${findings.length} findings, expected ${count} (${countsPath}).`;
    if (more < 0) return [`${difference} \`npm run lint:text -- --lower\` writes the lower counts.`];
    return more === 0 ? [] : [...findings.map(lineOf), `${difference} Mend ${more} of these sentences.`];
  });
}

const lineOf = ({ place, message }: Placed): string => `${place}: ${message}`;

/** Counts after a fall; none is 0. */
export function lowered(found: Findings, counts: Counts): Counts {
  const lower = Object.entries(counts).map(
    ([name, count]) => [name, Math.min(count, found.get(name)?.length ?? 0)] as const,
  );
  return Object.fromEntries(lower.filter(([, count]) => count > 0));
}

if (process.argv[1] === import.meta.filename) {
  const found = await allFindings();
  const counts = JSON.parse(read(countsPath)) as Counts;
  if (process.argv.includes("--lower"))
    writeFileSync(join(root, countsPath), `${JSON.stringify(lowered(found, counts), null, 2)}\n`);
  else if (process.argv.includes("--all"))
    for (const finding of [...found.values()].flat()) console.log(lineOf(finding));
  else {
    const lines = complaints(found, counts);
    for (const line of lines) console.error(line);
    if (lines.length > 0) process.exitCode = 1;
  }
}
