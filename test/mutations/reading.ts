import type { Mutation } from "./mutation.ts";

const meaning = { invariant: 13, file: "src/catalog/meaning.ts" } as const;
const doubt = {
  invariant: 13,
  file: "src/sync/run/assumptions.ts",
  test: "test/sync/run/assumptions.test.ts",
} as const;

/** What a value means is said by the configuration, and doubted aloud. */
export const reading: readonly Mutation[] = [
  {
    ...meaning,
    name: "what nothing says is taken for a no",
    text: "then false end`",
    becomes: "then false else false end`",
    test: "test/models/meanings.test.ts",
    notices: "what says nothing is not known",
  },
  {
    ...meaning,
    name: "a total of nothing is a credit",
    text: "} < 0`, tells }",
    becomes: "} < 10`, tells }",
    test: "test/models/spend.test.ts",
    notices: "never across currencies, with credits beside",
  },
  {
    ...meaning,
    name: "values are compared as they are written",
    text: "`lower(trim(",
    becomes: "`trim((",
    test: "test/models/meanings.test.ts",
    notices: "values count in any case",
  },
  {
    ...doubt,
    name: "the money of few rows is nothing to warn of",
    text: "Math.max(taken, money) <= meaning.most",
    becomes: "taken <= meaning.most",
    notices: "each is a warning with its line of the configuration",
  },
  {
    ...doubt,
    name: "a few rows are enough to doubt a rule",
    text: "share.column === null || share.rows < LEAST_ROWS",
    becomes: "share.column === null",
    notices: "and nothing else is one",
  },
  {
    ...doubt,
    name: "a share may jump",
    text: "if (Math.abs(is - was) <= JUMP) return undefined;",
    becomes: "if (Math.abs(is - was) <= 1) return undefined;",
    notices: "a share that jumps from one run to the next is told once",
  },
];
