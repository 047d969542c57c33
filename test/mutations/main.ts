import { rm } from "node:fs/promises";
import { parseArgs } from "node:util";
import { mutants } from "./list.ts";
import { labelOf } from "./mutant.ts";
import { copyProject, noticed, openTree, redOf } from "./tree.ts";

/*
 * npm run mutations: breaks each invariant in a copy of the project, one break at a time, and demands that a test of the
 * named file fails. --only <text>: mutants whose label or test file contains it. Ends with 1 if one of them got through.
 */
const { values } = parseArgs({ options: { only: { type: "string", default: "" } } });
const wanted = mutants.filter(mutant => [labelOf(mutant), mutant.tests].some(each => each.includes(values.only)));
if (wanted.length === 0) {
  process.stderr.write(`expected a part of a mutant's file, function or tests, got --only ${values.only}\n`);
  process.exit(2);
}
const folder = await copyProject();
const tree = openTree(folder);
try {
  const red = await redOf(tree, wanted);
  if (red.length > 0) throw new Error(`expected tests that pass while nothing is broken, got\n  ${red.join("\n  ")}`);
  let caught = 0;
  for (const mutant of wanted) {
    const begun = Date.now();
    const { isCaught, by } = await tree.broken(mutant, () => noticed(tree, mutant));
    if (isCaught) caught++;
    const seconds = Math.round((Date.now() - begun) / 1000);
    process.stdout.write(`${isCaught ? "caught" : "NOT CAUGHT"}  ${labelOf(mutant)}, ${seconds} s\n  ${by}\n`);
  }
  process.stdout.write(`${caught} of ${wanted.length} mutants were caught\n`);
  if (caught < wanted.length) process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
