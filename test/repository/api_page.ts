import { parseSync } from "rolldown/utils";
import { declarations } from "../../build.ts";

const head = `# The package in a program

Everything that \`tributary-warehouse\` exports, made from the comments in the code. What its functions do is what the commands of the same
names do, with the same guarantees; they write nothing to the console and never end the process. [README.md](../README.md#from-a-program)
has an example.

- Each function takes a warehouse that \`openWarehouse\` resolved to. Several warehouses can be at work side by side.
- \`sync\` and \`upload\` give a \`Run\`: await it for the report, iterate it for the progress.
- An \`AbortSignal\` stops work at its next safe point. \`close\`, or \`await using\`, stops everything that was begun with a warehouse.
- Errors say what was expected, what came and what to do, without secrets. Whatever is no \`TributaryError\` is a bug.
`;

interface Declared {
  readonly name: string;
  readonly kind: "Functions" | "Errors" | "Types";
  readonly comment: string;
  readonly text: string;
}

/** The text of docs/api.md. */
export async function apiPage(): Promise<string> {
  const declared = declaredIn(await declarations());
  const sections = (["Functions", "Types", "Errors"] as const).map(kind => {
    const own = declared.filter(one => one.kind === kind);
    return [`## ${kind}`, ...own.map(({ name, comment, text }) => [`### ${name}`, comment, fenced(text)].join("\n\n"))];
  });
  return `${[head.trimEnd(), ...sections.flat()].join("\n\n")}\n`;
}

/** The declarations of a file of types. @throws Error for one that is not exported, or has no comment */
export function declaredIn(types: string): readonly Declared[] {
  const { program, comments, errors } = parseSync("index.d.ts", types, { lang: "dts" });
  if (errors.length > 0) throw new Error(errors[0]!.message);
  /** By the name within the file. */
  const exported = new Map<string, string>();
  const declared: Declared[] = [];
  for (const node of program.body) {
    if (node.type === "ExportNamedDeclaration")
      for (const { local, exported: as } of node.specifiers)
        if (local.type === "Identifier" && as.type === "Identifier") exported.set(local.name, as.name);
    const own = node.type === "ExportNamedDeclaration" ? node.declaration : node;
    if (own == null || !("id" in own) || own.id == null || own.id.type !== "Identifier") continue;
    const { name } = own.id;
    if (own !== node) exported.set(name, name);
    const before = comments.findLast(({ end }) => end <= node.start);
    if (before === undefined || types.slice(before.end, node.start).trim() !== "")
      throw new Error(`${name} has no comment`);
    declared.push({
      ...{ name, kind: kindOf(own.type) },
      comment: proseOf(before.value),
      text: types.slice(own.start, own.end).replace(/^declare /, ""),
    });
  }
  const hidden = declared.filter(({ name }) => !exported.has(name)).map(({ name }) => name);
  if (hidden.length > 0)
    throw new Error(`src/library/index.ts has to export what its types need: ${hidden.join(", ")}`);
  return declared.map(one => {
    const name = exported.get(one.name)!;
    return { ...one, name, text: one.text.replace(` ${one.name}(`, ` ${name}(`) };
  });
}

const kindOf = (type: string): Declared["kind"] =>
  type === "ClassDeclaration" ? "Errors" : type.includes("Function") ? "Functions" : "Types";

/** A comment as a paragraph, and what is thrown as another. */
const proseOf = (comment: string): string =>
  comment
    .split("\n")
    .map(line => line.replace(/^\s*\*\s?/, "").trim())
    .join(" ")
    .trim()
    .replace(/\s*@throws /, "\n\nThrows ");

const fenced = (code: string): string => `\`\`\`ts\n${code}\n\`\`\``;
