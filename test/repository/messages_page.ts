import { globSync } from "node:fs";
import { join } from "node:path";
import type { Message } from "../../src/message.ts";
import { root } from "./sources.ts";

/** One message of each code, as the catalogs of the rooms render it, in order of the codes. */
export async function examples(): Promise<readonly Message[]> {
  const found: Message[] = [];
  for (const path of globSync("src/**/messages.ts", { cwd: root })) {
    const exported = (await import(join(root, path))) as Readonly<Record<string, object>>;
    // Beside catalogs such files export words that several sentences share.
    for (const maker of Object.values(exported).flatMap(each => Object.values(each)))
      if (typeof maker === "function" && "example" in maker) found.push(maker.example as Message);
  }
  return found.sort((a, b) => (a.code < b.code ? -1 : 1));
}

/** The text of docs/messages.md. It is the golden file, too: a sentence changes in its catalog and there, and in no test. */
export async function messagesPage(): Promise<string> {
  const all = await examples();
  const topics = Map.groupBy(all, ({ code }) => code.split(".")[0]!);
  const head = `# Messages

Each error, warning, note, check line and log line has a code, which stays the same when the sentence is improved. \`--json\`, log
lines and notifications carry the code and, under \`fields\`, the facts of the sentence. Programs should use these. The sentences
below are examples. \`npm run generate\` makes this page from the catalogs (\`messages.ts\`) in \`src/\`.`;
  const sections = [...topics].map(([topic, messages]) => {
    const rows = messages.map(({ code, message }) => `| \`${code}\` | ${cell(message)} |`);
    return `## ${topic}\n\n| code | example |\n| --- | --- |\n${rows.join("\n")}`;
  });
  return `${[head, ...sections].join("\n\n")}\n`;
}

/** Text that Markdown shows as it is, in one cell. */
const cell = (text: string): string =>
  text
    .replace(/[\\`*_<>|[\]$]/g, "\\$&")
    .trim()
    .replaceAll("\n", "<br>");
