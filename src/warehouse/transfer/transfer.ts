import { type Kysely, sql } from "kysely";
import { DestinationError } from "../../errors.ts";
import { createHasher, type Hasher } from "../../rows/hash.ts";
import { altering } from "../ddl/alteration.ts";
import { type PresentTable, readCatalog } from "../ddl/database_catalog.ts";
import type { Destination } from "../destination.ts";
import type { Dialect, Named } from "../dialect.ts";
import type { Contents, SourceColumn } from "../parquet_source.ts";
import type { CopyPlace } from "../read/copying.ts";
import { countOf } from "../sql_fragments.ts";
import { recordFact } from "../state/facts.ts";
import { type Filling, fillingOf, recordFilling } from "../state/filling.ts";
import { STAGES, type StateTables, stateTables } from "../state_tables.ts";
import { openLoader } from "./row_loader.ts";
import { type Canonical, Digest, takeRows, writtenColumns } from "./row_text.ts";

/** Tables are copied in one transaction until these many rows are together: many are small. */
const TOGETHER_ROWS = 20_000;
const TOGETHER_TABLES = 10;
/** What a database has of its own: facts about its tables, who is at work, scans under way. */
const OWN_TABLES: readonly string[] = ["warehouse", "holders", STAGES] satisfies (keyof StateTables | typeof STAGES)[];
const OWN_FACTS = ["schema", "version", "tables", "columns", "views", "stored_models", "lake_expired"];

type Db = Kysely<StateTables>;

/** From where to where, both locked: no run changes either meanwhile. */
export interface Sides {
  readonly from: Destination;
  readonly to: Destination;
  readonly canonical: Canonical;
  readonly signal: AbortSignal;
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

/** A table that both have. */
interface Pair {
  readonly name: string;
  readonly from: PresentTable;
  readonly to: PresentTable;
}

/** Copies the state tables, which say what tables there are to be, but for those of a database's own. */
export async function copyState(sides: Sides): Promise<readonly Copied[]> {
  const names = Object.keys(stateTables).filter(name => !OWN_TABLES.includes(name));
  return copyTables(sides, await pairsOf(sides, ({ schema, name }) => schema === "state" && names.includes(name)));
}

/** Copies all other tables that both have; those of `stays` are worked out anew. */
export async function copyData(sides: Sides, stays: (stateTable: string) => boolean): Promise<readonly Copied[]> {
  const ofState = new Set([...Object.keys(stateTables), STAGES]);
  const pairs = await pairsOf(sides, ({ schema, name }) => schema === "data" || !(ofState.has(name) || stays(name)));
  return copyTables(sides, pairs);
}

/** Tables of the data schema that the new warehouse knows nothing of: somebody's own, or of streams that are no more. */
export async function tablesLeft({ from, to }: Sides): Promise<readonly string[]> {
  const [old, made] = [await tablesIn(from), await tablesIn(to)];
  return [...old].flatMap(([key, { name, schema }]) => (schema === from.schema && !made.has(key) ? [name] : []));
}

/** Records what the former warehouse knew beside its tables, companies among it; from now on runs may work on the new one. */
export async function endFilling({ from, to }: Sides): Promise<void> {
  const facts = await from.db.selectFrom("warehouse").select(["key", "value"]).execute();
  await to.db.transaction().execute(async trx => {
    for (const { key, value } of facts)
      if (!OWN_FACTS.includes(key))
        for (const statement of recordFact(to.stateSchema, key, value)) await statement.execute(trx);
    await recordFilling(trx, to.stateSchema, undefined);
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
  return [...made].flatMap(([key, table]) => {
    const one = old.get(key);
    return one === undefined || !isMeant(placeOf(to, table)) ? [] : [{ name: table.name, from: one, to: table }];
  });
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
    const counted = { ...pair, rows: await countOf(from.db, reference(pair.from)) };
    const before = filling.done[keyOf(pair.to)];
    if (before !== undefined && (await isAsCopied(sides, hasher, counted, before))) {
      copied.push({ table: pair.name, ...before, isThere: true });
      continue;
    }
    if (before === undefined && counted.rows === 0) {
      copied.push({ table: pair.name, rows: 0, fingerprint: "", isThere: false });
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

/** Whether the former table is as it was when it was copied. */
async function isAsCopied(sides: Sides, hasher: Hasher, pair: Counted, before: Contents): Promise<boolean> {
  if (pair.rows !== before.rows) return false;
  const columns = writtenColumns(pair.from.columns.values());
  const digest = new Digest(hasher, sides.canonical, columns);
  await addRows(sides, sides.from, pair.from, columns, digest);
  return digest.contents.fingerprint === before.fingerprint;
}

async function addRows(
  { signal }: Sides,
  place: CopyPlace,
  table: Named,
  columns: readonly SourceColumn[],
  digest: Digest,
): Promise<void> {
  await takeRows(place, table, columns, async lines => {
    signal.throwIfAborted();
    digest.add(lines);
  });
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
        if (done[keyOf(pair.to)] !== undefined) await sql`delete from ${reference(pair.to)}`.execute(trx);
        const contents = await copyTable(sides, trx, hasher, pair);
        done[keyOf(pair.to)] = contents;
        copied.push({ table: pair.name, ...contents, isThere: false });
      }
      await recordFilling(trx, to.stateSchema, { ...filling, done } satisfies Filling);
      return copied;
    }),
  );
}

/** Columns that were somebody's own, or of fields that are no more. */
function lackingColumns({ from, to }: Pair, dialect: Dialect) {
  const lacking = [...from.columns.values()].filter(({ name }) => !to.columns.has(name));
  return lacking.map(({ name, type }) => {
    const own = type.startsWith("json") ? dialect.columnType("json") : type;
    return sql`alter table ${reference(to)} add column ${sql.id(name)} ${sql.raw(own)}`;
  });
}

async function copyTable(sides: Sides, trx: Db, hasher: Hasher, { from, to, rows, name }: Counted): Promise<Contents> {
  const columns = writtenColumns(from.columns.values());
  const sent = new Digest(hasher, sides.canonical, columns);
  await using loader = await openLoader(sides.to, trx, to, columns);
  await takeRows(sides.from, from, columns, async lines => {
    sides.signal.throwIfAborted();
    sent.add(lines);
    await loader.take(lines);
    sides.watch({ table: name, rows: sent.contents.rows, of: rows });
  });
  await loader.end();
  const found = new Digest(hasher, sides.canonical, columns);
  await addRows(sides, { ...sides.to, db: trx }, to, columns, found);
  const [contents, arrived] = [sent.contents, found.contents];
  if (arrived.rows === contents.rows && arrived.fingerprint === contents.fingerprint) return contents;
  throw new DestinationError(
    `Expected ${name} to be equal row by row after it was copied, but ${contents.rows} rows (${contents.fingerprint}) became ${arrived.rows} (${arrived.fingerprint}). Nothing of it was stored; please report this.`,
  );
}
