import { sql } from "kysely";
import type { TableSet } from "../../catalog/columns.ts";
import type { Db, Trx } from "../database.ts";
import type { Destination } from "../destination.ts";
import { loadStreamState, saveStreamState } from "../state/run_log.ts";
import { type Caught, catchUp, lastTimestampOf } from "./row_versions.ts";

/** Of which streams the rows' versions are kept from now on, and of which no longer. All of them are locked by this run. */
export interface HistoryOrder {
  readonly companies: readonly string[];
  readonly kept: readonly TableSet[];
  readonly left: readonly string[];
  /** ISO 8601. */
  readonly now: string;
}

/**
 * Begins and ends histories. While one is kept every publish writes versions; one that begins, or begins again, first
 * catches up with the rows as they are. Writes nothing where nothing changes. Answers what it did, as sentences.
 */
export async function reconcileHistory(destination: Destination, order: HistoryOrder): Promise<readonly string[]> {
  const { db } = destination;
  const spans = await db.selectFrom("history").select(["company", "stream", "kept_to"]).execute();
  const done: string[] = [];
  for (const company of order.companies) {
    const own = spans.filter(span => span.company === company);
    const open = new Set(own.filter(span => span.kept_to === null).map(span => span.stream));
    for (const stream of order.left.filter(name => open.has(name))) {
      await db
        .updateTable("history")
        .set({ kept_to: order.now })
        .where(({ and }) => and({ company, stream }))
        .where("kept_to", "is", null)
        .execute();
      done.push(`${stream}: its history is no longer kept for ${company}; the versions there are stay`);
    }
    for (const tables of order.kept) {
      const goesOn = open.has(tables.main.name);
      if (goesOn && !(await coversOthers(db, company, tables))) continue;
      const { ended, begun } = await destination.withRoom("write", () =>
        begin(destination, company, tables, order.now, goesOn),
      );
      if (ended + begun === 0) continue;
      if (goesOn) {
        done.push(
          `${tables.main.name}: its history for ${company} follows other columns from now on (${ended} versions ended, ${begun} began)`,
        );
        continue;
      }
      const again = own.some(span => span.stream === tables.main.name);
      done.push(
        again
          ? `${tables.main.name}: its history goes on for ${company}; what changed while it was not kept counts from now on (${ended} versions ended, ${begun} began)`
          : `${tables.main.name}: its history begins for ${company} with ${begun} rows as they are`,
      );
    }
  }
  return done;
}

/** `_extra` is among them, so that a history that was kept without it catches up once. */
const volatileIn = ({ main, children }: TableSet): readonly string[] =>
  [main, ...children].flatMap(table => [
    ...table.columns.filter(column => column.volatile).map(column => `${table.name}.${column.name}`),
    `${table.name}._extra`,
  ]);

/** Whether other columns than before are volatile: what they said while they were is in no version. */
async function coversOthers(db: Db, company: string, tables: TableSet): Promise<boolean> {
  const { unversioned } = await loadStreamState(db, company, tables.main.name);
  return JSON.stringify(unversioned) !== JSON.stringify(volatileIn(tables));
}

/** The present rows and their versions become one, at a timestamp later than any they speak of, and every publish keeps them so. */
async function begin(
  destination: Destination,
  company: string,
  tables: TableSet,
  now: string,
  goesOn: boolean,
): Promise<Caught> {
  return destination.db.transaction().execute(async trx => {
    const { main, children } = tables;
    const last = await lastTimestampOf(trx, destination, company, tables);
    const timestamp = new Date(Math.max(Date.parse(now), last + 1)).toISOString();
    const sum = { ended: 0, begun: 0 };
    for (const table of last === 0 ? [] : [main, ...children]) {
      const { ended, begun } = await catchUp(trx, destination, company, table, timestamp);
      sum.ended += ended;
      sum.begun += begun;
    }
    // No publish to come may be earlier than versions that were written.
    const state = await loadStreamState(trx, company, main.name);
    const lastMoment = sum.ended + sum.begun > 0 ? timestamp : state.lastMoment;
    const next = { ...state, lastMoment, unversioned: volatileIn(tables) };
    await saveStreamState(trx, company, main.name, next, timestamp);
    if (goesOn) return sum;
    await trx
      .insertInto("history")
      .values({ company, stream: main.name, kept_from: timestamp, kept_to: null })
      .execute();
    return sum;
  });
}

/** Those of the streams of which every publish writes versions. */
export async function keptStreams(db: Db, company: string, streams: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom("history")
    .select("stream")
    .where("company", "=", company)
    .where("stream", "in", streams)
    .where("kept_to", "is", null)
    .execute();
  return new Set(rows.map(row => row.stream));
}

/** Tables of these streams were lost or made anew: their versions have to catch up before they are kept again. */
export async function interruptHistory(trx: Trx, streams: readonly string[], company?: string): Promise<void> {
  if (streams.length === 0) return;
  await trx
    .updateTable("history")
    .set({ kept_to: sql`current_timestamp` })
    .where("stream", "in", streams)
    .where("kept_to", "is", null)
    .$if(company !== undefined, query => query.where("company", "=", company!))
    .execute();
}

/** Of streams with versions that none of the companies keeps any more: since when, ISO 8601. */
export async function historiesLeft(db: Db, companies: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const spans = await db.selectFrom("history").select(["company", "stream", "kept_to"]).execute();
  const own = Map.groupBy(
    spans.filter(span => companies.includes(span.company)),
    span => span.stream,
  );
  const left = [...own].flatMap(([stream, all]) => {
    const ends = all.map(span => span.kept_to?.toISOString());
    return ends.includes(undefined) ? [] : [[stream, ends.toSorted().at(-1)!] as const];
  });
  return new Map(left);
}
