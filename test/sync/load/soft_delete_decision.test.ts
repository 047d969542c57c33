import { expect, test } from "vitest";
import { id } from "../../../schemas/fields.ts";
import { list, lookup } from "../../../src/catalog/stream.ts";
import type { SyncContext } from "../../../src/sync/context.ts";
import type { MissedRows } from "../../../src/sync/load/row_addresses.ts";
import { decideDeletes } from "../../../src/sync/load/soft_delete_decision.ts";
import { StreamProgress } from "../../../src/sync/stream_progress.ts";
import type { Diff } from "../../../src/warehouse/merge/load_target.ts";
import { beginScan } from "../../../src/warehouse/state/stream_state.ts";
import { streamOf } from "../../catalog/streams.ts";
import { stillClock } from "../../support/clock.ts";

const clock = stillClock();
const things = streamOf("things", { id: id() });
const working = streamOf("things", { id: id() }, { mode: list({ rows: "things", absence: "left" }) });
const asked = streamOf("things", { id: id() }, { mode: lookup({ rows: "things" }), path: "/things/{of}", key: ["of"] });
const HOUR = 3_600_000;

interface Case {
  /** Live rows, those that the scan missed, and those of them that the complete scan before missed. */
  readonly rows: readonly [live: number, missing: number, missedBefore: number];
  readonly record?: object;
  readonly sight?: Partial<MissedRows>;
  /** How long ago the scan began. */
  readonly ageMs?: number;
  readonly confirmDeletes?: boolean;
}

/** Rows have no address here. At most half of them, or a hundred, may go at once. */
async function decide({ rows, record, sight, ageMs = 0, confirmDeletes = false }: Case) {
  const [live, missing, missedBefore] = rows;
  const progress = new StreamProgress(clock.date().toISOString());
  const policy = { confirmDeletes, deletes: { maxShare: 0.5, minRows: 100 } };
  const begun = beginScan("scan", "print", true, new Date(clock.now() - ageMs).toISOString());
  const stream = sight?.stream ?? things;
  const missed = {
    ...{ stream, mode: stream.mode, before: null, run: "this", seen: false, unknown: [], ...sight },
    record: { ...begun, ...record },
    diff: { live, missing, missedBefore, distinct: live - missing } as Diff,
  } as unknown as MissedRows;
  const decision = await decideDeletes({ clock, policy } as unknown as SyncContext, missed, progress);
  const { verdict, blocked, undecided } = decision;
  return {
    deletes: verdict === undefined ? undefined : verdict.all ? "all" : verdict.before ? "missed before" : "none",
    remembers: verdict?.remember,
    says: (blocked ?? progress.warnings[0])?.code,
    isHeld: blocked !== undefined,
    undecided: undecided === null ? null : { doubted: undecided.doubted, again: undecided.again },
  };
}

const doubted = (run: string) => ({ before: { run, doubted: true, again: true, asked: [] } });
const waits = { doubted: false, again: true };
const byScans = { deletes: "missed before", remembers: true, isHeld: false };
const byNone = { deletes: "none", isHeld: false };
const all = { deletes: "all", remembers: true, isHeld: false, undecided: null };
const incomplete = {
  ...byNone,

  remembers: false,
  undecided: { doubted: false, again: false },
};
const half = { ...byNone, says: "deletes.half", undecided: { doubted: true, again: true } };
const held = { deletes: "none", isHeld: true };

test.each<readonly [when: string, given: Case, decision: object]>([
  ["no row is missing", { rows: [90, 0, 0] }, { deletes: undefined, undecided: null }],
  ["rows are missing for the first time", { rows: [90, 3, 0] }, { ...byScans, undecided: waits }],
  ["some of them were missing before", { rows: [90, 3, 2] }, { ...byScans, undecided: waits }],
  ["all of them were missing before", { rows: [90, 3, 3] }, { ...byScans, undecided: null }],
  ["this scan was published before", { rows: [90, 3, 3], sight: { seen: true } }, { ...byNone, undecided: waits }],
  ["the scan began over six hours ago", { rows: [90, 3, 3], ageMs: 6.1 * HOUR }, { deletes: undefined, isHeld: false }],
  ["one answer holds the whole list", { rows: [90, 3, 0], record: { oneAnswer: true } }, all],
  ["it is a working list", { rows: [90, 88, 0], sight: { stream: working } }, all],
  ["it is an empty working list", { rows: [900, 900, 0], sight: { stream: working } }, all],
  ["they are confirmed", { rows: [900, 900, 0], confirmDeletes: true }, all],

  ["a row had no key", { rows: [90, 3, 3], record: { rejected: 1 } }, incomplete],
  ["the list is as long as its limit", { rows: [90, 3, 3], record: { capped: true } }, incomplete],
  ["the list shows fewer rows than it counts", { rows: [90, 3, 3], record: { lastTotal: 88 } }, incomplete],
  ["an incomplete scan is confirmed", { rows: [90, 3, 3], record: { capped: true }, confirmDeletes: true }, incomplete],

  ["more than half are missing", { rows: [40, 25, 0] }, { ...half, remembers: true }],
  ["the same run scans again", { rows: [40, 25, 25], sight: doubted("this") }, half],
  ["the next run finds others missing", { rows: [40, 25, 9], sight: doubted("last") }, half],
  ["the next run agrees", { rows: [40, 25, 25], sight: doubted("last") }, { ...byScans, undecided: null }],
  [
    "the next run finds most of them again",
    { rows: [90, 3, 3], sight: doubted("last") },
    { ...byNone, undecided: waits },
  ],
  ["a lookup misses more than half", { rows: [40, 25, 25], sight: { stream: asked } }, { ...byScans, undecided: null }],

  ["the guard's share is missing", { rows: [200, 101, 101] }, { ...held, says: "deletes.blocked", remembers: true }],
  ["an incomplete scan misses it", { rows: [200, 101, 0], record: { capped: true } }, { ...byNone, says: undefined }],
  ["the list is empty", { rows: [30, 30, 30] }, { ...held, says: "deletes.empty_list", remembers: false }],
  ["a lookup is empty", { rows: [30, 30, 30], sight: { stream: asked } }, { ...byScans, undecided: null }],
])("when %s", async (_when, given, decision) => {
  expect(await decide(given)).toMatchObject(decision);
});
