import type { Change } from "./change.ts";

/** A break of the program on purpose, and the tests that have to notice it. */
export interface Mutant {
  /** Number of the invariant in docs/invariants.md that it breaks. */
  readonly invariant: number;
  readonly file: string;
  /** Name of a top-level function or constant, or of a method; it stands once in the file. */
  readonly in: string;
  readonly change: Change;
  /** A test file; one of its tests has to fail. */
  readonly tests: string;
}

/** How a mutant is named in reports, and found by `--only`. */
export function labelOf({ invariant, file, in: name, change }: Mutant): string {
  const [kind, by] = Object.entries(change)[0]!;
  return `${invariant}: ${file} ${name} ${kind} ${by}`;
}
