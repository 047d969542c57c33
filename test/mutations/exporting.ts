import type { Mutation } from "./mutation.ts";

const KILLED = { invariant: 12, test: "test/outputs/export/whole.test.ts", notices: "readers have the export before" };

/** Tables outside the warehouse. */
export const exporting: readonly Mutation[] = [
  {
    ...KILLED,
    name: "the version that readers are given makes room before the new one is there",
    file: "src/outputs/export/place.ts",
    text: "    await rename(folder, version);\n",
    becomes: "    await remove(path);\n    await rename(folder, version);\n",
  },
  {
    ...KILLED,
    name: "what a killed export left stays",
    file: "src/outputs/export/place.ts",
    text: 'if (releaseState || name.endsWith(".tmp")) await remove',
    becomes: 'if (releaseState && name.endsWith(".tmp")) await remove',
  },
  {
    invariant: 12,
    name: "tables of PostgreSQL are exported as they are when their turn comes",
    file: "src/warehouse/connect/exporting.ts",
    text: '.setIsolationLevel("repeatable read")',
    becomes: '.setIsolationLevel("read committed")',
    test: "test/outputs/export/whole.test.ts",
    notices: "what is written while PostgreSQL is read",
  },
  {
    invariant: 12,
    name: "files are taken over that are not as the manifest says",
    file: "src/outputs/export/writing.ts",
    text: "const kept = await areWhole(folder, before.files);",
    becomes: "const kept = (await areWhole(folder, before.files)) || true;",
    test: "test/outputs/export/steps.test.ts",
    notices: "damaged files are written anew",
  },
  {
    invariant: 11,
    name: "exports keep what was exported before a change of privacy",
    file: "src/outputs/export/renewing.ts",
    text: "if (made.every(manifest => isUnder(renewing.privacy, manifest))) continue;",
    becomes: "if (made.length > 0) continue;",
    test: "test/privacy/switching.test.ts",
    notices: "switched from keep to hash",
  },
];
