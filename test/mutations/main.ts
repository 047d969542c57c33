import { rm } from "node:fs/promises";
import { parseArgs } from "node:util";
import { mutations } from "./list.ts";
import { copyProject, noticed, openTree, redOf } from "./tree.ts";

/*
 * npm run mutations: breaks each invariant in a copy of the project, one break at a time, and demands that the test named for
 * it fails. --only <text>: those whose name, file or test contains it. Ends with 1 when one got through.
 */
const { values } = parseArgs({ options: { only: { type: "string", default: "" } } });
const wanted = mutations.filter(({ name, file, test }) => [name, file, test].some(each => each.includes(values.only)));
if (wanted.length === 0) {
  process.stderr.write(`expected a part of a mutation's name, file or test, got --only ${values.only}\n`);
  process.exit(2);
}
const folder = await copyProject();
const tree = openTree(folder);
try {
  const red = await redOf(tree, wanted);
  if (red.length > 0) throw new Error(`expected tests that pass while nothing is broken, got\n  ${red.join("\n  ")}`);
  const rows: Record<string, unknown>[] = [];
  for (const mutation of wanted) {
    const begun = Date.now();
    const verdict = await tree.broken(mutation, () => noticed(tree, mutation));
    const { name, invariant, test } = mutation;
    const seconds = Math.round((Date.now() - begun) / 1000);
    rows.push({ mutation: name, invariant, test: test.replace(/^test\//, ""), seconds, verdict });
    process.stderr.write(`${verdict === "caught" ? "." : `\n${name}: ${verdict}\n`}`);
  }
  process.stderr.write("\n");
  console.table(rows);
  const caught = rows.filter(({ verdict }) => verdict === "caught").length;
  process.stdout.write(`${caught} of ${rows.length} mutations were caught\n`);
  if (caught < rows.length) process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
