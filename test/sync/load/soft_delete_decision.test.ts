import { expect, test } from "vitest";
import type { Proof } from "../../../src/source/evidence.ts";
import { decideDeletes, type Evidence, type Missed, needs } from "../../../src/sync/load/soft_delete_decision.ts";
import { areDoubtful } from "../../../src/warehouse/merge/deletion_limits.ts";

interface Case {
  /** Live rows, those that the scan missed, and those of them that the complete scan before missed. */
  readonly rows: readonly [live: number, missing: number, missedBefore: number];
  readonly record?: object;
  readonly sight?: Partial<Missed>;
  /** What the addresses of a listed row and of the missing ones proved; a lookup's value is unknown. */
  readonly answers?: { readonly listed?: Proof; readonly missing?: readonly Proof[]; readonly lookup?: number };
}

const limits = { maxShare: 0.5, minRows: 100 };
const address = "/things/{id}";

/** At most half of the rows, or a hundred, may go at once. */
function decide({ rows, record, sight, answers }: Case) {
  const [live, missing, missedBefore] = rows;
  const missed: Missed = {
    ...{ stream: "things", address: undefined, list: "usual", before: null, run: "this", seen: false, isOld: false },
    ...{ limits, ...sight },
    record: { rejected: 0, capped: false, lastTotal: null, oneAnswer: false, ...record },
    diff: { live, missing, missedBefore, distinct: live - missing },
  };
  const { listed, missing: proofs = [], lookup = 0 } = answers ?? {};
  const evidence: Evidence[] = [
    ...Array.from({ length: lookup }, (_, id) => ({ key: { id: `${id}` }, of: "lookup", proof: "absence" }) as const),
    ...(listed === undefined ? [] : [{ key: { id: "listed" }, of: "listed", proof: listed } as const]),
    ...proofs.map((proof, id) => ({ key: { id: `${id}` }, of: "missing", proof }) as const),
  ];
  const { verdict, blocked, undecided, warnings, notes } = decideDeletes(missed, evidence);
  return {
    needs: needs(missed) !== undefined,
    deletes: verdict === undefined ? undefined : verdict.all ? "all" : verdict.before ? "missed before" : "none",
    confirmed: verdict?.confirmed.map(({ id }) => id),
    remembers: verdict?.remember,
    says: (blocked ?? warnings[0] ?? notes[0])?.code,
    isHeld: blocked !== undefined,
    undecided:
      undecided === null ? null : { doubted: undecided.doubted, again: undecided.again, asked: undecided.asked },
  };
}

const doubted = (run: string) => ({ before: { run, doubted: true, again: true, asked: [] } });
const waits = { doubted: false, again: true, asked: [] };
const byScans = { needs: true, deletes: "missed before", remembers: true, isHeld: false };
const byNone = { deletes: "none", isHeld: false };
const all = { needs: false, deletes: "all", remembers: true, isHeld: false, undecided: null };
const incomplete = {
  ...byNone,
  remembers: false,
  undecided: { doubted: false, again: false },
};
const half = { ...byNone, needs: false, says: "deletes.half", undecided: { doubted: true, again: true } };
const held = { needs: false, deletes: "none", isHeld: true };

