import type { RolldownOptions } from "rolldown";
import plugin from "rollup-plugin-license";

// Its types speak of a default export, Node.js of the function itself.
const license = plugin as unknown as typeof plugin.default;

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
  plugins: [license({ cwd: import.meta.dirname, thirdParty: { output: "dist/LICENSES.txt" } })],
  output: { dir: "dist", format: "esm", cleanDir: true, chunkFileNames: "chunks/[name]-[hash].js" },
} satisfies RolldownOptions;
