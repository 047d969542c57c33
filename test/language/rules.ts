import { createRequire } from "node:module";
import { TextlintKernel, type TextlintPluginCreator, type TextlintRuleReporter } from "@textlint/kernel";
import { retiredBeginnings, retiredWords } from "./retired_words.ts";

/*
 * The part of our rules for English that a machine can check, as rules of textlint.
 */

// Node.js and vitest disagree about the default export of a CommonJS module.
const { default: markdown } = createRequire(import.meta.url)("@textlint/textlint-plugin-markdown") as {
  readonly default: TextlintPluginCreator;
};

export interface Finding {
  readonly rule: string;
  readonly line: number;
  /** The sentence's beginning, the problem, and what to write instead. */
  readonly message: string;
}

type Context = Parameters<TextlintRuleReporter>[0];
type Node = Parameters<Context["report"]>[0] & { readonly children?: readonly Node[] };

interface Sentence {
  /** Where it begins within its block. */
  readonly at: number;
  /** Without markup; a piece of code is one word. */
  readonly text: string;
  readonly words: number;
}

const longestSentence = 30;
const longestAverage = 18;
const shortestListItem = 4;

const segmenter = new Intl.Segmenter("en", { granularity: "sentence" });

/** The sentences of a block, without labels of lists. */
function sentencesOf(block: Node): readonly Sentence[] {
  const fewest = block.parent?.type === "ListItem" ? shortestListItem : 1;
  return [...segmenter.segment(proseOf(block))].flatMap(({ segment, index }) => {
    const words = segment.split(" ").filter(word => /[\p{L}\p{N}]/u.test(word)).length;
    const at = index + segment.length - segment.trimStart().length;
    return words < fewest ? [] : [{ at, text: segment.trim(), words }];
  });
}

/** A block's text with spaces instead of markup, so that each character keeps its place. */
function proseOf(block: Node): string {
  let prose = "";
  const visit = (node: Node): void => {
    const written = node.type === "Code" ? "C".padEnd(node.raw.length, "o") : node.raw;
    if (node.type === "Str" || node.type === "Code") prose = prose.padEnd(node.range[0] - block.range[0]) + written;
    else for (const child of node.children ?? []) visit(child);
  };
  visit(block);
  return prose.replace(/\s/g, " ");
}

/** Each problem of a sentence, with what to write instead. */
type Check = (sentence: Sentence) => readonly string[];

function rule(check: Check, where: readonly string[]): TextlintRuleReporter {
  return ({ report, RuleError, locator }) => {
    const look = (block: Node): void => {
      for (const sentence of sentencesOf(block)) {
        const raw = block.raw.slice(sentence.at, sentence.at + sentence.text.length).replace(/\s+/g, " ");
        const beginning = raw.length > 60 ? `${raw.slice(0, 60)}…` : raw;
        for (const advice of check(sentence))
          report(block, new RuleError(`"${beginning}" ${advice}`, { padding: locator.at(sentence.at) }));
      }
    };
    return Object.fromEntries(where.map(type => [type, look]));
  };
}

const average: TextlintRuleReporter = ({ report, RuleError }) => {
  const lengths: number[] = [];
  return {
    Paragraph: node => void lengths.push(...sentencesOf(node).map(({ words }) => words)),
    "Document:exit": node => {
      const words = lengths.reduce((sum, length) => sum + length, 0) / lengths.length;
      if (words > longestAverage)
        report(
          node,
          new RuleError(`A sentence has ${words.toFixed(1)} words on average. Write at most ${longestAverage}.`),
        );
    },
  };
};

/** Each use of the words. */
function uses(words: readonly string[], advice: (word: string) => string): Check {
  const pattern = new RegExp(`\\b(?:${words.join("|")})\\b`, "gi");
  return ({ text }) => (text.replace(/ +/g, " ").match(pattern) ?? []).map(word => `has "${word}". ${advice(word)}`);
}

const beginning = new RegExp(`^[^\\p{L}]*(${retiredBeginnings.join("|")})\\b`, "iu");
const passives = ["is", "are", "was", "were"]
  .flatMap(form => ["told", "asked", "said", "shown"].map(verb => `${form} ${verb}`))
  .filter(passive => !retiredWords.some(word => passive.endsWith(word)));
const british = "(?:behaviour|colour|favour|licence|centre|(?:organ|recogn)is[aei])\\w*";
const american = (word: string) =>
  word
    .replace("our", "or")
    .replace("cence", "cense")
    .replace("tre", "ter")
    .replace(/is(?=[aei])/, "iz");

const running = ["Paragraph"];
const everywhere = ["Paragraph", "Header", "TableCell"];
const rules: Readonly<Record<string, TextlintRuleReporter>> = {
  beginning: rule(({ text }) => {
    const word = beginning.exec(text)?.[1];
    if (word === undefined || (/^what$/i.test(word) && text.endsWith("?"))) return [];
    return [`begins with "${word}". Begin with who does it.`];
  }, running),
  length: rule(
    ({ words }) =>
      words > longestSentence ? [`has ${words} words. Write at most ${longestSentence}: two sentences or a list.`] : [],
    running,
  ),
  average,
  retired: rule(
    uses(retiredWords, () => "Use the field's word, with who does it."),
    everywhere,
  ),
  passive: rule(
    uses(passives, () => "Name who says or shows it."),
    everywhere,
  ),
  american: rule(
    uses([british], word => `Write "${american(word)}".`),
    everywhere,
  ),
};

const kernel = new TextlintKernel();
const options = {
  ext: ".md",
  plugins: [{ pluginId: "markdown", plugin: markdown }],
  rules: Object.entries(rules).map(([ruleId, rule]) => ({ ruleId, rule })),
};

/** The findings in a text of Markdown. */
export async function findingsIn(text: string): Promise<readonly Finding[]> {
  const { messages } = await kernel.lintText(text, options);
  return messages.map(({ ruleId, loc, message }) => ({ rule: ruleId, line: loc.start.line, message }));
}
