import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, inject } from "vitest";
import type { Table } from "../../src/catalog/columns.ts";
import { currencyFactors } from "../../src/catalog/currency_rates.ts";
import type { MeaningTests } from "../../src/catalog/meaning.ts";
import type { Stream } from "../../src/catalog/stream.ts";
import { systemClock } from "../../src/clock.ts";
import { configSchema } from "../../src/config/schema.ts";
import type { WarehouseReading } from "../../src/warehouse/connect/reading.ts";
import type { Destination } from "../../src/warehouse/destination.ts";
import { openDuckdb } from "../../src/warehouse/duckdb/open.ts";
import { openPostgres } from "../../src/warehouse/postgres/open.ts";
import { tableOrder, viewOrder } from "../../src/warehouse/schema/prepare_warehouse.ts";
import { ensureTables } from "../../src/warehouse/schema/tables.ts";
import { ensureState } from "../../src/warehouse/state/state_ddl.ts";
import { keepRates } from "../../src/warehouse/views/currency_rates.ts";
import { streams } from "../../streams/index.ts";
import { createDatabase } from "../support/database.ts";
import { models as program } from "../support/models.ts";
import type { View } from "../support/warehouse.ts";
import { declaredColumns, modelRows, untrueDeclarations } from "../warehouse/views/answers.ts";

/** A value as the service gives it: decimals, dates and moments as text, JSON as an object. */
export type Value = string | number | boolean | null | object;
export type Row = Readonly<Record<string, Value>>;

/** As configurations that say nothing of it have them. */
export const usualMeanings: MeaningTests = configSchema.shape.meanings.parse(undefined);

/** What stands in the tables. */
export interface Contents {
  /**
   * By table name, `<table>_versions` among them: their streams keep their history. Every stream that one of the tables
   * belongs to is on, all others are off. `_company` is acme where a row says nothing.
   */
  readonly rows: Readonly<Record<string, readonly Row[]>>;
  /** What the configuration says of meanings, instead of its defaults. */
  readonly meanings?: MeaningTests;
  /** The reporting currency, and its rates as a file has them. */
  readonly currency?: { readonly report: string; readonly rates: string };
  /** What `calendar_today` says: 2026-03-15 unless told otherwise. */
  readonly today?: string;
}

/** A small warehouse with the product's own tables and the models over them. */
export interface ModelWarehouse {
  /** Decimals as text without zeros at the end, whole counts as numbers, dates as text. */
  query(text: string): Promise<Record<string, unknown>[]>;
  /** All rows of a model, ordered by these columns; `columns` leaves out the others, and without a reporting currency there are none in it. */
  model(name: string, order: string, columns?: string): Promise<Record<string, unknown>[]>;
  /** The same as lists of values. */
  lines(model: string, order: string, columns?: string): Promise<unknown[][]>;
  /** The same as texts: a value that is not there is a dash. */
  written(model: string, order: string, columns?: string): Promise<string[]>;
  /** The models that were made: those of which no needed table is missing. */
  readonly models: ReadonlySet<string>;
  /** The same, as commands read it. */
  readonly reading: WarehouseReading;
  /** DuckDB's file is written anew: what it holds of views is what was read out of a file. */
  renew(): Promise<unknown>;
  /** What `explain` says of a query. */
  explain(text: string): Promise<string>;
  drop(): Promise<void>;
}

/** A warehouse that the tests of a suite share. */
export function suiteWarehouse(make: () => Promise<ModelWarehouse>): ModelWarehouse {
  let made: ModelWarehouse | undefined;
  beforeAll(async () => {
    made = await make();
  });
  afterAll(() => made?.drop());
  return new Proxy({} as ModelWarehouse, { get: (_, name) => Reflect.get(made!, name) });
}

const run = {
  schema: "procurement",
  stateSchema: "_tributary",
  runId: "run-1",
  holder: { pid: process.pid, host: "here", command: "sync", startedAt: "2026-03-15T00:00:00Z" },
  clock: systemClock,
};

/** Both databases, for `describe.each`; whoever makes a warehouse drops it. */
export const modelWarehouses: readonly {
  readonly name: "duckdb" | "postgres";
  readonly make: (contents: Contents) => Promise<ModelWarehouse>;
}[] = [
  {
    name: "duckdb",
    async make(contents) {
      const folder = await mkdtemp(join(tmpdir(), "tributary-models-"));
      const path = join(folder, "warehouse.duckdb");
      const destination = await openDuckdb({ ...run, path, readers: "direct", keepVersions: 1, memoryMb: 512 });
      return filled("duckdb", destination, contents, async () => {
        await destination.close();
        await rm(folder, { recursive: true, force: true });
      });
    },
  },
  {
    name: "postgres",
    async make(contents) {
      const database = await createDatabase(inject("postgresUrl"));
      const destination = await openPostgres({ ...run, url: database.url, grantSelectTo: [] });
      return filled("postgres", destination, contents, async () => {
        await destination.close();
        await database.drop();
      });
    },
  },
];

