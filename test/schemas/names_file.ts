import type { Preset, Stream } from "../../src/catalog/stream.ts";
import { coreTables, names } from "./names.ts";

const presets: readonly Preset[] = ["core", "standard", "all", "lookup"];

/** The text of names.ts: the names that stand there, and those that the catalogue has beside them. */
export function namesFile(streams: readonly Stream[]): string {
  const known = new Set(Object.values(names).flat());
  const added = streams.filter(({ name }) => !known.has(name));
  const lists = presets.map(preset => {
    const own = added.filter(stream => stream.preset === preset).map(({ name }) => name);
    return `  ${preset}: [\n${lines([...(names[preset] ?? []), ...own], 4)}  ],\n`;
  });
  return `${HEAD}export const names: Readonly<Record<string, readonly string[]>> = {\n${lists.join("")}};

/** The tables of preset core: the names that analysts write in SQL. */
export const coreTables: readonly string[] = [\n${lines([...coreTables, ...coreTablesOf(streams)], 2)}];
`;
}

export function coreTablesOf(streams: readonly Stream[]): string[] {
  return streams
    .filter(({ preset }) => preset === "core")
    .flatMap(({ tables: { main, children } }) => [main, ...children].map(({ name }) => name));
}

const HEAD = `/*
 * \`npm run generate\` adds new names and takes none out: they are promised to users. Whoever means to rename or remove one
 * edits this file.
 */

/** The streams by the smallest preset that has them: the names that users write in configurations. */
`;

const lines = (all: readonly string[], indent: number): string =>
  [...new Set(all)]
    .sort()
    .map(name => `${" ".repeat(indent)}"${name}",\n`)
    .join("");
