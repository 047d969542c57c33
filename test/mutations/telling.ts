import type { Mutation } from "./mutation.ts";

const TOLD = {
  invariant: 15,
  file: "src/operations/changes/telling.ts",
  test: "test/operations/changes/protocols.test.ts",
  notices: "a reading that goes on at any state",
};

/** Breaks of what programs are told of changed rows. */
export const telling: readonly Mutation[] = [
  {
    ...TOLD,
    name: "a state is told before the rows that it speaks of",
    text: "if (rows + batch.rows > STATE_ROWS) yield stateOf(open!);",
    becomes: "if (rows + batch.rows > STATE_ROWS) { state = batch.state; yield stateOf(open!); }",
  },
  {
    ...TOLD,
    name: "a state is told at the end of a table alone",
    text: "if (rows + batch.rows > STATE_ROWS) yield stateOf(open!);",
    becomes: "",
  },
  {
    ...TOLD,
    name: "a full refresh begins where an incremental read ended",
    file: "src/operations/changes/airbyte.ts",
    text: "const goesOn = (stream_state.full_refresh ?? false) || !isWhole(stream_descriptor.name);",
    becomes: "const goesOn = true;",
    notices: "a full refresh reads everything",
  },
];
