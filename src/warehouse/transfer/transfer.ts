import { createReadStream } from "node:fs";
import { mkdtemp, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { DestinationError } from "../../errors.ts";
import { remove } from "../../files.ts";
import { readCsv } from "../../rows/csv_reading.ts";
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
import { SEEN } from "../schema/look.ts";
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
const OWN_FACTS: readonly string[] = [
  "schema",
  "version",
  ...TABLE_FACTS,
  SEEN,
  VIEWS,
  STORED_MODELS,
  CURRENCY,
  EXPIRED,
];

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
  /** What to fail with where the former tables lack columns. */
  readonly lacking: (columns: readonly string[]) => Error;
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

const columnsBeside = ({ name: table, columns }: PresentTable, other: PresentTable): readonly string[] =>
  [...columns.keys()].filter(name => !other.columns.has(name)).map(name => `${table}.${name}`);

/** What was copied. `left`: tables and columns that only the former warehouse has, which stay there. */
interface Copied {
  readonly tables: number;
  readonly rows: number;
  readonly left: readonly string[];
}

/** Copies and compares all tables, and records what the former warehouse knows, in one transaction: stopped, nothing is there. */
export async function copyWarehouse(sides: Sides): Promise<Copied> {
  const { from, to, names, signal, watch } = sides;
  const hasher = await createHasher();
  const old = await tablesIn(from);
  const pairs = pairsOf(sides, old, await tablesIn(to));
  const lacking = pairs.flatMap(pair => columnsBeside(pair.to, pair.from));
  if (lacking.length > 0) throw sides.lacking(lacking);
  const foreign = [...old.values()].filter(({ schema, name }) => schema === from.schema && !names.has(name));
  const left = [...foreign.map(({ name }) => name), ...pairs.flatMap(pair => columnsBeside(pair.from, pair.to))];
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
        return { tables: pairs.length, rows, left };
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

type Tables = Awaited<ReturnType<typeof tablesIn>>;

function pairsOf({ to, names, stays }: Sides, old: Tables, made: Tables): readonly Pair[] {
  return [...made].flatMap(([key, table]) => {
    const { schema, name } = table;
    const before = old.get(key);
    const isMoved = schema === to.schema ? names.has(name) : !OWN_TABLES.includes(name) && !stays.has(name);
    return isMoved && before !== undefined ? [{ from: before, to: table }] : [];
  });
}

const reference = ({ schema, name }: PresentTable) => sql.id(schema, name);

async function copyTable(sides: Sides, trx: Db, hasher: Hasher, { from, to }: Pair, file: string): Promise<number> {
  const columns = [...to.columns.values()].map(({ name, type }) => ({ name, type, storedAs: storedAs(type) }));
  const reading = { ...sides, columns, hasher };
  const sent = await writeRows(reading, from, file);
  const target = sql`${reference(to)} (${columnList(columns.map(({ name }) => name))})`;
  const { copyIn } = sides.to;
  if (sent.rows > 0 && copyIn !== undefined)
    await copyIn(sql`copy ${target} from stdin (format csv)`.compile(trx).sql, createReadStream(file));
  else if (sent.rows > 0)
    await sql`insert into ${target} select * from ${sql.raw(csvRelation(file, columns, sent.longest))}`.execute(trx);
  const arrived = await readRows(reading, { ...sides.to, db: trx }, to, async () => undefined);
  if (sent.rows === arrived.rows && sent.fingerprint === arrived.fingerprint) return sent.rows;
  throw new DestinationError(tablesMessages.copy_differs({ table: to.name, sent, arrived }));
}

interface Reading extends Pick<Sides, "from" | "canonical" | "signal"> {
  readonly columns: readonly SourceColumn[];
  readonly hasher: Hasher;
}

async function writeRows(reading: Reading, table: PresentTable, file: string) {
  await using handle = await open(file, "w", 0o600);
  return await readRows(reading, reading.from, table, piece => handle.writeFile(piece));
}

const QUOTE = 0x22;
const LINE_END = 0x0a;

/**
 * Reads a table's rows as CSV, every value quoted and NULL as nothing. Answers how many there are, how many bytes the longest has,
 * and the sum of their hashes, in whatever order they come.
 */
async function readRows(
  { canonical, signal, columns, hasher }: Reading,
  place: CopyPlace,
  table: PresentTable,
  take: (piece: Buffer) => Promise<void>,
) {
  const values = columns.map(column => sql`${valueText(place.dialect, column)} as ${sql.id(column.name)}`);
  const query = sql`select ${sql.join(values)} from ${reference(table)}`.compile(place.db).sql;
  const loose = columns.map(looseAs);
  const isExact = loose.every(kind => kind === undefined);
  let [rows, longest, sum, inQuotes] = [0, 0, 0n, false];
  const note = (row: Buffer): void => {
    rows++;
    longest = Math.max(longest, row.length);
    sum = BigInt.asUintN(64, sum + hasher.hash(isExact ? row : Buffer.from(JSON.stringify(canonicalRow(row)))));
  };
  const canonicalRow = (row: Buffer) =>
    [...readCsv(row)][0]!.map((value, nth) => {
      const kind = loose[nth];
      return value === null || kind === undefined ? value : canonical(kind, value);
    });
  let rest = Buffer.alloc(0);
  await copyRows(place, [query], "values", async piece => {
    signal.throwIfAborted();
    let start = 0;
    for (let at = 0; at < piece.length; at++) {
      const byte = piece[at];
      if (byte === QUOTE) inQuotes = !inQuotes;
      if (byte !== LINE_END || inQuotes) continue;
      note(Buffer.concat([rest, piece.subarray(start, at + 1)]));
      rest = Buffer.alloc(0);
      start = at + 1;
    }
    rest = Buffer.concat([rest, piece.subarray(start)]);
    await take(piece);
  });
  return { rows, longest, fingerprint: sum.toString(16).padStart(16, "0") };
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
