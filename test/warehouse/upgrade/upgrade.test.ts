import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import pg from "pg";
import { expect, inject, onTestFinished, test } from "vitest";
import type { RunReport } from "../../../src/sync/run/run.ts";
import { openDuckdbForReading } from "../../../src/warehouse/duckdb/reading.ts";
import { valueTypes } from "../../../src/warehouse/postgres/connect.ts";
import { DATA_VERSION } from "../../../src/warehouse/state/state_ddl.ts";
import { streams } from "../../../streams/index.ts";
import { again } from "../../operations/replay/again.ts";
import { createDatabase } from "../../support/database.ts";
import { bench } from "../../support/run.ts";
import type { View, Warehouse } from "../../support/warehouse.ts";
import { type Contents, contentsOf, damages, momentsAfter } from "./contents.ts";
import { restoreDatabase } from "./dump.ts";
import { unpack } from "./pack.ts";
import { configuration, nights, openService, SMALL, STOPPED } from "./service.ts";

/** A warehouse of the program of before (`make.ts`), with the archive beside it. */
interface Before {
  readonly warehouse: Warehouse;
  readonly archive: string;
  /** Requests of that program's next runs, by stream: of the small one, and of one of everything. */
  readonly requests: { readonly small: Counts; readonly all: Counts };
  /** Where rows of lists that were stopped are kept. */
  readonly staged: () => Promise<readonly string[]>;
}

type Counts = Readonly<Record<string, number>>;

const fixture = (name: string): string => join(import.meta.dirname, "fixtures", name);