async function filled(
  name: "duckdb" | "postgres",
  destination: Destination,
  { rows, today = "2026-03-15", meanings = usualMeanings, currency }: Contents,
  drop: () => Promise<void>,
): Promise<ModelWarehouse> {
  const { db, dialect, stateSchema } = destination;
  const query = async (text: string) =>
    (await sql<Record<string, unknown>>`${sql.raw(text)}`.execute(db)).rows.map(row =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, canonical(value)])),
    );
  const isGiven = (stream: Stream, suffix: string) =>
    [stream.tables.main, ...stream.tables.children].some(({ name }) => `${name}${suffix}` in rows);
  const kept = streams.filter(stream => isGiven(stream, "_versions"));
  const on = streams.filter(stream => kept.includes(stream) || isGiven(stream, ""));
  const tables = on.flatMap(stream => [stream.tables.main, ...stream.tables.children]);
  await ensureState(db, dialect, stateSchema);
  const source = currency && { report: currency.report, rates: "", maxAgeMs: 0 };
  const { warnings } = await ensureTables(db, dialect, {
    ...tableOrder(destination, { streams: on, grantSelectTo: [], versioned: new Set(kept.map(({ name }) => name)) }),
    views: viewOrder(destination, on, { wanted: true, models: program, meanings, currency: source }),
  });
  if (currency !== undefined) {
    const factors = currencyFactors(currency.rates.split("\n"), { ...currency, maxAgeMs: 7 * 86_400_000 });
    await keepRates(db, stateSchema, { digest: "test", factors });
  }
  if (warnings.length > 0) throw new Error(warnings.join("\n"));
  await query(`create or replace view procurement_analytics.calendar_today as select date '${today}' as today`);
  for (const [name, given] of Object.entries(rows)) {
    const isVersions = name.endsWith("_versions");
    const table = tables.find(candidate => candidate.name === name.replace(/_versions$/, ""));
    if (table === undefined) throw new TypeError(`no stream has a table ${name}`);
    if (given.length > 0) await query(insertion(table, given, isVersions ? { name, columns: VALIDITY } : ROW));
  }
  // In one of them, for suites fill both alike, and each model's answers are the same in both (all/everything.test.ts): half of
  // a warehouse's time went into DuckDB's plans of the models that no question of the suite's is about.
  if (name === "postgres") await requireDeclarations({ query: async text => (await query(text)) as never });
  const views = await query(
    "select table_name from information_schema.tables where table_schema = 'procurement_analytics'",
  );
  const names = new Set(views.map(view => view["table_name"]));
  const model: ModelWarehouse["model"] = async (name, order, columns = "*") => {
    const found = await query(`select ${columns} from procurement_analytics.${name} order by ${order}`);
    return columns === "*" && currency === undefined ? found.map(withoutReported) : found;
  };
  const lines: ModelWarehouse["lines"] = async (...asked) => (await model(...asked)).map(Object.values);
  const models = new Set(program.models.map(({ name }) => name).filter(name => names.has(name)));
  return {
    query,
    models,
    reading: { ...destination, publishedAt: undefined },
    renew: () => destination.cleanse([]),
    model,
    lines,
    written: async (...asked) => (await lines(...asked)).map(line => line.map(value => value ?? "-").join(" | ")),
    explain: async text => (await query(`explain ${text}`)).map(row => Object.values(row).join(" ")).join("\n"),
    drop,
  };
}

/** @throws Error where a model's key or a reference is not so of these rows */
async function requireDeclarations(view: Pick<View, "query">): Promise<void> {
  const declared = await modelRows(view, program.models, declaredColumns(program.models));
  const untrue = await untrueDeclarations(view, program.models, declared);
  if (untrue.length > 0) throw new Error(untrue.join("\n"));
}

const withoutReported = (row: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(row).filter(([name]) => !name.endsWith("_reported") && !name.startsWith("unconverted_")),
  );

const MOMENT = "2026-03-15T06:00:00Z";
const ROW = { name: undefined, columns: ["_changed_at", "_deleted_at"] };
const VALIDITY = ["_valid_from", "_valid_to", "_is_current"];

/** Values go in as text: on the way into the column each database reads them as that column's. */
function insertion(table: Table, rows: readonly Row[], as: { name: string | undefined; columns: string[] }): string {
  const own = ["_company", ...table.columns.map(({ name }) => name), ...as.columns];
  for (const name of rows.flatMap(row => Object.keys(row)))
    if (!own.includes(name)) throw new TypeError(`${table.name} has no column ${name}`);
  const lines = rows.map(row => {
    const whole: Row = { _company: "acme", _changed_at: MOMENT, _is_current: row["_valid_to"] == null, ...row };
    for (const key of table.key)
      if (whole[key] === undefined) throw new TypeError(`a row of ${table.name} lacks its key ${key}`);
    return `(${own.map(name => literal(whole[name] ?? null)).join(", ")})`;
  });
  return `insert into procurement.${as.name ?? table.name} (${own.map(name => `"${name}"`).join(", ")}) values ${lines.join(", ")}`;
}

function literal(value: Value): string {
  if (value === null) return "null";
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return `'${text.replaceAll("'", "''")}'`;
}

function canonical(value: unknown): unknown {
  if (typeof value !== "string" || !/^-?\d+\.\d+$/.test(value)) return value;
  return value.replace(/\.?0+$/, "");
}
