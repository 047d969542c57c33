import { sql } from "kysely";
import { DestinationError } from "../../errors.ts";
import { createHasher, type Hasher } from "../../rows/hash.ts";
import type { Db } from "../database.ts";
import { altering } from "../ddl/alteration.ts";
import { type PresentTable, readCatalog } from "../ddl/database_catalog.ts";
import type { Destination } from "../destination.ts";
import type { Dialect, Named } from "../dialect.ts";
import { EXPIRED } from "../ducklake/maintenance.ts";
import { type SourceColumn, storedAs } from "../parquet_source.ts";
import type { CopyPlace } from "../read/copying.ts";
import { tablesMessages } from "../schema/messages.ts";
import { TABLE_FACTS } from "../schema/table_record.ts";
import { sharedTables } from "../shared_tables.ts";
import { countOf } from "../sql_fragments.ts";
import { keepFact } from "../state/facts.ts";
import { type Contents, type Filling, fillingOf, recordFilling } from "../state/filling.ts";
import { STAGES, type StateTables, stateTables } from "../state_tables.ts";
import { CURRENCY } from "../views/currency_rates.ts";
import { VIEWS } from "../views/present_views.ts";
import { STORED_MODELS } from "../views/stored_models.ts";
import { openLoader } from "./row_loader.ts";
import { type Canonical, Checksum, type Pieces, takeRows, writtenColumns } from "./row_text.ts";

/** Tables are copied in one transaction until these many rows are together: many are small. */
const TOGETHER_ROWS = 20_000;
const TOGETHER_TABLES = 10;
/** What a database has of its own: facts about its tables, who is at work, scans under way. */
const OWN_TABLES: readonly string[] = ["warehouse", "holders", STAGES] satisfies (keyof StateTables | typeof STAGES)[];
const OWN_FACTS: readonly string[] = ["schema", "version", ...TABLE_FACTS, VIEWS, STORED_MODELS, CURRENCY, EXPIRED];
/** What is worked out of the configuration and of files: the new warehouse's own. */
const OWN_STATE: readonly string[] = [...OWN_TABLES, "currency_factors"];

/** From where to where, both locked: no run changes either meanwhile. */
export interface Sides {
  readonly from: Destination;
  readonly to: Destination;
  readonly canonical: Canonical;
  readonly signal: AbortSignal;
  /** How many rows are read, and bytes sent, at once. */
  readonly pieces?: Pieces | undefined;
  /** Told how far the table is that is copied. */
  readonly watch: (progress: Progress) => void;
}

export interface Progress {
  readonly table: string;
  readonly rows: number;
  readonly of: number;
}

/** What was copied of a table; `isThere`: an earlier attempt did. */
export interface Copied extends Contents {
  readonly table: string;
  readonly isThere: boolean;
}

/** A table of the new warehouse, and the same of the former one. */
interface Pair {
  readonly name: string;
  /** Undefined where the former warehouse has it no more: an earlier attempt found it there. */
  readonly from: PresentTable | undefined;
  readonly to: PresentTable;
}

/** Copies the state tables, which say what tables there are to be, but for those of a database's own. */
export async function copyState(sides: Sides): Promise<readonly Copied[]> {
  const names = Object.keys(stateTables).filter(name => !OWN_STATE.includes(name));
  return copyTables(sides, await pairsOf(sides, ({ schema, name }) => schema === "state" && names.includes(name)));
}

/** Copies the streams' tables, whose names these are, and what stands in the state schema beside the state tables, but for `stays`. */
export async function copyData(
  sides: Sides,
  names: ReadonlySet<string>,
  stays: (stateTable: string) => boolean,
): Promise<readonly Copied[]> {
  const ofState = new Set([...Object.keys(stateTables), ...Object.keys(sharedTables), STAGES]);
  const pairs = await pairsOf(sides, ({ schema, name }) =>
    schema === "data" ? names.has(name) : !(ofState.has(name) || stays(name)),
  );
  return copyTables(sides, pairs);
}

/** Tables in the old warehouse's data schema that belong to no stream of this version. */
export async function tablesLeft({ from }: Sides, names: ReadonlySet<string>): Promise<readonly string[]> {
  const tables = [...(await tablesIn(from)).values()];
  return tables.flatMap(({ name, schema }) => (schema === from.schema && !names.has(name) ? [name] : []));
}

/** Records what the former warehouse knows beside its tables, companies among it. */
export async function copyFacts({ from, to }: Sides): Promise<void> {
  const facts = await from.db.selectFrom("warehouse").select(["key", "value"]).execute();
  await to.db.transaction().execute(async trx => {
    for (const { key, value } of facts) if (!OWN_FACTS.includes(key)) await keepFact(trx, key, value);
  });
}

interface Place {
  readonly schema: "data" | "state";
  readonly name: string;
}

const placeOf = ({ schema }: Destination, table: PresentTable): Place => ({
  schema: table.schema === schema ? "data" : "state",
  name: table.name,
});

async function tablesIn(one: Destination): Promise<ReadonlyMap<string, PresentTable>> {
  const { tables } = await readCatalog(one.db, one.dialect, [one.schema, one.stateSchema]);
  const own = [...tables.values()].filter(({ isTable }) => isTable);
  return new Map(own.map(table => [Object.values(placeOf(one, table)).join("."), table]));
}

