import { sql } from "kysely";
import { z } from "zod";
import { type Table, type TableSet, tablesOf } from "../../../src/catalog/columns.ts";
import { Encoder } from "../../../src/rows/encoder.ts";
import { createHasher } from "../../../src/rows/hash.ts";
import { isoUtc } from "../../../src/rows/moment.ts";
import { schemaFingerprint } from "../../../src/rows/schema_fingerprint.ts";
import type { Destination } from "../../../src/warehouse/destination.ts";
import type { ChildStream } from "../../../src/warehouse/details/parents.ts";
import { reconcileHistory } from "../../../src/warehouse/history/row_history.ts";
import { applyDiff, inPublish, openPublish } from "../../../src/warehouse/merge/apply.ts";
import { compare } from "../../../src/warehouse/merge/diff.ts";
import type { LoadTarget } from "../../../src/warehouse/merge/load_target.ts";
import { ensureTables } from "../../../src/warehouse/schema/tables.ts";
import { ensureState } from "../../../src/warehouse/state/state_ddl.ts";

export type Row = Readonly<Record<string, unknown>>;

const field = (kind: string, more: object = {}) => z.unknown().meta({ kind, ...more });
const partWith = (rank: object) => ({ label: field("text"), rank: field("count", rank) });
const part = partWith({ volatile: true });
const tables = (name: string, key: readonly string[], own: object): TableSet =>
  tablesOf({ name, key, row: z.object({ id: field("id"), ...part, ...own }), added: [], volatile: [] });

/** A list, and two streams of details: one row an answer with a child table, and many rows an answer. */
export const things = tables("things", ["id"], { lines: z.array(z.object(part)).meta({ table: "thing_lines" }) });
/** The same, where what changes by itself counts too. */
export const strictThings = tables("things", ["id"], {
  ...partWith({}),
  lines: z.array(z.object(partWith({}))).meta({ table: "thing_lines" }),
});
export const notes = tables("thing_notes", ["id"], { parts: z.array(z.object(part)).meta({ table: "note_parts" }) });
export const logs = tables("thing_logs", ["id", "no"], { no: field("id") });
export const streams = [things, notes, logs];
export const lived: readonly Table[] = streams.flatMap(({ main, children }) => [main, ...children]);

const on = [["id", "id"]] as const;
const childStream = (tables: TableSet): ChildStream => ({ stream: tables.main.name, tables, on });

/** Makes the tables, with tables of versions beside them. */
export async function makeTables({ db, dialect, schema, stateSchema }: Destination): Promise<readonly string[]> {
  await ensureState(db, dialect, stateSchema);
  const versioned = new Set(streams.map(({ main }) => main.name));
  const comment = (table: Table) => table.name;
  const order = { schema, stateSchema, streams, versioned, comment, grantSelectTo: [] };
  return (await ensureTables(db, dialect, order)).done;
}

/** Begins to keep the histories, or ends it. */
export const keep = (
  destination: Destination,
  kept: boolean,
  now: string,
  of: readonly TableSet[] = streams,
): Promise<readonly string[]> =>
  reconcileHistory(destination, {
    companies: ["acme"],
    kept: kept ? of : [],
    left: kept ? [] : streams.map(({ main }) => main.name),
    now,
  });

/** What is read of a stream: all rows of the list, or the answers of some parents (none: 404). */
export type Reading = readonly Row[] | ReadonlyMap<string, readonly Row[] | undefined>;

/** Publishes what was read; what a list lacks is gone. */
export async function publishAt(
  destination: Destination,
  own: TableSet,
  read: Reading,
  moment: string,
  company = "acme",
): Promise<void> {
  const stage = await destination.stage(company, own);
  const hasher = await createHasher();
  const encoder = new Encoder({ tables: own, formats: isoUtc, hasher, ignored: [], highWaterColumn: undefined });
  if (isList(read)) for (const row of read) encoder.add(row, {}, {});
  else
    for (const [parentKey, rows] of read) {
      for (const row of rows ?? []) encoder.add(row, {}, {});
      const outcome = rows === undefined ? "absent" : "ok";
      encoder.outcome({ parentKey, parentHash: "1", outcome, fetchedAt: moment, reason: undefined });
    }
  await stage.begin({ scan: moment });
  await stage.append(encoder.take().batch, { scan: moment });
  const list = isList(read);
  const target: LoadTarget = {
    company,
    stream: own.main.name,
    tables: own,
    stage,
    schemaFingerprint: schemaFingerprint(own, hasher),
    parent: list ? undefined : { kind: "rows", ...childStream(things), only: undefined },
    many: own === logs,
    details: list ? [childStream(notes), childStream(logs)] : [],
    scope: undefined,
  };
  const diff = await compare(destination, target, list);
  const verdict = list ? { remember: true, all: true, before: false, confirmed: [] } : undefined;
  await inPublish(destination, target, diff, async trx => {
    const open = await openPublish(trx, destination, target, diff);
    await applyDiff({ ...open, timestamp: moment }, diff, { verdict, absent: "believed" });
  });
  await stage.drop();
}

const isList = (read: Reading): read is readonly Row[] => Array.isArray(read);

/** A row's part that opens versions, and the part that changes by itself. */
export interface Told {
  readonly stable: string;
  readonly own: string;
  /** ISO 8601; of versions undefined. */
  readonly changedAt: string | undefined;
}

export type Copy = ReadonlyMap<string, Told>;

/** The rows that a query over all tables answers, by table and key. */
export async function copyOf({ db }: Destination, source: (table: Table) => string): Promise<Copy> {
  const copy = new Map<string, Told>();
  for (const table of lived) {
    const { rows } = await sql<Record<string, unknown>>`${sql.raw(source(table))}`.execute(db);
    const stable = table.columns.filter(column => !column.volatile).map(column => column.name);
    for (const row of rows) {
      const key = ["_company", ...table.key].map(name => row[name]);
      const at = row["_changed_at"];
      const name = `${table.name} ${JSON.stringify(key)}`;
      if (copy.has(name)) throw new Error(`${name} is there twice`);
      copy.set(name, {
        stable: JSON.stringify(stable.map(column => row[column])),
        own: JSON.stringify([row["rank"], row["_extra"]]),
        changedAt: at instanceof Date ? at.toISOString() : undefined,
      });
    }
  }
  return copy;
}
