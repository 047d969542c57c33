import type { Plugin, RolldownOptions } from "rolldown";
import plugin from "rollup-plugin-license";

// Its types speak of a default export, Node.js of the function itself.
const license = plugin as unknown as typeof plugin.default;

/** What is used of undici. */
const USED = `
import api from "undici/lib/api/index.js";
import Dispatcher from "undici/lib/dispatcher/dispatcher.js";
import EnvHttpProxyAgent from "undici/lib/dispatcher/env-http-proxy-agent.js";
import Pool from "undici/lib/dispatcher/pool.js";
Object.assign(Dispatcher.prototype, api);
export { EnvHttpProxyAgent, Pool };
`;

/**
 * undici loads all of itself, fetch and WebSockets too, and Node's HTTP/2, whether they are used or not, and we speak
 * HTTP/1.1: 15 MB of memory and 50 ms of each start.
 */
export const leanUndici: Plugin = {
  name: "lean-undici",
  resolveId(source, importer) {
    if (source === "undici") return "\0undici";
    return source === "node:http2" && importer?.includes("undici") === true ? "\0http2" : undefined;
  },
  load(id) {
    if (id === "\0undici") return USED;
    return id === "\0http2" ? "export const constants = {};" : undefined;
  },
};

/*
 * The installed command is one program with its packages in it: of the 0.9 s of CPU that a run costs before its first row,
 * 0.2 went into finding and loading a thousand small files. DuckDB stays a package of its own, a native one.
 */
export default {
  input: { tributary: "src/cli/main.ts" },
  platform: "node",
  external: ["@duckdb/node-api", "pg-native"],
  // Else each part is headed by its path on the machine that built it.
  experimental: { attachDebugInfo: "none" },
  plugins: [leanUndici, license({ cwd: import.meta.dirname, thirdParty: { output: "dist/LICENSES.txt" } })],
  output: { dir: "dist", format: "esm", cleanDir: true, chunkFileNames: "chunks/[name]-[hash].js", comments: false },
} satisfies RolldownOptions;
