import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./sources.ts";

export interface Room {
  readonly name: string;
  readonly mayImport: readonly { readonly room: string; readonly typesOnly: boolean }[];
}

/** The map as ARCHITECTURE.md draws it. */
export interface HouseMap {
  /** From the top down. */
  readonly rooms: readonly Room[];
  readonly leaves: readonly string[];
  /** Files and folders that may import a package; none for one that only serves development. */
  readonly packages: ReadonlyMap<string, readonly string[]>;
  /** The room of a file, by the longest name that fits; undefined for a file that the map doesn't know. */
  roomOf(path: string): string | undefined;
}

export const LEAVES = "leaves";

export function readMap(): HouseMap {
  const page = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
  const layers = rowsOf(section(page, "Layers"));
  const rooms = layers.map(([name = "", , allowed = ""]) => ({
    name: quoted(name)[0] ?? name,
    mayImport: [...allowed.matchAll(/`([^`]+)`( \(types\))?/g)].map(match => ({
      room: match[1]!,
      typesOnly: match[2] !== undefined,
    })),
  }));
  const leaves = quoted(layers.find(([name]) => name === LEAVES)?.[1] ?? "");
  const packages = rowsOf(section(page, "Packages")).map(
    ([name = "", where = ""]) => [quoted(name)[0]!, quoted(where)] as const,
  );
  const heads = new Map(
    [...section(page, "Layers").matchAll(/((?:`[^`]+`(?: and )?)+)\s+to\s+`([^`]+)`/g)].flatMap(match =>
      quoted(match[1]!).map(file => [file, match[2]!] as const),
    ),
  );
  const names = rooms.map(room => room.name).sort((a, b) => b.length - a.length);
  return {
    rooms,
    leaves,
    packages: new Map(packages),
    roomOf: path =>
      leaves.includes(path)
        ? LEAVES
        : (heads.get(path) ?? names.find(name => (name.endsWith("/") ? path.startsWith(name) : path === name))),
  };
}

function section(page: string, title: string): string {
  const after = page.split(`\n## ${title}\n`)[1];
  if (after === undefined) throw new Error(`ARCHITECTURE.md has no section ${title}`);
  return after.split("\n## ")[0]!;
}

/** The cells of a table's rows, without its head. */
function rowsOf(text: string): string[][] {
  return text
    .split("\n")
    .filter(line => line.startsWith("|"))
    .slice(2)
    .map(line =>
      line
        .slice(1, -1)
        .split("|")
        .map(cell => cell.trim()),
    );
}

function quoted(text: string): string[] {
  return [...text.matchAll(/`([^`\n]+)`/g)].map(match => match[1]!);
}
