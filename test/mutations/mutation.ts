/** A break of the product on purpose, and the test that has to notice it. */
export interface Mutation {
  /** What the product would do then. */
  readonly name: string;
  /** Number of the invariant in docs/invariants.md that it breaks. */
  readonly invariant: number;
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly text: string;
  readonly becomes: string;
  /** A test file; of its tests those whose names contain `notices` are run, and one of them has to fail. */
  readonly test: string;
  readonly notices: string;
}
