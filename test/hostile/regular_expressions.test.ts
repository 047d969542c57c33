import { globSync, readFileSync } from "node:fs";
import { parseSync } from "rolldown/utils";
import { describe, expect, test } from "vitest";
import { createRedactor } from "../../src/secrets.ts";

/*
 * Vendors write what the service tells: no regular expression may take quadratic time over it, or a text of 200 kB stops the
 * process for a minute. Which text gets where is hard to say for certain, so every literal in src/ is tried, whatever it reads,
 * with texts made of its own pieces.
 */

interface Literal {
  readonly places: string[];
  readonly source: string;
  readonly flags: string;
}

function literals(): Literal[] {
  const found = new Map<string, Literal>();
  for (const file of globSync("src/**/*.ts").sort()) {
    JSON.stringify(parseSync(file, readFileSync(file, "utf8")).program, (_, node) => {
      if (node?.type !== "Literal" || node.regex === undefined) return typeof node === "bigint" ? undefined : node;
      const { pattern, flags } = node.regex;
      const literal: Literal = found.get(node.raw) ?? { places: [], source: pattern, flags };
      literal.places.push(file);
      found.set(node.raw, literal);
      return undefined;
    });
  }
  return [...found.values()];
}

const candidates = [...`aZ0_-./:,;+*=@&?#%$\\"'\`<>()[]{}| \t\n•\u0000\u1100`, "é", "\ud83d\ude00"];

/** The pattern's characters and classes in their order, each as one or two texts that it matches; letters in a row are one. */
function pieces({ source, flags }: Literal): string[][] {
  const parts = source.match(/\[(?:\\.|[^\]\\])*\]|\\[pP]\{[^}]*\}|\\u\{?[0-9a-fA-F]+\}?|\\.|\w+|[^\w]/gsu) ?? [];
  return parts.flatMap(part => {
    if (/^(?:[()|^$?*+{}]|\\[bB])$/.test(part)) return [];
    if (/^\w+$/.test(part)) return [[part]];
    const piece = new RegExp(`^(?:${part})$`, flags.replace(/[gy]/g, ""));
    const matched = candidates.filter(candidate => piece.test(candidate));
    return matched.length === 0 ? [] : [[...new Set([matched[0]!, matched.at(-1)!])]];
  });
}

/** Beginnings, what is repeated after them, and an end that nothing matches: only then all ways are tried. */
function attacks(literal: Literal): [string, string, string][] {
  const all = pieces(literal).slice(0, 40);
  const firsts = all.map(([first]) => first!);
  const runs = new Set(["a", "0", " ", "\\", '"', "/", "<", "&", "a ", "://", "a.a-", ...candidates.slice(0, 3)]);
  const made: [string, string, string][] = [];
  all.forEach((samples, index) => {
    for (const sample of samples) runs.add(sample);
    for (let end = index + 2; end <= Math.min(all.length, index + 4); end++)
      runs.add(firsts.slice(index, end).join(""));
    for (const sample of samples)
      for (const last of ["\u0001", "\n\u0001"]) made.push([firsts.slice(0, index).join(""), sample, last]);
  });
  for (const run of runs) made.push(["", run, "\n\u0001"]);
  return made;
}

/** What it takes of this thread's time, whatever else the machine does, in milliseconds. */
function timed(act: () => void): number {
  const begun = process.threadCpuUsage();
  act();
  const { user, system } = process.threadCpuUsage(begun);
  return (user + system) / 1_000;
}

const TINY_MS = 25;
const PARTS = 8;

/**
 * Whether a text takes more than thrice the time of its parts one by one, by the least of several: as much is read, so that
 * a clock of coarse steps tells both apart (square: 8 times). A short text comes first, or a failure takes hours.
 */
function isQuadratic(look: (text: string) => unknown, [first, run, last]: readonly [string, string, string]): boolean {
  const text = (length: number): string => first + run.repeat(Math.ceil(length / run.length)) + last;
  return [20_000, 200_000].some(length => {
    const whole = text(length);
    let part: string | undefined;
    let [together, apart] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let round = 0; round < 5; round++) {
      together = Math.min(
        together,
        timed(() => look(whole)),
      );
      if (together < TINY_MS) return false;
      part ??= text(length / PARTS);
      const eighth = part;
      apart = Math.min(
        apart,
        timed(() => {
          for (let index = 0; index < PARTS; index++) look(eighth);
        }),
      );
      if (together <= 3 * apart) return false;
    }
    return true;
  });
}

const found = literals();

const secrets = ["a", "public", "sk-4711", "/path", '"quoted"', '\\n\\"\\', "<&>", " 1 2"];
const hostile = [
  "a",
  "public",
  "\\",
  '\\\\"',
  "/",
  "http://u:",
  "http://u:p@h ",
  "a.a-",
  "%",
  "%2",
  "&#x0",
  '{"',
  " ",
  "Bearer ",
  "'",
  "=",
];
test.each(hostile)("what hides secrets takes linear time over %j again and again", run => {
  const redact = createRedactor(secrets);
  const about = [...secrets, ""].map((first): [string, string, string] => [`http://u:p@h ${first}`, run, '":']);
  expect(about.find(attack => isQuadratic(redact, attack))).toBeUndefined();
});

test("the literals are found", () => expect(found.length).toBeGreaterThan(150));

describe("time grows with the text, not with its square", () => {
  test.each(found.map(literal => [`/${literal.source}/${literal.flags}`, literal] as const))("%s", (_, literal) => {
    const pattern = new RegExp(literal.source, literal.flags);
    const bad = attacks(literal).find(attack => isQuadratic(text => text.replace(pattern, ""), attack));
    expect(bad, literal.places.join()).toBeUndefined();
  });
});
