/* biome-ignore-all lint/suspicious/noTemplateCurlyInString: they stand in the sources. */
import type { Mutation } from "./mutation.ts";

const test = "test/warehouse/conformance/planner.test.ts";

/** Which details a night looks at again, and what it learns of them. */
export const planning: readonly Mutation[] = [
  {
    name: "a planner that starves: nobody is looked at for having waited longest",
    invariant: 6,
    file: "src/warehouse/details/planner.ts",
    text: 'choose("oldest", shares.oldest, left, seen)',
    becomes: 'choose("oldest", 0, left, seen)',
    test,
    notices: "nobody waits longer than the bound",
  },
  {
    name: "the sample is drawn from those too that are looked at anyway",
    invariant: 6,
    file: "src/warehouse/details/planner.ts",
    text: 'choose("sample", shares.sample, left, drawn)',
    becomes: 'choose("sample", shares.sample, sql`${scored} c`, drawn)',
    test,
    notices: "causes come by their age, then chance, age and index",
  },
  {
    name: "an estimator that counts its own choices",
    invariant: 6,
    file: "src/warehouse/details/learner.ts",
    text: "from ${looks} where why = 'sample'",
    becomes: "from ${looks}",
    test,
    notices: "samples hold what was drawn by chance alone",
  },
  {
    name: "what a cause foretold counts as a change that nothing foretold",
    invariant: 6,
    file: "src/warehouse/details/learner.ts",
    text: "where l.why <> 'caused') v",
    becomes: ") v",
    test,
    notices: "a find counts as one change after the time that it may be expected in",
  },
  {
    name: "a promise of active details that looks at others keep",
    invariant: 6,
    file: "src/warehouse/details/learner.ts",
    text: "case when active then ${longer",
    becomes: "case when true then ${longer",
    test,
    notices: "samples hold what was drawn by chance alone",
  },
  {
    name: "the rest of a limit is taken by the first stream that asks",
    invariant: 6,
    file: "src/sync/stream/room.ts",
    text: "/ (1 + sharers!.length)",
    becomes: "/ 1",
    test: "test/sync/run/requests_left.test.ts",
    notices: "goes to looks at unchanged rows, to each stream of details an equal share",
  },
];
