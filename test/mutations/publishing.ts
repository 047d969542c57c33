import type { Mutation } from "./mutation.ts";

/** What analysts see. */
export const publishing: readonly Mutation[] = [
  {
    name: "the link leads to a version before it is copied",
    invariant: 2,
    file: "src/warehouse/duckdb/versions/versions.ts",
    text: `    await copyDatabase(layout.work, join(unfinished, layout.file), 0o444);
    await writeDurably(join(unfinished, NUMBER), number);
    await syncFolder(unfinished);
    await rename(unfinished, join(layout.home, name));
    await syncFolder(layout.home);
    note = await pointTo(layout, name, makeLink);`,
    becomes: `    note = await pointTo(layout, name, makeLink);
    await copyDatabase(layout.work, join(unfinished, layout.file), 0o444);
    await writeDurably(join(unfinished, NUMBER), number);
    await syncFolder(unfinished);
    await rename(unfinished, join(layout.home, name));
    await syncFolder(layout.home);`,
    test: "test/warehouse/duckdb/published.test.ts",
    notices: "is there whole before the link leads to it",
  },
  {
    name: "a log that somebody left is replayed onto the new version",
    invariant: 2,
    file: "src/warehouse/duckdb/versions/versions.ts",
    text: "    if (isVersion(name)) await removeLog(versionFile(layout, name));",
    becomes: "    if (isVersion(name)) continue;",
    test: "test/warehouse/duckdb/published.test.ts",
    notices: "is not touched by one who opened it for writing and left a log",
  },
  {
    name: "children that an answer no longer has stay",
    invariant: 2,
    file: "src/warehouse/merge/children.ts",
    text: "where r._seq = c._seq and r._index = t._index)`.execute(trx);",
    becomes: "where r._seq = c._seq)`.execute(trx);",
    test: "test/warehouse/conformance/values.test.ts",
    notices: "children are matched by their place: they shrink, grow and change one by one",
  },
  {
    name: "rows of two answers of one parent stand side by side",
    invariant: 2,
    file: "src/warehouse/merge/outcomes.ts",
    text: "  if (many === true) {",
    becomes: "  if (many === undefined && many) {",
    test: "test/sync/stream/row_details.test.ts",
    notices: "the rows of an answer are its parent's, replaced as a whole: what it no longer has is gone",
  },
  {
    name: "a list's rows go and leave their details behind",
    invariant: 2,
    file: "src/warehouse/merge/deletion.ts",
    text: "  for (const detail of details) {",
    becomes: "  for (const detail of details.slice(0, 0)) {",
    test: "test/sync/stream/row_details.test.ts",
    notices: "a parent's rows go and come back with it",
  },
  {
    name: "details of an order are published that is gone by then",
    invariant: 2,
    file: "src/warehouse/merge/answers.ts",
    text: " and p.deleted_at is null and $",
    becomes: " and $",
    test: "test/sync/stream/scans.test.ts",
    notices: "but for those of an order that went meanwhile",
  },
  {
    name: "of a row that came twice the first one stays",
    invariant: 3,
    file: "src/warehouse/merge/compare.ts",
    text: "order by k._seq desc) as nth",
    becomes: "order by k._seq) as nth",
    test: "test/warehouse/conformance/publish.test.ts",
    notices: "of a row that came more than once in a scan the last one stays, with its children",
  },
  {
    name: "keys that were known and came twice go unnoticed",
    invariant: 3,
    file: "src/warehouse/merge/compare.ts",
    text: "met === live - gone && (await areDistinct(",
    becomes: "(await areDistinct(",
    test: "test/warehouse/conformance/difference.test.ts",
    notices: "keys that come twice count once, whether they are known or not, and the last one is what they are",
  },
  {
    name: "rows that came twice are stored twice",
    invariant: 3,
    file: "src/warehouse/merge/compare.ts",
    text: "const latest = repeated === 0 ? ",
    becomes: "const latest = repeated >= 0 ? ",
    test: "test/sync/stream/scans.test.ts",
    notices: "rows that stand on two pages count as repeated, and each is stored once",
  },
  {
    name: "what changes by itself counts as a change of the row",
    invariant: 3,
    file: "src/warehouse/merge/compare.ts",
    text: "when l.vhash <> s._vhash then 'v' else 'm' end`;",
    becomes: "when l.vhash <> s._vhash then 'u' else 'm' end`;",
    test: "test/sync/run/second_run.test.ts",
    notices: "a change of a volatile field alone is written, but changes nothing else and fetches nothing",
  },
  {
    name: "unchanged rows are written again",
    invariant: 3,
    file: "src/rows/encoder.ts",
    text: "    const stable = hasher.hash(main.stable());",
    becomes: "    const stable = hasher.hash(main.stable()) ^ BigInt(Date.now());",
    test: "test/sync/run/second_run.test.ts",
    notices: "an unchanged service is read page by page, audited in part, and nothing is written",
  },
  {
    name: "_changed_at of unchanged children moves",
    invariant: 3,
    file: "src/warehouse/merge/children.ts",
    text: "and (t._deleted_at is not null or $",
    becomes: "and (t._company is not null or $",
    test: "test/warehouse/conformance/values.test.ts",
    notices: "children are matched by their place: they shrink, grow and change one by one",
  },
  {
    name: "a publish may be dated before an earlier one",
    invariant: 3,
    file: "src/sync/load/publish_stage.ts",
    text: "  return new Date(Math.max(clock.now(), ...before)).toISOString();",
    becomes: "  return new Date(Math.max(clock.now(), ...before.slice(0, 0))).toISOString();",
    test: "test/sync/load/counters.test.ts",
    notices: "a clock that is set back moves no _changed_at back",
  },
  {
    name: "details that go with their rows leave their versions behind",
    invariant: 2,
    file: "src/warehouse/merge/deletion.ts",
    text: "    await endVersions(work, tables, table, sql`",
    becomes: "    if (tables === work.publication.tables) await endVersions(work, tables, table, sql`",
    test: "test/warehouse/conformance/versions.test.ts",
    notices: "at every moment the versions are the rows that were live then",
  },
  {
    name: "a child row that stayed the same begins a version",
    invariant: 3,
    file: "src/warehouse/history/row_versions.ts",
    text: " and t._changed_at = ",
    becomes: " and t._changed_at <= ",
    test: "test/warehouse/conformance/versions.test.ts",
    notices: "at every moment the versions are the rows that were live then",
  },
  {
    name: "a history that is kept again does not look at what changed meanwhile",
    invariant: 2,
    file: "src/warehouse/history/row_versions.ts",
    text: "(r._company is null or ",
    becomes: "(r._company is null and ",
    test: "test/warehouse/conformance/versions.test.ts",
    notices: "at every moment the versions are the rows that were live then",
  },
];
