import type { Mutation } from "./mutation.ts";

const KILLED = { invariant: 12, test: "test/outputs/export/whole.test.ts", notices: "readers have the export before" };

/** Tables outside the warehouse. */
export const exporting: readonly Mutation[] = [
  {
    ...KILLED,
    name: "the version that readers are given makes room before the new one is there",
    file: "src/outputs/export/place.ts",
    text: "  await rename(folder, version);\n",
    becomes: "  await remove(path);\n  await rename(folder, version);\n",
  },
  {
    ...KILLED,
    name: "what a killed export left stays",
    file: "src/outputs/export/place.ts",
    text: "names.filter(name => name.endsWith(UNFINISHED) &&",
    becomes: 'names.filter(name => name.endsWith("killed") &&',
  },
  {
    ...KILLED,
    name: "a version that was finished and never shown takes the place of one that readers have",
    file: "src/outputs/export/place.ts",
    text: "isVersion(name) && name > shown",
    becomes: "isVersion(name) && name < shown",
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
    name: "an export shows its version though another one has begun",
    file: "src/outputs/export/place.ts",
    text: 'const made = join(room, "link");',
    becomes: 'const made = join(home, "link");',
    test: "test/outputs/export/whole.test.ts",
    notices: "another export into the same folder",
  },
  {
    invariant: 11,
    name: "a change of privacy names the exports that need no change",
    file: "src/privacy/apply_policy.ts",
    text: "filter(noted => noted.policy !== policy.id)",
    becomes: "filter(noted => noted.policy === policy.id)",
    test: "test/privacy/switching.test.ts",
    notices: "switched from keep to hash",
  },
];
