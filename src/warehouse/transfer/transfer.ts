import { createReadStream } from "node:fs";
import { mkdtemp, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { DestinationError } from "../../errors.ts";
import { remove } from "../../files.ts";
import { createHasher, type Hasher } from "../../rows/hash.ts";
import type { Db, Fragment, Schemas } from "../database.ts";
import { type PresentTable, readCatalog } from "../ddl/database_catalog.ts";
import type { Destination } from "../destination.ts";
import type { Dialect } from "../dialect.ts";
import { csvRelation } from "../duckdb/parquet/spool.ts";
import { EXPIRED } from "../ducklake/maintenance.ts";
import { type SourceColumn, storedAs } from "../parquet_source.ts";
import { type CopyPlace, copyRows } from "../read/copying.ts";
import { textOf } from "../read/stored_rows.ts";
import { tablesMessages } from "../schema/messages.ts";
import { TABLE_FACTS } from "../schema/table_record.ts";
import { sharedTables } from "../shared_tables.ts";
import { columnList } from "../sql_fragments.ts";
import { keepFact } from "../state/facts.ts";
import { STAGES, type StateTables } from "../state_tables.ts";
import { CURRENCY } from "../views/currency_rates.ts";
import { VIEWS } from "../views/present_views.ts";
import { STORED_MODELS } from "../views/stored_models.ts";

/** What a database has of its own: facts about its tables, who is at work, scans under way, what is worked out of files. */
const OWN_TABLES = ["warehouse", "holders", "currency_factors", STAGES, ...Object.keys(sharedTables)];
/** What making the tables wrote into it gives way to what the former warehouse has. */
const MAKING = "table_changes" satisfies keyof StateTables;
const OWN_FACTS: readonly string[] = ["schema", "version", ...TABLE_FACTS, VIEWS, STORED_MODELS, CURRENCY, EXPIRED];

/** The value of a column in one spelling, whatever database wrote its text. */
export type Canonical = (kind: "json" | "score", text: string) => string;

/** A warehouse that is read within one transaction, and an empty one with the same tables. */
export interface Sides {
  readonly from: CopyPlace & Schemas;
  readonly to: Destination;
  /** Names of the tables in the data schema that go with it, and of those in the state schema that stay. */
  readonly names: ReadonlySet<string>;
  readonly stays: ReadonlySet<string>;
  readonly canonical: Canonical;
  readonly signal: AbortSignal;
  readonly watch: (progress: Progress) => void;
}

export interface Progress {
  readonly table: string;
  readonly nth: number;
  readonly of: number;
}

interface Pair {
  readonly from: PresentTable;
  readonly to: PresentTable;
}

/** `left`: tables and columns that only the former warehouse has, which stay there; `lacking`: columns that it does not have. */
export async function compareTables(
  sides: Sides,
): Promise<{ readonly left: readonly string[]; readonly lacking: readonly string[] }> {
  const { from, names } = sides;
  const pairs = await pairsOf(sides);
  const tables = [...(await tablesIn(from)).values()].filter(
    ({ schema, name }) => schema === from.schema && !names.has(name),
  );
  const columns = pairs.flatMap(pair => columnsBeside(pair.from, pair.to));
  return {
    left: [...tables.map(({ name }) => name), ...columns],
    lacking: pairs.flatMap(pair => columnsBeside(pair.to, pair.from)),
  };
}

const columnsBeside = ({ name: table, columns }: PresentTable, other: PresentTable): readonly string[] =>
  [...columns.keys()].filter(name => !other.columns.has(name)).map(name => `${table}.${name}`);

/** Copies and compares all tables, and records what the former warehouse knows, in one transaction: stopped, nothing is there. */
export async function copyWarehouse(sides: Sides): Promise<{ readonly tables: number; readonly rows: number }> {
  const { from, to, signal, watch } = sides;
  const hasher = await createHasher();
  const pairs = await pairsOf(sides);
  // Values are private.
  const folder = await mkdtemp(join(tmpdir(), "tributary-rows-"));
  try {
    return await to.withRoom("write", () =>
      to.db.transaction().execute(async trx => {
        let rows = 0;
        await trx.deleteFrom(MAKING).execute();
        for (const [index, pair] of pairs.entries()) {
          signal.throwIfAborted();
          watch({ table: pair.to.name, nth: index + 1, of: pairs.length });
          rows += await copyTable(sides, trx, hasher, pair, join(folder, "rows.csv"));
        }
        const facts = await from.db.selectFrom("warehouse").select(["key", "value"]).execute();
        for (const { key, value } of facts) if (!OWN_FACTS.includes(key)) await keepFact(trx, key, value);
        return { tables: pairs.length, rows };
      }),
    );
  } finally {
    await remove(folder);
  }
}

async function tablesIn({ db, dialect, schema, stateSchema }: CopyPlace & Schemas) {
  const { tables } = await readCatalog(db, dialect, [schema, stateSchema]);
  const own = [...tables.values()].filter(({ isTable }) => isTable);
  return new Map(own.map(table => [`${table.schema === schema} ${table.name}`, table]));
}

async function pairsOf({ from, to, names, stays }: Sides): Promise<readonly Pair[]> {
  const old = await tablesIn(from);
  return [...(await tablesIn(to))].flatMap(([key, table]) => {
    const { schema, name } = table;
    const before = old.get(key);
    const isMoved = schema === to.schema ? names.has(name) : !OWN_TABLES.includes(name) && !stays.has(name);
    return isMoved && before !== undefined ? [{ from: before, to: table }] : [];
  });
}

const reference = ({ schema, name }: PresentTable) => sql.id(schema, name);

async function copyTable(sides: Sides, trx: Db, hasher: Hasher, { from, to }: Pair, file: string): Promise<number> {
  const columns = [...to.columns.values()].map(({ name, type }) => ({ name, type, storedAs: storedAs(type) }));
  const longest = await writeRows(sides, from, columns, file);
  const target = sql`${reference(to)} (${columnList(columns.map(({ name }) => name))})`;
  const { copyIn } = sides.to;
  if (longest > 0 && copyIn !== undefined)
    await copyIn(sql`copy ${target} from stdin (format csv)`.compile(trx).sql, createReadStream(file));
  else if (longest > 0)
    await sql`insert into ${target} select * from ${sql.raw(csvRelation(file, columns, longest))}`.execute(trx);
  const sent = await contentsOf(sides, sides.from, from, columns, hasher);
  const arrived = await contentsOf(sides, { ...sides.to, db: trx }, to, columns, hasher);
  if (sent.rows === arrived.rows && sent.fingerprint === arrived.fingerprint) return sent.rows;
  throw new DestinationError(tablesMessages.copy_differs({ table: to.name, sent, arrived }));
}

const QUOTE = 0x22;
const LINE_END = 0x0a;

/** Writes a table's rows as CSV, every value quoted and NULL as nothing. Answers how many bytes the longest has. */
async function writeRows({ from, signal }: Sides, table: PresentTable, columns: readonly SourceColumn[], file: string) {
  const values = columns.map(column => sql`${valueText(from.dialect, column)} as ${sql.id(column.name)}`);
  const query = sql`select ${sql.join(values)} from ${reference(table)}`.compile(from.db).sql;
  await using handle = await open(file, "w", 0o600);
  let longest = 0;
  let line = 0;
  let inQuotes = false;
  await copyRows(from, [query], "values", async piece => {
    signal.throwIfAborted();
    for (const byte of piece) {
      line++;
      if (byte === QUOTE) inQuotes = !inQuotes;
      if (byte !== LINE_END || inQuotes) continue;
      longest = Math.max(longest, line);
      line = 0;
    }
    await handle.writeFile(piece);
  });
  return longest;
}

/** The same text from each database, but for JSON and floating point numbers. */
function valueText(dialect: Dialect, { name, storedAs: as }: SourceColumn): Fragment {
  const column = sql.id(name);
  if (as === "moment")
    return sql`${textOf(dialect, "moment", column)} || case when isfinite(${column}) then '+00' else '' end`;
  return as === "date" ? textOf(dialect, "date", column) : sql`cast(${column} as varchar)`;
}

const looseAs = ({ type }: SourceColumn) =>
  type.startsWith("json") ? "json" : type === "double precision" ? "score" : undefined;

/** How many rows a table has, and the sum of their hashes, in whatever order they come. */
async function contentsOf(
  { canonical, signal }: Sides,
  place: CopyPlace,
  table: PresentTable,
  columns: readonly SourceColumn[],
  hasher: Hasher,
) {
  const loose = columns.flatMap(column => looseAs(column) ?? []);
  const texts = (isLoose: boolean) =>
    columns
      .filter(column => (looseAs(column) !== undefined) === isLoose)
      .map(column => sql`coalesce('=' || ${valueText(place.dialect, column)}, '')`);
  const joined = (all: readonly Fragment[]) => sql.join(all, sql` || chr(31) || `);
  // Line breaks of JSON are only between its values.
  const values = texts(true).map(text => sql`replace(${text}, chr(10), ' ')`);
  const line = joined([sql`md5(${joined([sql`''`, ...texts(false)])})`, ...values]);
  const query = sql`select ${line} as line from ${reference(table)}`.compile(place.db).sql;
  let rows = 0;
  let sum = 0n;
  const decoder = new TextDecoder();
  let rest = "";
  await copyRows(place, [query], "lines", async piece => {
    signal.throwIfAborted();
    const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
    rest = lines.pop()!;
    for (const text of lines) {
      const [exact, ...others] = text.split("\u001f");
      const same = others.map((value, nth) => (value === "" ? "" : canonical(loose[nth]!, value.slice(1))));
      sum = BigInt.asUintN(64, sum + hasher.hash(Buffer.from(JSON.stringify([exact, ...same]))));
      rows++;
    }
  });
  return { rows, fingerprint: sum.toString(16).padStart(16, "0") };
}
