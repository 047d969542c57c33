import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Plugin, RolldownOptions } from "rolldown";
import { generalMessages } from "./src/messages.ts";
import { manifest } from "./src/package_root.ts";

/** Libraries that are installed beside the program, because they are native. */
export const INSTALLED: readonly string[] = ["@duckdb/node-api"];

/** The modules of undici that are used. They are private: undici may move them, and test/repository/undici.test.ts sees it. */
export const UNDICI_MODULES = {
  api: "undici/lib/api/index.js",
  Dispatcher: "undici/lib/dispatcher/dispatcher.js",
  EnvHttpProxyAgent: "undici/lib/dispatcher/env-http-proxy-agent.js",
  Pool: "undici/lib/dispatcher/pool.js",
} as const;

/** What undici's own index.js does, for two of its classes. */
const leanIndex = `
${Object.entries(UNDICI_MODULES)
  .map(([name, path]) => `import ${name} from "${path}";`)
  .join("\n")}
Object.assign(Dispatcher.prototype, api);
export { EnvHttpProxyAgent, Pool };
`;

/**
 * Bundles two classes of undici instead of all of it. Its index.js loads fetch, WebSockets, caches and mocks, and its client
 * loads Node's HTTP/2, whether they are used or not; tributary uses none of them (`allowH2: false`). `npm run bench -- --part
 * undici` measures what this saves, and bench/README.md has the figures.
 */
export const leanUndici: Plugin = {
  name: "lean-undici",
  resolveId(source, importer) {
    if (source === "undici") return "\0undici";
    return source === "node:http2" && importer?.includes("undici") === true ? "\0http2" : undefined;
  },
  load(id) {
    if (id === "\0undici") return leanIndex;
    return id === "\0http2" ? "export const constants = {};" : undefined;
  },
};

const OLD_NODE = generalMessages.old_node({
  ...{ wanted: manifest().engines.node, version: "{version}", path: "{path}" },
});

/**
 * The commit checked out in a folder, and its date: `8f23a01b, 2026-11-29`. Empty without git, outside a repository, or if there are
 * changes that are not committed, because the commit would then name other sources.
 */
export function commitOf(folder: string): string {
  if (!existsSync(join(folder, ".git"))) return "";
  const git = (...words: string[]) =>
    execFileSync("git", words, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  try {
    return git("status", "--porcelain") === "" ? git("log", "-1", "--abbrev=8", "--format=%h, %cs") : "";
  } catch {
    return "";
  }
}

/*
 * The installed command is one program with its libraries in it: of the 0.9 s of CPU that a run costs before its first row,
 * 0.2 went into finding and loading a thousand small files. build.ts makes the package around it.
 */
export default {
  input: { tributary: "src/cli/start.ts", index: "src/library/index.ts" },
  platform: "node",
  transform: {
    define: { OLD_NODE: JSON.stringify(OLD_NODE), BUILD: JSON.stringify(commitOf(import.meta.dirname)) },
  },
  // pg asks for pg-native and does without.
  external: [...INSTALLED, "pg-native"],
  // Otherwise each part is headed by its path on the machine that built it.
  experimental: { attachDebugInfo: "none" },
  plugins: [leanUndici],
  // What can't be found would otherwise be looked for where the command is installed, and only once it runs.
  onLog(level, log, report) {
    report(log.code === "UNRESOLVED_IMPORT" ? "error" : level, log);
  },
  output: { dir: "dist", format: "esm", chunkFileNames: "chunks/[name]-[hash].js", comments: false },
} satisfies RolldownOptions;