async function unpacked(name: "duckdb" | "postgres"): Promise<Before> {
  const folder = await mkdtemp(join(tmpdir(), "tributary-upgrade-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await unpack(fixture(`${name}.pack`), folder);
  const requests = JSON.parse(await readFile(fixture(`${name}.json`), "utf8")) as Before["requests"];
  const warehouse =
    name === "duckdb" ? fileIn(folder) : await databaseOf(await readFile(join(folder, "dump.json"), "utf8"));
  const staged = async () =>
    name === "duckdb"
      ? (await readdir(join(folder, "warehouse.versions/stage"), { recursive: true })).filter(file =>
          file.endsWith("manifest.json"),
        )
      : (await warehouse.query<{ stream: string }>("select stream from _tributary.stages where staged > 0")).map(
          ({ stream }) => stream,
        );
  return { warehouse, archive: join(folder, "archive"), requests, staged };
}

function fileIn(folder: string): Warehouse {
  const path = join(folder, "warehouse.duckdb");
  const look: Warehouse["look"] = async looking => {
    const { db, close } = await openDuckdbForReading({ path, readers: "snapshot", stateSchema: "_tributary" });
    try {
      const query = async <T>(text: string) => (await sql<T>`${sql.raw(text)}`.execute(db)).rows;
      return await looking({ name: "duckdb", query });
    } finally {
      await close();
    }
  };
  const destination = { type: "duckdb", path, keep_versions: 1 };
  return {
    name: "duckdb",
    destination,
    look,
    query: text => look(view => view.query(text)),
    drop: async () => undefined,
  };
}

async function databaseOf(dump: string): Promise<Warehouse> {
  const database = await createDatabase(inject("postgresUrl"));
  await restoreDatabase(database.admin, dump);
  const client = new pg.Client({ connectionString: database.url, types: valueTypes });
  await client.connect();
  await client.query("set timezone = 'UTC'");
  const drop = async () => {
    await client.end();
    await database.drop();
  };
  onTestFinished(drop);
  const query = async <T>(text: string) => (await client.query(text)).rows as T[];
  const destination = { type: "postgres", url: database.url };
  return { name: "postgres", destination, query, look: looking => looking({ name: "postgres", query }), drop };
}

test.each(inject("databases").flatMap(name => (name === "ducklake" ? [] : { name })))(
  "a warehouse of the version before is upgraded by its first run: without a request, no row moves, the stopped list goes on, the archive loads: $name",
  async ({ name }) => {
    const place = await openService(name);
    const { simulator, clock } = place;
    onTestFinished(() => simulator.close());
    for (const night of nights) night.happens(place);
    // The run that was killed, and this one.
    clock.advance(3_600_000);
    clock.advance(60_000);
    const { warehouse, archive, requests, staged } = await unpacked(name);
    const config = configuration(archive);
    const { sync } = bench({ simulator, warehouse, clock, config });
    const contents = () => warehouse.look(contentsOf);
    const during = { from: clock.date(), to: new Date(clock.now() + 60_000) };

    const before = await contents();
    expectHardCases(before);
    expect(momentsAfter(before, clock.date())).toBeGreaterThan(0);
    const known = await warehouse.look(knowledgeOf);
    expect(await staged()).toEqual([expect.stringMatching(STOPPED)]);

    simulator.requests.clear();
    const small = await sync({ names: SMALL });
    expect(small.errors).toEqual([]);
    expect(simulator.requests.counts()).toEqual({ "/auth/company-settings": 1, "/po/matching-settings": 1 });
    expect(requestsOf(small)).toEqual(requests.small);
    const upgraded = await contents();
    expect(damages(before, upgraded, during)).toEqual([]);
    expectLineIds(upgraded, "numbered");
    const state = await warehouse.look(knowledgeOf);
    expect(state.version).toBe(DATA_VERSION);
    expect(damagesToKnowledge(known, state)).toEqual([]);

    simulator.requests.clear();
    const first = await sync();
    expect(first.errors).toEqual([]);
    expect(excess(first, requests.all)).toEqual([]);
    // Gone on with, the stopped list asks for the page that is lacking; thrown away, for all three. Its summary asks for a row.
    const pages = simulator.requests.entries.filter(
      ({ path, query }) => path === `/${STOPPED}` && query["limit"] !== "1",
    );
    expect(pages.length).toBe(pages.some(({ query }) => query["cursor"] === undefined) ? PAGES : requests.all[STOPPED]);
    const loaded = await contents();
    expect(damages(before, loaded, during)).toEqual([]);
    expect(changes(first, requests.all)).toEqual([]);
    expect(damagesToKnowledge(known, await warehouse.look(knowledgeOf))).toEqual([]);

    await expectTodaysRules(warehouse, loaded, during.to);
    const rejects = await countOf(warehouse, "rejects");

    expectLineIds(loaded, "numbered");
    const second = await sync();
    expect(second.errors).toEqual([]);
    expect(excess(second, requests.all)).toEqual([]);
    expect(changes(second, requests.all)).toEqual([]);
    // But for lines without a number that it has read again.
    expect(withoutHashes(await contents())).toEqual(withoutHashes(loaded));
    expect(await countOf(warehouse, "rejects")).toBe(rejects);

    // In one of them: how answers are loaded again is the same, and takes DuckDB three times as long.
    if (name === "duckdb") return;
    const replayed = await again(warehouse, clock, config, simulator.url).replay({ names: REPLAYED });
    expect(replayed.errors).toEqual([]);
    // Lists that their rows' details hang on come with them.
    const read = replayed.streams.filter(line => line.rows_read > 0).map(line => line.stream);
    expect(read).toEqual(expect.arrayContaining(REPLAYED));
    const replayedContents = await contents();
    expect(damages(loaded, replayedContents, during)).toEqual([]);
    expectLineIds(replayedContents, "replayed");
  },
);

const withoutHashes = (contents: Contents): Contents =>
  new Map(
    [...contents].map(([table, rows]) => {
      const bare = [...rows].map(([key, row]) => {
        const { _line_id: own, ...rest } = row;
        return [key, own?.startsWith("~") ? rest : { ...rest, ...(own == null ? {} : { own }) }] as const;
      });
      return [table, new Map(bare)];
    }),
  );

/** Lines with a number of their own have ids at once, the others once they were read again; no two of a row have the same. */
function expectLineIds(contents: Contents, which: "numbered" | "replayed"): void {
  let found = 0;
  const faults: string[] = [];
  for (const { name, tables } of streams)
    for (const { name: table, key, columns } of tables.children) {
      const number = columns.find(({ identifies }) => identifies)?.name;
      const live = [...(contents.get(table)?.values() ?? [])].filter(row => row["_deleted_at"] === null);
      const parents = Map.groupBy(live, row =>
        key
          .slice(0, -1)
          .map(part => row[part])
          .join("|"),
      );
      for (const [parent, lines] of parents) {
        const numbers = lines.map(line => (number === undefined ? null : (line[number] ?? null)));
        const ids = lines.map(line => line["_line_id"] ?? null).filter(own => own !== null);
        if (new Set(ids).size < ids.length) faults.push(`${table} ${parent}: ${ids.join()}`);
        for (const [i, line] of lines.entries()) {
          const own = numbers[i]!;
          const isNumbered = own !== null && own !== "" && numbers.filter(other => other === own).length === 1;
          if (isNumbered) found++;
          const isRight = isNumbered
            ? line["_line_id"] === own
            : line["_line_id"] === null
              ? which === "numbered" || !REPLAYED.includes(name)
              : line["_line_id"]!.startsWith("~");
          if (!isRight) faults.push(`${table} ${parent} ${own}: ${line["_line_id"]}`);
        }
      }
    }
  expect(faults).toEqual([]);
  expect(found).toBeGreaterThan(100);
}

const PAGES = 3;

/** A scan, a list, a feed, details of rows, of rows with children, and a snapshot. */
const REPLAYED = [
  "contracts",
  "findings",
  "invoices",
  "item_transactions",
  "matching_settings",
  "purchase_order_details",
];

/** What the fixtures are there for: without it the comparison would say nothing. */
function expectHardCases(before: Contents): void {
  const rows = (table: string) =>
    [...(before.get(table) ?? new Map()).values()] as Readonly<Record<string, string | null>>[];
  const all = [...before.keys()].flatMap(rows);
  expect(all.length).toBeGreaterThan(2_000);
  expect(rows("purchase_orders").filter(row => row["_deleted_at"] !== null).length).toBe(1);
  expect(rows("contracts").filter(row => row["_deleted_at"] !== null).length).toBe(1);
  expect(rows("contracts_versions").length).toBeGreaterThan(rows("contracts").length + 4);
  expect(rows("contracts").filter(row => row["_changed_at"]!.startsWith("2026-04-21")).length).toBeGreaterThan(1);
  const problems = new Set(all.flatMap(row => Object.keys(JSON.parse(row["_problems"] ?? "{}") as object)));
  expect([...problems]).toEqual(
    expect.arrayContaining(["change_pct", "net_days", "size_bytes", "total_amount", "actual_departure", "this_month"]),
  );
}

/** What the warehouse knows beside its rows. */
interface Knowledge {
  readonly version: number;
  readonly marks: Readonly<Record<string, string>>;
  readonly details: Readonly<Record<string, string>>;
  readonly rejects: readonly string[];
}

async function knowledgeOf({ query }: View): Promise<Knowledge> {
  type Fact = { readonly key: string; readonly value: string };
  const facts = async (text: string) =>
    Object.fromEntries((await query<Fact>(text)).map(({ key, value }) => [key, value]));
  const list = async (text: string) => (await query<{ key: string }>(text)).map(({ key }) => key);
  const states = await query<{ stream: string; state: { readonly mark?: string | null } }>(
    "select stream, state from _tributary.stream_state",
  );
  return {
    version: Number(
      (await query<{ value: unknown }>("select value from _tributary.warehouse where key = 'version'"))[0]!.value,
    ),
    marks: Object.fromEntries(states.flatMap(({ stream, state }) => (state.mark ? [[stream, state.mark]] : []))),
    details: await facts(
      `select concat(company, '|', stream, '|', parent_key) as "key", outcome as "value" from _tributary.details`,
    ),
    rejects: await list(`select distinct concat(stream, '|', field) as "key" from _tributary.rejects order by 1`),
  };
}

function damagesToKnowledge(before: Knowledge, after: Knowledge): string[] {
  const lost = (what: "marks" | "details") =>
    Object.entries(before[what]).flatMap(([key, value]) =>
      after[what][key] === value ? [] : [`${what} of ${key} was ${value} and is ${after[what][key]}`],
    );
  const rejects = before.rejects.filter(reject => !after.rejects.includes(reject));
  return [...lost("marks"), ...lost("details"), ...rejects.map(reject => `reject ${reject} is gone`)];
}

const requestsOf = ({ streams }: RunReport): Counts =>
  Object.fromEntries(streams.map(line => [line.stream, line.requests]));

/** Streams that asked for more than they did before; those that are new are nobody's matter here. */
const excess = (report: RunReport, allowed: Counts): string[] =>
  Object.entries(requestsOf(report))
    .filter(([stream, requests]) => requests > (stream === STOPPED ? PAGES : (allowed[stream] ?? requests)))
    .map(([stream, requests]) => `${stream}: ${requests} requests, ${allowed[stream]} before`);

/** Of the streams that the version before knew. */
const changes = ({ streams }: RunReport, known: Counts): string[] =>
  streams
    .filter(({ stream }) => known[stream] !== undefined)
    .filter(line => line.inserted + line.updated + line.deleted > 0)
    .map(
      ({ stream, inserted, updated, deleted }) => `${stream}: ${inserted} new, ${updated} changed, ${deleted} deleted`,
    );

const countOf = async (warehouse: Warehouse, table: string): Promise<number> =>
  Number((await warehouse.query<{ n: unknown }>(`select count(*) as n from _tributary.${table}`))[0]!.n);

/** What today's rules have made of what the version before left. */
async function expectTodaysRules(warehouse: Warehouse, loaded: Contents, until: Date): Promise<void> {
  const find = (table: string, key: string) =>
    [...loaded.get(table)!].filter(([each]) => each.startsWith(`acme|${key}`)).map(([, row]) => row);
  // A clock that was ahead leaves nothing that is to come.
  expect(momentsAfter(loaded, until)).toBe(0);
  // A reject that comes every night is one reject.
  type Counted = { readonly key: string; readonly n: unknown };
  const counts = async (text: string) =>
    Object.fromEntries((await warehouse.query<Counted>(text)).map(({ key, n }) => [key, Number(n)]));
  expect(
    await counts(
      `select stream as "key", count(*) as n from _tributary.rejects where resolved_at is null group by stream`,
    ),
  ).toEqual({
    documents: 1,
    issues: 1,
    items: 2,
  });
  // Problems are counted as the tables hold them.
  const held: Record<string, number> = {};
  for (const [table, rows] of loaded) {
    if (table.endsWith("_versions")) continue;
    for (const row of rows.values()) {
      if (row["_deleted_at"] !== null) continue;
      for (const column of Object.keys(JSON.parse(row["_problems"] ?? "{}") as object)) {
        if (column !== "_extra") held[`${table}.${column}`] = (held[`${table}.${column}`] ?? 0) + 1;
      }
    }
  }
  expect(
    await counts(`select concat(table_name, '.', column_name) as "key", sum(rows) as n from _tributary.problems
      where rows > 0 and column_name <> '_extra' group by 1`),
  ).toEqual(held);
  // Values that had no place in their columns have it, and nobody asked for them again.
  expect(find("purchase_order_price_moves", "PO-10|").map(row => row["change_pct"])).toContain("12.5%");
  expect(find("invoices", "DOC-8#").map(row => Number(row["net_days"]))).toEqual([30.5]);
  expect(find("insight_stats", "").map(row => Number(row["this_month"]))).toEqual(expect.arrayContaining([2.5]));
  expect(find("invoices", "DOC-6#").map(row => row["_problems"])).toEqual([null]);
  expect(find("invoice_vendors", "").map(row => row["data"])).toContain('"Müller & Söhne"');
  // The version that holds now says what the table says.
  for (const [table, versions] of loaded) {
    if (!table.endsWith("_versions")) continue;
    const current = [...versions.entries()].filter(([, row]) => row["_is_current"] === "true");
    const main = loaded.get(table.replace(/_versions$/, ""))!;
    for (const [key, row] of current) {
      const own = main.get(key.replace(/#\d+$/, "#1"));
      if (own !== undefined) expect([table, key, row["_extra"]]).toEqual([table, key, own["_extra"]]);
    }
  }
}
