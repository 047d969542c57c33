import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./sources.ts";

/** A file's text, by its path below the root. */
export const read = (path: string): string => readFileSync(join(root, path), "utf8");

/** All Markdown pages of the project, by their paths below the root. */
export const pages: readonly string[] = globSync(
  ["*.md", ...["docs", "deploy", "bench", "test", "src", "simulator"].map(folder => `${folder}/**/*.md`)],
  { cwd: root },
)
  .map(path => path.replaceAll("\\", "/"))
  .sort();

/** Those that say how to use tributary. */
export const userPages = pages.filter(page => !/^(bench|test|src|simulator)\//.test(page));

/** The code blocks of a page that are in a language. */
export function blocks(page: string, language: string): readonly string[] {
  const block = new RegExp(`^\`\`\`${language}\n([\\s\\S]+?)^\`\`\``, "gm");
  return [...read(page).matchAll(block)].map(match => match[1]!);
}

/** Code blocks and code spans of a text. */
export function codeIn(text: string): readonly string[] {
  return [...text.matchAll(/```[a-z]*\n([\s\S]+?)```|`([^`\n]+)`/g)].map(match => match[1] ?? match[2]!);
}

/** A command of tributary, and an option where the text gives it one. */
export interface Use {
  readonly command: string;
  readonly options: readonly string[];
}

/** How a text uses the command: in code, and in rows of a table that begin with a command, whose options are the command's. */
export function usesIn(text: string): readonly Use[] {
  const code = codeIn(text).flatMap(piece => [...piece.matchAll(/\btributary (?!tributary\b)([a-z]+)\b([^\n&|;]*)/g)]);
  const rows = text.matchAll(/^\| `tributary ([a-z]+)\b(.*)$/gm);
  return [...code, ...rows].map(match => ({ command: match[1]!, options: optionsIn(match[2]!) }));
}

/** Options of tributary that a text names by themselves. */
export function bareOptionsIn(text: string): readonly string[] {
  return codeIn(text).flatMap(piece => (piece.startsWith("--") && !piece.includes("\n") ? optionsIn(piece) : []));
}

const optionsIn = (text: string): readonly string[] => text.match(/(?<![\w-])--[a-z][a-z-]*/g) ?? [];

/** Where a page's links and pictures lead to, other sites left out. */
export function linksIn(text: string): readonly string[] {
  const targets = [...text.replace(/```[\s\S]*?```/g, "").matchAll(/\]\(([^)\s]+)\)/g)].map(match => match[1]!);
  return targets.filter(link => !/^(https?|mailto):/.test(link));
}

/** The anchors of a page's headings, as the usual viewers make them. */
export function anchorsIn(text: string): readonly string[] {
  const headings = [...text.replace(/```[\s\S]*?```/g, "").matchAll(/^#+ (.+)$/gm)].map(match => match[1]!);
  return headings.map(heading =>
    heading
      .toLowerCase()
      .replace(/[^\w\s-]/g, "")
      .replace(/\s/g, "-"),
  );
}

/** Files and folders of the project that a text names from the root on. */
export function filesIn(text: string): readonly string[] {
  const file = /^(src|streams|schemas|reports|test|bench|simulator)\/[^\s*<]*$|^models\/\w+\.sql$/;
  return [...new Set(codeIn(text).filter(name => file.test(name)))];
}