async function pairsOf({ from, to }: Sides, isMeant: (place: Place) => boolean): Promise<readonly Pair[]> {
  const [old, made] = [await tablesIn(from), await tablesIn(to)];
  return [...made].flatMap(([key, table]) =>
    isMeant(placeOf(to, table)) ? [{ name: table.name, from: old.get(key), to: table }] : [],
  );
}

/** Copies tables in transactions of some together, and compares each row by row before it is committed. */
async function copyTables(sides: Sides, pairs: readonly Pair[]): Promise<readonly Copied[]> {
  const { from, to } = sides;
  const hasher = await createHasher();
  const copied: Copied[] = [];
  let waiting: Counted[] = [];
  let rows = 0;
  const flush = async () => {
    if (waiting.length > 0) copied.push(...(await copyTogether(sides, hasher, waiting)));
    [waiting, rows] = [[], 0];
  };
  const filling = (await fillingOf(to.db))!;
  for (const pair of pairs) {
    const counted = { ...pair, rows: pair.from === undefined ? 0 : await countOf(from.db, reference(pair.from)) };
    const there = await countOf(to.db, reference(pair.to));
    if (counted.rows === 0 && there === 0) {
      copied.push({ table: pair.name, rows: 0, fingerprint: "", isThere: false });
      continue;
    }
    const before = filling.done[keyOf(pair.to)];
    if (pair.from === undefined && before === undefined) continue;
    if (before !== undefined && there === before.rows && (await isAsCopied(sides, hasher, counted, before))) {
      copied.push({ table: pair.name, ...before, isThere: true });
      continue;
    }
    waiting.push(counted);
    rows += counted.rows;
    if (rows >= TOGETHER_ROWS || waiting.length === TOGETHER_TABLES) await flush();
  }
  await flush();
  return copied;
}

interface Counted extends Pair {
  readonly rows: number;
}

const keyOf = ({ schema, name }: Named): string => `${schema}.${name}`;
const reference = ({ schema, name }: Named) => sql.id(schema, name);

/** Whether both tables hold what was copied. */
async function isAsCopied(
  sides: Sides,
  hasher: Hasher,
  { from, to, rows }: Counted,
  before: Contents,
): Promise<boolean> {
  if (from === undefined || rows !== before.rows) return false;
  for (const [place, table] of [
    [sides.from, from],
    [sides.to, to],
  ] as const)
    if (
      (await contentsOf(sides, place, table, hasher, writtenColumns(from.columns.values()))).fingerprint !==
      before.fingerprint
    )
      return false;
  return true;
}

async function contentsOf(
  { canonical, signal, pieces }: Sides,
  place: CopyPlace,
  table: Named,
  hasher: Hasher,
  columns: readonly SourceColumn[],
): Promise<Contents> {
  const checksum = new Checksum(hasher, canonical, columns);
  await takeRows(place, table, columns, pieces, async lines => {
    signal.throwIfAborted();
    checksum.add(lines);
  });
  return checksum.contents;
}

async function copyTogether(sides: Sides, hasher: Hasher, pairs: readonly Counted[]): Promise<readonly Copied[]> {
  const { to } = sides;
  const widen = pairs.flatMap(pair => lackingColumns(pair, to.dialect));
  if (widen.length > 0)
    await altering(to.db, to.dialect, async trx => {
      for (const statement of widen) await statement.execute(trx);
    });
  return to.withRoom("write", () =>
    to.db.transaction().execute(async trx => {
      const filling = (await fillingOf(trx))!;
      const done: Record<string, Contents> = { ...filling.done };
      const copied: Copied[] = [];
      for (const pair of pairs) {
        await sql`delete from ${reference(pair.to)}`.execute(trx);
        const contents = await copyTable(sides, trx, hasher, pair);
        done[keyOf(pair.to)] = contents;
        copied.push({ table: pair.name, ...contents, isThere: false });
      }
      await recordFilling(trx, { ...filling, done } satisfies Filling);
      return copied;
    }),
  );
}

/** Statements that add the columns that only the old table has. A type that is not one of tributary's becomes text. */
function lackingColumns({ from, to }: Pair, dialect: Dialect) {
  const lacking = [...(from?.columns.values() ?? [])].filter(({ name }) => !to.columns.has(name));
  return lacking.map(({ name, type }) => {
    const isKnown = type === "double precision" || storedAs(type) !== "text";
    const own = isKnown ? type : dialect.columnType(type.startsWith("json") ? "json" : "text");
    return sql`alter table ${reference(to)} add column ${sql.id(name)} ${sql.raw(own)}`;
  });
}

async function copyTable(sides: Sides, trx: Db, hasher: Hasher, { from, to, rows, name }: Counted): Promise<Contents> {
  if (from === undefined) return { rows: 0, fingerprint: "" };
  const columns = writtenColumns(from.columns.values());
  const sent = new Checksum(hasher, sides.canonical, columns);
  await using loader = await openLoader(sides.to, trx, to, columns, sides.pieces);
  await takeRows(sides.from, from, columns, sides.pieces, async lines => {
    sides.signal.throwIfAborted();
    sent.add(lines);
    await loader.take(lines);
    sides.watch({ table: name, rows: sent.contents.rows, of: rows });
  });
  await loader.end();
  const { contents } = sent;
  const arrived = await contentsOf(sides, { ...sides.to, db: trx }, to, hasher, columns);
  if (arrived.rows === contents.rows && arrived.fingerprint === contents.fingerprint) return contents;
  throw new DestinationError(tablesMessages.copy_differs({ table: name, sent: contents, arrived }));
}
