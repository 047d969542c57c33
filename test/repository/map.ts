import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./sources.ts";

/** What ARCHITECTURE.md lists. */
export interface ArchitectureMap {
  /** Folders, each with a slash at its end, from the top of the imports down. */
  readonly rooms: readonly string[];
  /** Files and folders that may import a package; none for one that only serves development. */
  readonly packages: ReadonlyMap<string, readonly string[]>;
}

export function readMap(): ArchitectureMap {
  const page = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
  const packages = rowsOf(section(page, "Packages")).flatMap(([names = "", where = ""]) =>
    quoted(names).map(name => [name, quoted(where)] as const),
  );
  return {
    rooms: rowsOf(section(page, "Rooms")).map(([name = ""]) => quoted(name)[0] ?? name),
    packages: new Map(packages),
  };
}

/**
 * The room of a file: its own folder. Connector and simulator are a room each, with all their folders; undefined for a
 * folder that the list lacks.
 */
export function roomOf(rooms: readonly string[], path: string): string | undefined {
  const whole = rooms.find(room => !room.startsWith("src/") && path.startsWith(room));
  const own = `${dirname(path)}/`;
  return whole ?? (rooms.includes(own) ? own : undefined);
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
