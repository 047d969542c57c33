import { retiredBeginnings, retiredWords } from "./retired_words.ts";

const quoted = String.raw`"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'`;
/** Source of a regular expression that finds a regular expression. */
export const expression = String.raw`\/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/`;
/** Source of a regular expression that finds a string, or a template whose values hold no template. */
export const string = `${quoted}|\`(?:\\\\[\\s\\S]|[^\`\\\\])*\``;

// A slash divides, unless it stands where a value begins: the formatter leaves the sign of a division at a line's end.
const token = new RegExp(
  String.raw`\/\/.*|\/\*[\s\S]*?\*\/|${quoted}|(?<=(?:^|[=(,:[!&|?{;>]|\breturn)\s*)${expression}|[\`{}]`,
  "gm",
);
const restOfTemplate = /(?:\\[\s\S]|(?!\$\{)[^`\\])*(?:`|\$\{|$)/y;

export interface Comment {
  readonly at: number;
  readonly text: string;
}

/** The comments of a TypeScript source; text in strings, templates and regular expressions is none. */
export function commentsIn(source: string): readonly Comment[] {
  const comments: Comment[] = [];
  const open: string[] = [];
  token.lastIndex = 0;
  for (let match = token.exec(source); match !== null; match = token.exec(source)) {
    const text = match[0];
    if (/^\/[/*]/.test(text)) comments.push({ at: match.index, text });
    if (text === "{") open.push(text);
    if (text !== "`" && !(text === "}" && open.pop() === "`")) continue;
    restOfTemplate.lastIndex = token.lastIndex;
    if (restOfTemplate.exec(source)?.[0].endsWith("${")) open.push("`");
    token.lastIndex = restOfTemplate.lastIndex;
  }
  return comments;
}

/** The source with its comments empty, line by line. */
export function withoutComments(source: string): string {
  return replaced(
    source,
    code => code,
    comment => comment.replace(/[^\n]/g, ""),
  );
}

function replaced(source: string, code: (text: string) => string, comment: (text: string) => string): string {
  let end = 0;
  const parts = commentsIn(source).flatMap(({ at, text }) => {
    const before = source.slice(end, at);
    end = at + text.length;
    return [code(before), comment(text)];
  });
  return parts.join("") + code(source.slice(end));
}

const alternatives = (words: readonly string[]): string => `(?:${words.join("|").replaceAll(" ", "\\s+")})\\b`;
const opener = new RegExp(`(?<=(?:^|¦|[.!?]["'\`)]*|\\n\\s*\\n)\\s*)${alternatives(retiredBeginnings)}`, "g");
const word = new RegExp(`\\b${alternatives(retiredWords)}`, "gi");

/** The lines of a source, from 1, on which a comment has a retired word, or begins a sentence with a retired opener. */
export function retiredLines(source: string): readonly number[] {
  const blank = (marks: string): string => " ".repeat(marks.length);
  // Each mark of code ends a sentence; a comment of several lines is one text.
  const prose = replaced(
    source,
    code => code.replace(/\S/g, "¦"),
    comment => comment.replace(/\*\/$|^\/[/*]+|^\s*\*/gm, blank),
  );
  const starts = [...prose.matchAll(opener), ...prose.matchAll(word)].map(({ index }) => index);
  return [...new Set(starts.map(at => prose.slice(0, at).split("\n").length))].sort((a, b) => a - b);
}
