import type { Mutation } from "./mutation.ts";

const page = { invariant: 5, file: "src/rows/page_reader.ts", test: "test/rows/page_reader.test.ts" } as const;

/** Stage, cursor and high-water mark. */
export const storing: readonly Mutation[] = [
  {
    name: "a feed that was read with other formats is read since its high-water mark",
    invariant: 3,
    file: "src/sync/extract/scan_plan.ts",
    text: '  if (state.mixedFormats) return whole("formats changed since it was read");\n',
    becomes: "",
    test: "test/sync/run/formats.test.ts",
    notices: "other formats: feeds are read whole and details fetched again",
  },
  {
    name: "details that were read with other formats stay as they are",
    invariant: 3,
    file: "src/warehouse/state/formats_record.ts",
    text: ".set({ parent_hash: null })",
    becomes: ".set({ attempts: 0 })",
    test: "test/sync/run/formats.test.ts",
    notices: "a run that is stopped on the way forgets none of it",
  },
  {
    name: "a warehouse without a record of formats takes those of each run for its own",
    invariant: 3,
    file: "src/warehouse/state/formats_record.ts",
    text: "state.formats ?? (state.publishedScan === null ? undefined : atFirst);",
    becomes: "state.formats ?? undefined;",
    test: "test/sync/run/formats.test.ts",
    notices: "a warehouse without a record takes the configuration for what it was read with",
  },
  {
    name: "a manifest is written before the files that it names",
    invariant: 1,
    file: "src/warehouse/duckdb/stage/stage.ts",
    text: `        await Promise.all(
          written.map(({ file, bytes }) => writeDurably(join(this.#folder, file.name), bytes, 0o600, "wx")),
        );
        await writeManifest(this.#folder, manifest);`,
    becomes: `        await writeManifest(this.#folder, manifest);
        await Promise.all(
          written.map(({ file, bytes }) => writeDurably(join(this.#folder, file.name), bytes, 0o600, "wx")),
        );`,
    test: "test/warehouse/duckdb/stage_crash.test.ts",
    notices: "holds a record and exactly its rows whenever the process is killed",
  },
  {
    name: "decimals with more than six places are read as others are",
    invariant: 5,
    file: "src/warehouse/duckdb/stage/csv_relation.ts",
    text: "NARROW_PLACES}`;",
    becomes: "NARROW_PLACES + 1}`;",
    test: "test/warehouse/duckdb/stage.test.ts",
    notices: "any text and any decimal is read back, narrow or wide",
  },
  {
    name: "the manifest stays behind the rows that were appended",
    invariant: 1,
    file: "src/warehouse/duckdb/stage/stage.ts",
    text: "      const manifest = { ...before, record, next: this.#next, batches: [...before.batches, files] };",
    becomes:
      "      const manifest = { ...before, record: before.record, next: this.#next, batches: [...before.batches, files] };",
    test: "test/warehouse/duckdb/stage.test.ts",
    notices: "a stage is found again with its rows",
  },
  {
    name: "PostgreSQL's cursor is committed before the rows that it stands behind",
    invariant: 1,
    file: "src/warehouse/postgres/stage.ts",
    text: `    await this.#session.transaction(async () => {
      await this.#unpick();
      await this.#copy(keys, batch.keys);`,
    becomes: `    await this.#session.query(
      \`update \${this.#records} set record = $3 where company = $1 and stream = $2\`,
      [...this.#id, JSON.stringify(record)],
    );
    await this.#session.transaction(async () => {
      await this.#unpick();
      await this.#copy(keys, batch.keys);`,
    test: "test/warehouse/postgres/stage.test.ts",
    notices: "a batch the database refuses leaves rows and record as they were",
  },
  {
    name: "PostgreSQL's cursor outlives a crash that empties the stage",
    invariant: 1,
    file: "src/warehouse/state/state_ddl.ts",
    text: "statements.push(sql`create unlogged table ",
    becomes: "statements.push(sql`create table ",
    test: "test/warehouse/postgres/stage.test.ts",
    notices: "after kill -9 of the server a stage holds its record and exactly its rows, or neither",
  },
  {
    name: "a publish is many transactions",
    invariant: 1,
    file: "src/warehouse/merge/apply.ts",
    text: "() => destination.db.transaction().execute(publish), room);",
    becomes: "() => destination.db.connection().execute(publish as never), room);",
    test: "test/warehouse/conformance/publish.test.ts",
    notices: "a publish that fails at its last step leaves rows, row state and high-water marks as they were",
  },
  {
    name: "high-water mark and counters follow in a transaction of their own",
    invariant: 1,
    file: "src/sync/load/apply_load.ts",
    text: `      const drift = await keepBooks(context, load, { ...compared, decided, published, timestamp, known }, trx);
      return { published, fresh: drift.fresh };
    }),
  );`,
    becomes: `      return { published, timestamp, known };
    }),
  ).then(async ({ published, timestamp, known }) => {
    const drift = await destination.db.transaction().execute(trx => keepBooks(context, load, { ...compared, decided, published, timestamp, known }, trx));
    return { published, fresh: drift.fresh };
  });`,
    test: "test/sync/load/one_transaction.test.ts",
    notices: "rows whose counters cannot be written are not published",
  },
  {
    name: "a stage is published that was published already",
    invariant: 1,
    file: "src/sync/stream/extraction.ts",
    text: "same !== undefined && !wasPublished ? stored",
    becomes: "same !== undefined ? stored",
    test: "test/sync/stream/scans.test.ts",
    notices: "a stage that was published before its run died is not published again",
  },
  {
    name: "a stage is continued by another request than the one that began it",
    invariant: 1,
    file: "src/sync/stream/extraction.ts",
    text: "each => stored?.fingerprint === printOf(context, stream, each)",
    becomes: "() => stored !== undefined",
    test: "test/sync/stream/scans.test.ts",
    notices: "a scan is not continued by a run that reads values in another way",
  },
  {
    name: "rows are stored before their answers are kept",
    invariant: 1,
    file: "src/sync/extract/batches.ts",
    text: `    await this.#how.archived();
    if (encoded.rejects.length > 0) await this.#how.keepRejects(encoded.rejects, record.scan);
    await this.#stage.append(encoded.batch, record satisfies StageRecord);`,
    becomes: `    if (encoded.rejects.length > 0) await this.#how.keepRejects(encoded.rejects, record.scan);
    await this.#stage.append(encoded.batch, record satisfies StageRecord);
    await this.#how.archived();`,
    test: "test/sync/extract/batches.test.ts",
    notices: "rows are stored after the answers that they came in were kept",
  },
  {
    name: "DuckDB makes a warehouse file in its place",
    invariant: 1,
    file: "src/warehouse/duckdb/locked_file.ts",
    text: "  if (isNew) await makeWhole(layout.work, layout, resources);\n",
    becomes: "",
    test: "test/warehouse/duckdb/seed.test.ts",
    notices: "is made whole or not at all: what a full disk or a kill cut short is in no later run's way",
  },
  {
    name: "DuckDB makes the file whose lock lets one process seed in its place",
    invariant: 1,
    file: "src/warehouse/duckdb/versions/seed.ts",
    text: "  await makeWhole(guardFile(layout), layout, resources);\n",
    becomes: "",
    test: "test/warehouse/duckdb/seed.test.ts",
    notices: "is made whole or not at all: what a full disk or a kill cut short is in no later run's way",
  },
  {
    name: "a damaged work file that was put aside outlives what privacy takes out of the warehouse",
    invariant: 11,
    file: "src/warehouse/duckdb/versions/versions.ts",
    text: "  await remove(damagedFile(layout));\n",
    becomes: "",
    test: "test/warehouse/duckdb/seed.test.ts",
    notices: "goes on from the newest version, keeps the file and tells it",
  },
  {
    name: "a lookup asks for what its columns hold by now instead of what it was begun with",
    invariant: 6,
    file: "src/sync/stream/listing.ts",
    text: "if (!resumed && request.begun !== null) await remember(request.begun);",
    becomes: "",
    test: "test/sync/stream/begun_lookups.test.ts",
    notices:
      "a lookup that takes more nights than its columns stay the same is asked to its end, and the next one whole again",
  },
  {
    name: "what others made that may lose rows is put up with",
    invariant: 1,
    file: "src/warehouse/schema/tables.ts",
    text: ", ...(await interferences(db, order, names))",
    becomes: "",
    test: "test/faults/destination_refusing.test.ts",
    notices: "a rule that does nothing instead",
  },
  {
    name: "what there is of details is told as of their own last publish",
    invariant: 1,
    file: "src/sync/load/apply_load.ts",
    text: "touched ? askedWith(context.streams.catalogue, stream) : []",
    becomes: "[] as ReturnType<typeof askedWith>",
    test: "test/sync/load/table_counts_of_details.test.ts",
    notices: "what there is of details, and to fetch, is told also after a run of their list alone",
  },
  {
    name: "a delete of many rows begins with no more memory than others",
    invariant: 1,
    file: "src/warehouse/duckdb/open.ts",
    text: "moreMb: keptMb }",
    becomes: "moreMb: 0 * keptMb }",
    test: "test/warehouse/duckdb/room.test.ts",
    notices: "gives what DuckDB has to keep of replaced rows on top, in this run and in the next",
  },
  {
    ...page,
    name: "rows are cut out of a page wherever their name stands first",
    text: " || rows[0] !== MARK",
    becomes: "",
    notices: "takes of",
  },
  {
    ...page,
    name: "bytes that are no text are read into lines",
    text: " || !isUtf8(body)",
    becomes: "",
    notices: "refuses what the parser refuses",
  },
  {
    ...page,
    name: "rows that were not written are taken for lines",
    text: "words[at / 4 + 3]! > 0;",
    becomes: "true;",
    notices: "say the same of every row",
  },
  {
    invariant: 5,
    file: "src/rows/table_writer.ts",
    name: "fields that lines lack are not counted",
    text: "at < stop + absent",
    becomes: "at < stop",
    test: "test/rows/page_reader.test.ts",
    notices: "say the same of every row",
  },
  {
    invariant: 5,
    file: "reader/scan.ts",
    name: "a field that comes twice is read once, in sources that were not compiled",
    text: "if (layout.startOf(field) !== 0) store<u32>(row, 1, layout.ODD);",
    becomes: "",
    test: "test/repository/generated.test.ts",
    notices: "is made from",
  },
];
