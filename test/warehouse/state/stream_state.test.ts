import { expect, test } from "vitest";
import {
  beginScan,
  noState,
  readScanRecord,
  readStreamState,
  storedStreamState,
} from "../../../src/warehouse/state/stream_state.ts";

const record = beginScan("s1", "f1", true, "2026-03-15T12:00:00.000Z");

test("a scan's record is read as it was stored", () => {
  expect(readScanRecord(JSON.parse(JSON.stringify(record)))).toEqual(record);
  const later = { ...record, phase: "read" as const, cursor: "c", pages: 3, latest: 5, firstTotal: 7 };
  expect(readScanRecord(JSON.parse(JSON.stringify(later)))).toEqual(later);
});

test("a record of an older version is gone on with: what it could not say yet is nothing", () => {
  const { drift: _drift, presence: _presence, ...older } = record;
  expect(readScanRecord(older)).toEqual(record);
});

test.each([
  ["nothing", undefined],
  ["null", null],
  ["text", "reading"],
  ["a list", [record]],
  ["another phase", { ...record, phase: "written" }],
  ["a number as text", { ...record, rows: "3" }],
  ["a field less", { ...record, fingerprint: undefined }],
])("%s instead of a record: the scan begins afresh", (_what, stored) => {
  expect(readScanRecord(stored)).toBeUndefined();
});

test("a state is read as it was stored; fields that came later have their beginning", () => {
  const state = { ...noState, highWaterMark: "2026-03-15T12:00:00.000Z", lastFullPages: 3, filterDistrusted: true };
  expect(readStreamState(JSON.parse(storedStreamState(state)))).toEqual(state);
  expect(readStreamState({ mark: "2026-03-15T12:00:00.000Z" })).toEqual({
    ...noState,
    highWaterMark: "2026-03-15T12:00:00.000Z",
  });
});

test.each([
  ["nothing", undefined],
  ["null", null],
  ["text", "x"],
  ["another type", { mark: 5 }],
])("%s instead of a state: the stream is read from the start", (_what, stored) => {
  expect(readStreamState(stored)).toEqual(noState);
});
