import type { Mutation } from "./mutation.ts";

const SWITCHED = {
  invariant: 11,
  test: "test/privacy/switching.test.ts",
  notices: "switched from keep to hash, nothing holds the former values",
};

/** Personal data. */
export const withholding: readonly Mutation[] = [
  {
    ...SWITCHED,
    name: "answers are taken as they came, whatever the configuration says of their columns",
    file: "src/source/client.ts",
    text: "const treated = this.#body === undefined ? settings.treat?.(this.#path, envelope) : undefined;",
    becomes: "const treated = undefined as (() => Buffer) | undefined;",
  },
  {
    ...SWITCHED,
    name: "what was stored before stays as it was",
    file: "src/privacy/apply_policy.ts",
    text: "const acts = transition(before, privacy.policy);",
    becomes: "const acts = transition(privacy.policy, privacy.policy);",
  },
  {
    ...SWITCHED,
    name: "the archive keeps answers as they came",
    file: "src/privacy/apply_policy.ts",
    text: "return isChanged ? Buffer.from(jsonText(answer)) : undefined;",
    becomes: "return isChanged && false ? Buffer.from(jsonText(answer)) : undefined;",
  },
  {
    ...SWITCHED,
    name: "older versions of the file stay beside the one without the former values",
    file: "src/warehouse/duckdb/open.ts",
    text: 'if (layout.readers === "snapshot") await attempting("remove old versions", () => removeOtherVersions(layout));',
    becomes: "",
  },
  {
    ...SWITCHED,
    name: "what a stream has staged that never published is not dropped",
    file: "src/privacy/apply_policy.ts",
    text: '.union(db.selectFrom("stream_runs").select(["company", "stream"]))',
    becomes: "",
    notices: "what a first scan had staged when it failed is dropped",
  },
  {
    ...SWITCHED,
    name: "a scan is gone on with whatever the configuration says of its volatile columns",
    file: "src/sync/stream/extraction.ts",
    text: "...volatileTreatments(stream.tables),",
    becomes: "",
    notices: "what lies staged as it came is not gone on with",
  },
  {
    ...SWITCHED,
    name: "what is staged in the spare stage is not dropped",
    file: "src/warehouse/state/drop_stages.ts",
    text: "await (await destination.spareStage(company, tables))?.drop();",
    becomes: "",
    test: "test/warehouse/state/stages.test.ts",
    notices: "of what was staged nothing is left, in the spare stage neither",
  },
];