test.each<readonly [when: string, given: Case, decision: object]>([
  ["no row is missing", { rows: [90, 0, 0] }, { deletes: undefined, undecided: null }],
  ["rows are missing for the first time", { rows: [90, 3, 0] }, { ...byScans, undecided: waits }],
  ["some of them were missing before", { rows: [90, 3, 2] }, { ...byScans, undecided: waits }],
  ["all of them were missing before", { rows: [90, 3, 3] }, { ...byScans, undecided: null }],
  ["this scan was published before", { rows: [90, 3, 3], sight: { seen: true } }, { ...byNone, undecided: waits }],
  [
    "the scan began over six hours ago",
    { rows: [90, 3, 3], sight: { isOld: true } },
    { deletes: undefined, isHeld: false },
  ],
  ["one answer holds the whole list", { rows: [90, 3, 0], record: { oneAnswer: true } }, all],
  ["it is a working list", { rows: [90, 88, 0], sight: { list: "working" } }, all],
  ["it is an empty working list", { rows: [900, 900, 0], sight: { list: "working" } }, all],
  ["they are confirmed", { rows: [900, 900, 0], sight: { limits: undefined } }, all],

  ["a row had no key", { rows: [90, 3, 3], record: { rejected: 1 } }, incomplete],
  ["the list is as long as its limit", { rows: [90, 3, 3], record: { capped: true } }, incomplete],
  ["the list shows fewer rows than it counts", { rows: [90, 3, 3], record: { lastTotal: 88 } }, incomplete],
  [
    "an incomplete scan is confirmed",
    { rows: [90, 3, 3], record: { capped: true }, sight: { limits: undefined } },
    incomplete,
  ],

  ["more than half are missing", { rows: [40, 25, 0] }, { ...half, remembers: true }],
  ["the same run scans again", { rows: [40, 25, 25], sight: doubted("this") }, half],
  ["the next run finds others missing", { rows: [40, 25, 9], sight: doubted("last") }, half],
  ["the next run agrees", { rows: [40, 25, 25], sight: doubted("last") }, { ...byScans, undecided: null }],
  [
    "the next run finds most of them again",
    { rows: [90, 3, 3], sight: doubted("last") },
    { ...byNone, undecided: waits },
  ],
  [
    "a lookup misses more than half",
    { rows: [40, 25, 25], sight: { list: "lookup" } },
    { ...byScans, undecided: null },
  ],

  ["the guard's share is missing", { rows: [200, 101, 101] }, { ...held, says: "deletes.blocked", remembers: true }],
  ["an incomplete scan misses it", { rows: [200, 101, 0], record: { capped: true } }, { ...byNone, says: undefined }],
  ["the list is empty", { rows: [30, 30, 30] }, { ...held, says: "deletes.empty_list", remembers: false }],
  ["a lookup is empty", { rows: [30, 30, 30], sight: { list: "lookup" } }, { ...byScans, undecided: null }],

  [
    "their addresses answer 404",
    {
      rows: [90, 3, 0],
      sight: { address },
      answers: { listed: "presence", missing: ["absence", "presence", "absence"] },
    },
    {
      ...byNone,
      confirmed: ["0", "2"],
      says: "deletes.addresses_asked",
      undecided: { doubted: false, again: false, asked: ["2"] },
    },
  ],
  [
    "each address answers 404",
    { rows: [90, 2, 0], sight: { address }, answers: { listed: "presence", missing: ["absence", "absence"] } },
    { ...byNone, confirmed: ["0", "1"], undecided: null },
  ],
  [
    "an address answers with something else",
    { rows: [90, 2, 2], sight: { address }, answers: { listed: "presence", missing: ["absence", "nothing"] } },
    { ...byNone, confirmed: ["0"], undecided: { doubted: false, again: true, asked: ["1"] } },
  ],
  [
    "only some of them are requested",
    { rows: [90, 3, 3], sight: { address }, answers: { listed: "presence", missing: ["absence"] } },
    { ...byNone, confirmed: ["0"], undecided: { doubted: false, again: true, asked: ["0"] } },
  ],
  [
    "the path answers 404 for a listed row, too",
    { rows: [90, 3, 3], sight: { address }, answers: { listed: "absence" } },
    { ...byNone, confirmed: [], says: "deletes.addresses_unusable", undecided: waits },
  ],
  [
    "the key may not read the path",
    { rows: [90, 3, 3], sight: { address }, answers: { listed: "refusal" } },
    { ...byScans, says: "deletes.addresses_unusable", undecided: null },
  ],
  [
    "a lookup's values are unknown",
    { rows: [90, 3, 1], sight: { list: "lookup" }, answers: { lookup: 2 } },
    { ...byScans, confirmed: ["0", "1"], undecided: null },
  ],
])("when %s", (_when, given, decision) => {
  expect(decide(given)).toMatchObject(decision);
});

test.each<readonly [when: string, given: Parameters<typeof areDoubtful>[0], isDoubtful: boolean]>([
  ["a few answer 404", { absent: 100, answered: 0, withRows: { absent: 90, all: 90 } }, false],
  ["many do, and no other answers", { absent: 101, answered: 0, withRows: { absent: 0, all: 0 } }, true],
  [
    "many do that never had rows, and others answer",
    { absent: 101, answered: 1, withRows: { absent: 0, all: 0 } },
    false,
  ],
  ["the guard's share of the rows would go", { absent: 101, answered: 9, withRows: { absent: 101, all: 200 } }, true],
  ["less than its share would go", { absent: 101, answered: 9, withRows: { absent: 100, all: 201 } }, false],
])("of details, when %s", (_when, given, isDoubtful) => {
  expect(areDoubtful(given, limits)).toBe(isDoubtful);
});
