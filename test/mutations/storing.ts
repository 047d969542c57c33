import type { Mutation } from "./mutation.ts";

/** Stage, cursor and mark. */
export const storing: readonly Mutation[] = [
  {
    name: "a manifest is written before the files that it names",
    invariant: 1,
    file: "src/destinations/duckdb/stage.ts",
    text: `        await Promise.all(written.map(({ file, bytes }) => this.#write(file.name, bytes)));
        await writeManifest(this.#folder, manifest);`,
    becomes: `        await writeManifest(this.#folder, manifest);
        await Promise.all(written.map(({ file, bytes }) => this.#write(file.name, bytes)));`,
    test: "test/destinations/duckdb/stage_crash.test.ts",
    notices: "holds a record and exactly its rows whenever the process is killed",
  },
  {
    name: "the manifest stays behind the rows that were appended",
    invariant: 1,
    file: "src/destinations/duckdb/stage.ts",
    text: "      const manifest = { ...before, record, next: this.#next, batches: [...before.batches, files] };",
    becomes:
      "      const manifest = { ...before, record: before.record, next: this.#next, batches: [...before.batches, files] };",
    test: "test/destinations/duckdb/stage.test.ts",
    notices: "a stage is found again with its rows",
  },
  {
    name: "PostgreSQL's cursor is committed before the rows that it stands behind",
    invariant: 1,
    file: "src/destinations/postgres/stage.ts",
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
    test: "test/destinations/postgres/stage.test.ts",
    notices: "a batch the database refuses leaves rows and record as they were",
  },
  {
    name: "PostgreSQL's cursor outlives a crash that empties the stage",
    invariant: 1,
    file: "src/destinations/state_ddl.ts",
    text: "statements.push(sql`create unlogged table ",
    becomes: "statements.push(sql`create table ",
    test: "test/destinations/postgres/stage.test.ts",
    notices: "after kill -9 of the server a stage holds its record and exactly its rows, or neither",
  },
  {
    name: "a publish is many transactions",
    invariant: 1,
    file: "src/destinations/publish.ts",
    text: "  return destination.db.transaction().execute(async trx => {",
    becomes: "  return destination.db.connection().execute(async trx => {",
    test: "test/destinations/conformance/publish.test.ts",
    notices: "a publish that fails at its last step leaves rows, ledger and marks as they were",
  },
  {
    name: "mark and counters follow in a transaction of their own",
    invariant: 1,
    file: "src/destinations/publish.ts",
    text: `    await order.also(trx, result, moment);
    return result;
  });`,
    becomes: `    return { result, moment };
  }).then(async ({ result, moment }) => {
    await destination.db.transaction().execute(trx => order.also(trx, result, moment));
    return result;
  });`,
    test: "test/destinations/conformance/publish.test.ts",
    notices: "a publish that fails at its last step leaves rows, ledger and marks as they were",
  },
  {
    name: "a stage is published that was published already",
    invariant: 1,
    file: "src/sync/extraction.ts",
    text: " && stored?.scan !== state.publishedScan ? stored",
    becomes: " ? stored",
    test: "test/sync/scans.test.ts",
    notices: "a stage that was published before its run died is not published again",
  },
  {
    name: "a stage is continued by another request than the one that began it",
    invariant: 1,
    file: "src/sync/extraction.ts",
    text: "each => stored?.fingerprint === printOf(context, stream, each)",
    becomes: "() => stored !== undefined",
    test: "test/sync/scans.test.ts",
    notices: "a scan is not continued by a run that reads values in another way",
  },
  {
    name: "rows are stored before their answers are kept",
    invariant: 1,
    file: "src/extract/batches.ts",
    text: `    await this.#archived();
    if (encoded.rejects.length > 0) await this.#keepRejects(encoded.rejects);
    await this.#stage.append(encoded.batch, record satisfies StageRecord);`,
    becomes: `    if (encoded.rejects.length > 0) await this.#keepRejects(encoded.rejects);
    await this.#stage.append(encoded.batch, record satisfies StageRecord);
    await this.#archived();`,
    test: "test/extract/batches.test.ts",
    notices: "rows are stored after the answers that they came in were kept",
  },
  {
    name: "DuckDB makes a warehouse file in its place",
    invariant: 1,
    file: "src/destinations/duckdb/file.ts",
    text: "  if (isNew) await makeWhole(layout.work, layout, resources);\n",
    becomes: "",
    test: "test/destinations/duckdb/seed.test.ts",
    notices: "is made whole or not at all: what a full disk or a kill cut short is in no later run's way",
  },
  {
    name: "DuckDB makes the file whose lock lets one process seed in its place",
    invariant: 1,
    file: "src/destinations/duckdb/seed.ts",
    text: "  await makeWhole(guardFile(layout), layout, resources);\n",
    becomes: "",
    test: "test/destinations/duckdb/seed.test.ts",
    notices: "is made whole or not at all: what a full disk or a kill cut short is in no later run's way",
  },
  {
    name: "a damaged work file that was put aside outlives what privacy takes out of the warehouse",
    invariant: 11,
    file: "src/destinations/duckdb/versions.ts",
    text: "  await remove(damagedFile(layout));\n",
    becomes: "",
    test: "test/destinations/duckdb/seed.test.ts",
    notices: "goes on from the newest version, keeps the file and tells it",
  },
  {
    name: "a lookup asks for what its columns hold by now instead of what it was begun with",
    invariant: 6,
    file: "src/sync/listing.ts",
    text: "if (!resumed && request.begun !== null) await remember(request.begun);",
    becomes: "",
    test: "test/sync/begun_lookups.test.ts",
    notices:
      "a lookup that takes more nights than its columns stay the same is asked to its end, and the next one whole again",
  },
  {
    name: "what others made that may lose rows is put up with",
    invariant: 1,
    file: "src/destinations/tables.ts",
    text: ", ...(await interferences(db, order, names))",
    becomes: "",
    test: "test/faults/destination_refusing.test.ts",
    notices: "a rule that does nothing instead",
  },
  {
    name: "what there is of details is told as of their own last publish",
    invariant: 1,
    file: "src/sync/publication.ts",
    text: "touched ? askedWith(context.catalogue, stream) : []",
    becomes: "[] as ReturnType<typeof askedWith>",
    test: "test/sync/standing_of_details.test.ts",
    notices: "what there is of details, and to fetch, is told also after a run of their list alone",
  },
];
