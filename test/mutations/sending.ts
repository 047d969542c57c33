import type { Mutation } from "./mutation.ts";

/** Uploads. */
export const sending: readonly Mutation[] = [
  {
    name: "an upload is finalized before the ledger says so",
    invariant: 14,
    file: "src/operations/upload/upload.ts",
    text: 'await this.#note(content, { ...before, state: "finalizing", error: null }, "finalizing");',
    becomes: 'before;\n    this.#tools.tell({ file: content.path, step: "finalizing" });',
    test: "test/operations/upload/upload.test.ts",
    notices: "it is not known, looked for and not sent again",
  },
  {
    name: "a finalize whose answer was lost is sent again",
    invariant: 14,
    file: "src/operations/upload/upload.ts",
    text: "{ once: true, advice: ADVICE }",
    becomes: "{ advice: ADVICE }",
    test: "test/operations/upload/upload.test.ts",
    notices: "each is at the service once, or told as unknown",
  },
  {
    name: "a 404 of something else is taken for the service's refusal of what is sent once",
    invariant: 14,
    file: "src/source/client.ts",
    text: 'return isAnswered && verdict.kind !== "again" ?',
    becomes: "return isAnswered ?",
    test: "test/source/post.test.ts",
    notices: "404 from something else",
  },
  {
    name: "any status of a document counts as processed",
    invariant: 14,
    file: "src/operations/upload/follow.ts",
    text: "test !== undefined && passes(test, status));",
    becomes: "test !== undefined);",
    test: "test/operations/upload/follow.test.ts",
    notices: "ends no wait, however it sounds",
  },
  {
    name: "a file that changed after it was looked at is handed in",
    invariant: 14,
    file: "src/source/presigned.ts",
    text: 'outcome.kind === "stored" && sent.digest("hex") !== content.sha256 ? CHANGED : outcome;',
    becomes: "outcome;",
    test: "test/source/post.test.ts",
    notices: "is not taken for what it was",
  },
  {
    name: "a redirect of an upload counts as stored",
    invariant: 8,
    file: "src/source/presigned.ts",
    text: "if (status >= 200 && status < 300)",
    becomes: "if (status >= 200 && status < 400)",
    test: "test/source/post.test.ts",
    notices: "of an upload means",
  },
];
