import type { Mutation } from "./mutation.ts";

/** Runs that several processes share. */
export const sharing: readonly Mutation[] = [
  {
    name: "a worker that was taken for dead ends the job of the one that goes on",
    invariant: 16,
    file: "src/fleet/queue.ts",
    text: "    await this.#boss.complete(claim.kind, attemptOf(claim), output);",
    becomes: "    await this.#boss.complete(claim.kind, claim.id, output);",
    test: "test/fleet/queue.test.ts",
    notices: "a claim that has lapsed cannot complete, give back or keep what is another worker's",
  },
  {
    name: "what a dead worker's session holds keeps out who goes on",
    invariant: 16,
    file: "src/warehouse/postgres/locks.ts",
    text: "    if (this.#run.takesOver === true) await",
    becomes: "    if (this.#run.takesOver === undefined) await",
    test: "test/warehouse/postgres/parts.test.ts",
    notices: "who goes on with a part ends the session of the same run that still holds it, and no other run's",
  },
  {
    name: "a part takes back how far the windows of others are",
    invariant: 16,
    file: "src/warehouse/state/stream_state.ts",
    text: "hasWindow(part, nth) ? (windows[nth] ?? window) : window",
    becomes: "windows[nth] ?? window",
    test: "test/warehouse/state/stream_state.test.ts",
    notices: "a part says how far its own windows are, and leaves those of the others as they have published them",
  },
  {
    name: "parts that touch no row write the stream's state beside each other",
    invariant: 16,
    file: "src/warehouse/merge/apply.ts",
    text: "  const untouched = !isPart && touched === 0",
    becomes: "  const untouched = touched === 0",
    test: "test/warehouse/postgres/parts.test.ts",
    notices: "a part's publish waits for its turn, also where it touches no row",
  },
  {
    name: "small lists are parts of their own",
    invariant: 16,
    file: "src/fleet/parts.ts",
    text: "const SMALL_REQUESTS = 30;",
    becomes: "const SMALL_REQUESTS = -1;",
    test: "test/fleet/parts.test.ts",
    notices: "lists that took few requests go together, up to thirty; those that others wait for stand alone",
  },
];
