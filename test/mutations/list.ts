import type { Change } from "./change.ts";
import type { Mutant } from "./mutant.ts";

type Line = readonly [file: string, name: string, change: Change, tests: string];

/** The most telling breaks of each invariant, at most sixty: a file of src/, a name in it, the break, a file of test/. */
const breaks: Readonly<Record<number, readonly Line[]>> = {
  1: [
    ["warehouse/duckdb/stage/manifest.ts", "filesOf", { returns: "[]" }, "warehouse/duckdb/stage_crash"],
    ["warehouse/postgres/stage.ts", "append", { without: "#copy" }, "warehouse/postgres/stage"],
    ["sync/load/apply_load.ts", "keepBooks", { without: "saveStreamState" }, "sync/load/one_transaction"],
    ["sync/stream/extraction.ts", "printOf", { returns: '""' }, "sync/stream/scans"],
    ["sync/extract/batches.ts", "#store", { without: "archived" }, "sync/extract/batches"],
  ],
  2: [
    ["warehouse/duckdb/open.ts", "releaseToReaders", { without: "#checkpoint" }, "warehouse/duckdb/older_readers"],
    [
      "warehouse/duckdb/versions/versions.ts",
      "removeLeftovers",
      { without: "removeLog" },
      "warehouse/duckdb/published",
    ],
    ["warehouse/merge/deletion_limits.ts", "mayLeave", { returns: "true" }, "sync/load/held_answers"],
    ["sync/extract/answer.ts", "otherKey", { returns: "undefined" }, "sync/stream/details"],
  ],
  3: [
    ["warehouse/merge/diff.ts", "joinLatest", { inverts: 2 }, "sync/stream/scans"],
    ["warehouse/sql_fragments.ts", "anyDiffers", { returns: "sql`true`" }, "warehouse/conformance/values"],
    ["warehouse/state/formats_record.ts", "stateUnder", { returns: "state" }, "sync/run/formats"],
    ["rows/table_writer.ts", "idOf", { inverts: 2 }, "rows/line_ids"],
  ],
  4: [
    ["sync/load/soft_delete_decision.ts", "blockedBy", { returns: "undefined" }, "sync/load/soft_deletes"],
    ["sync/load/soft_delete_decision.ts", "byAnswers", { inverts: 2 }, "sync/load/soft_delete_decision"],
    ["operations/replay/scan_choice.ts", "gapsIn", { returns: "() => undefined" }, "operations/replay/scan_choice"],
    ["source/evidence.ts", "failureBeside", { returns: "undefined" }, "source/faults"],
    [
      "warehouse/merge/lines.ts",
      "unreadable",
      { returns: "sql`(select 0 as _seq where false)`" },
      "sync/stream/missing_lines",
    ],
  ],
  5: [
    ["rows/unknown_fields.ts", "unknownFields", { returns: "undefined" }, "sync/run/truth"],
    ["rows/table_writer.ts", "addProblem", { returns: "undefined" }, "hostile/values"],
    ["rows/encoder.ts", "#keepReplaced", { returns: "undefined" }, "sync/load/conflicting_keys"],
    ["rows/page_reader.ts", "#take", { inverts: 2 }, "rows/page_reader"],
    ["rows/reject.ts", "rejectDigest", { returns: "crypto.randomUUID()" }, "sync/load/open_rejects"],
    ["sync/load/schema_drift.ts", "changesOf", { returns: "[]" }, "sync/load/schema_drift"],
    ["warehouse/merge/apply.ts", "applyDiff", { without: "noteUnfilled" }, "warehouse/schema/older_shapes"],
  ],
  6: [
    ["sync/stream/extraction.ts", "isUnwanted", { returns: "false" }, "sync/stream/broken_off_details"],
    ["sync/stream/extraction.ts", "openExtraction", { inverts: 12 }, "sync/stream/scans"],
    ["warehouse/details/work_list.ts", "candidateQuery", { negates: 5 }, "sync/run/second_run"],
    ["warehouse/merge/apply.ts", "applyDiff", { without: "noteDue" }, "sync/stream/causes"],
    ["sync/stream/listing.ts", "doubtsOf", { inverts: 2 }, "sync/stream/distrust"],
    ["sync/stream/feed.ts", "gapOf", { returns: "undefined" }, "sync/stream/start_gap"],
    ["source/pages.ts", "whyEndless", { inverts: 2 }, "sync/stream/endless"],
  ],
  7: [
    ["source/limit.ts", "createLimiter", { without: "space" }, "source/limit"],
    ["source/client.ts", "#pauseAll", { inverts: 1 }, "source/limited"],
    ["sync/run/preparation.ts", "lockCompany", { without: "lock" }, "fleet/companies"],
  ],
  8: [
    ["source/key.ts", "withoutKey", { returns: "text" }, "source/client"],
    ["source/presigned.ts", "judged", { inverts: 2 }, "source/post"],
    ["secrets.ts", "formsOf", { returns: "[]" }, "secrets"],
    ["source/archive/cleaning.ts", "isClean", { returns: "true" }, "source/archive/cleaning"],
  ],
  9: [
    ["warehouse/postgres/locks.ts", "#tryAll", { returns: "undefined" }, "warehouse/postgres/locks"],
    ["warehouse/postgres/locks.ts", "take", { without: "guardWith" }, "warehouse/postgres/locks"],
    ["warehouse/duckdb/lock/holder.ts", "claim", { returns: "async () => undefined" }, "warehouse/duckdb/lock"],
  ],
  10: [
    ["config/listen.ts", "refuseOpenDoor", { returns: "undefined" }, "daemon/page/server"],
    ["daemon/page/access.ts", "isOwnName", { returns: "true" }, "daemon/page/server"],
    ["daemon/page/access.ts", "withoutCredentials", { returns: '{ kind: "welcome" }' }, "daemon/page/access"],
    ["daemon/page/server.ts", "headers", { returns: "{}" }, "daemon/page/server"],
  ],
  11: [
    ["privacy/answers.ts", "answerTreatment", { returns: "undefined" }, "privacy/switching"],
    ["privacy/apply_policy.ts", "cleanArchive", { returns: "undefined" }, "privacy/switching"],
    ["privacy/apply_policy.ts", "outdatedExports", { returns: "[]" }, "privacy/switching"],
    ["privacy/rewrite_stored.ts", "lineIdChange", { returns: "() => undefined" }, "privacy/line_ids"],
  ],
  12: [["outputs/export/place.ts", "removeLeftovers", { returns: "undefined" }, "outputs/export/whole"]],
  13: [
    ["catalog/meaning.ts", "meaningSql", { returns: '"false"' }, "models/meanings"],
    ["sync/run/assumptions.ts", "LEAST_ROWS", { returns: "0" }, "sync/run/assumptions"],
  ],
  14: [
    ["operations/upload/upload.ts", "#note", { without: "write" }, "operations/upload/upload"],
    ["source/client.ts", "#confirmed", { returns: "verdict" }, "source/post"],
  ],
  15: [
    ["operations/changes/telling.ts", "STATE_ROWS", { returns: "Infinity" }, "operations/changes/protocols"],
    ["operations/changes/changes.ts", "behind", { returns: "state" }, "operations/changes/changes"],
  ],
  16: [
    ["fleet/queue.ts", "attemptOf", { returns: "id" }, "fleet/queue"],
    ["warehouse/postgres/locks.ts", "endFormer", { returns: "undefined" }, "warehouse/postgres/locks"],
  ],
};

export const mutants: readonly Mutant[] = Object.entries(breaks).flatMap(([invariant, lines]) =>
  lines.map(([file, name, change, tests]) => ({
    ...{ invariant: Number(invariant), file: `src/${file}`, in: name, change },
    tests: `test/${tests}.test.ts`,
  })),
);
