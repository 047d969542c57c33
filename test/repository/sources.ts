import { globSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";

export const root = join(import.meta.dirname, "../..");

export interface Import {
  /** Path below the root with slashes, or a package's name. */
  readonly to: string;
  readonly isPackage: boolean;
  /** Gone when the types are stripped. */
  readonly typesOnly: boolean;
  /** As the imported file calls them; `*` for all of them. */
  readonly names: readonly string[];
}

export interface Source {
  readonly path: string;
  readonly text: string;
  readonly imports: readonly Import[];
}

const statement = /^(?:import|export)\s+(?<types>type\s)?(?:(?<names>[^"';]*?)\sfrom\s+)?"(?<from>[^"]+)"/gm;
const dynamic = /(?:\{(?<names>[^{}]*)\}\s*=\s*await\s+)?\bimport\(\s*"(?<from>[^"]+)"/g;
const computed = /\bimport\(\s*[^"\s]/;

/** All TypeScript of the given folders, with what it imports; modules of Node.js left out. */
export function sourcesIn(...folders: readonly string[]): readonly Source[] {
  return folders
    .flatMap(folder => globSync(`${folder}/**/*.ts`, { cwd: root }))
    .map(path => path.replaceAll("\\", "/"))
    .sort()
    .map(path => {
      const text = readFileSync(join(root, path), "utf8");
      if (computed.test(text)) throw new Error(`${path} imports something that only a running program knows`);
      return { path, text, imports: importsOf(path, text) };
    });
}

export function importsOf(path: string, text: string): readonly Import[] {
  return [...text.matchAll(statement), ...text.matchAll(dynamic)]
    .map(({ groups }) => ({
      from: groups!["from"]!,
      typesOnly: groups!["types"] !== undefined,
      names: namesIn(groups!["names"] ?? ""),
    }))
    .filter(({ from }) => !from.startsWith("node:"))
    .map(({ from, ...found }) =>
      from.startsWith(".")
        ? { to: posix.normalize(posix.join(dirname(path), from)), isPackage: false, ...found }
        : { to: packageOf(from), isPackage: true, ...found },
    );
}

/** `{ a, type B, c as d }` → `a`, `B`, `c`. */
function namesIn(clause: string): readonly string[] {
  const parts = clause.replace(/[{}]/g, "").split(",");
  return parts.map(part => /^(?:type\s+)?([^\s:]*)/.exec(part.trim())![1]!).filter(name => name !== "");
}

/** `@scope/name/part` → `@scope/name`. */
function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

/** Dependencies and devDependencies of package.json. */
export function packages(): { readonly runtime: readonly string[]; readonly development: readonly string[] } {
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Record<string, object>;
  return {
    runtime: Object.keys(manifest["dependencies"] ?? {}),
    development: Object.keys(manifest["devDependencies"] ?? {}),
  };
}
