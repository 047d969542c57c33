import { sql } from "kysely";
import type { TableSet } from "../../catalog/columns.ts";
import { counted } from "../../counted.ts";
import { DestinationError } from "../../errors.ts";
import type { Db, Fragment, Trx } from "../database.ts";
import { altering } from "../ddl/alteration.ts";
import { asOfName, versionsName } from "../ddl/as_of.ts";
import { readCatalog } from "../ddl/database_catalog.ts";
import { grantsByHand } from "../ddl/grants.ts";
import type { Dialect, Named } from "../dialect.ts";
import { loadStreamState, saveStreamState } from "../state/run_log.ts";
import { noState } from "../state/stream_state.ts";
import { deleteRowsWith } from "../state_rows.ts";
import { rowStateName } from "../state_tables.ts";
import { dependentsOf } from "../views/dependents.ts";
import { presentViews, recordViews } from "../views/present_views.ts";
import { dropViews } from "../views/statements.ts";
import { analyticsSchema } from "../views/view.ts";
import { dropForeignKeysTo } from "./foreign_keys.ts";
import { tablesMessages } from "./messages.ts";
import { recordedTables, recordTables } from "./table_record.ts";

export interface Removal {
  readonly schema: string;
  readonly stateSchema: string;
  readonly company: string;
  readonly tables: TableSet;
  /** Roles that may read what the next run makes. */
  readonly grantSelectTo?: readonly string[];
  /** The tables can't be read: they go with the rows of every company. */
  readonly unread?: boolean;
}

/**
 * Removes a company's rows and their versions, and the tables when no company has rows in them, in one transaction. Answers what it did.
 * Never CASCADE: where a view needs a table that would go, nothing is changed. @throws DestinationError that names the views
 */
export async function dropTables(db: Db, dialect: Dialect, removal: Removal): Promise<readonly string[]> {
  const { schema, stateSchema, tables } = removal;
  return altering(db, dialect, async trx => {
    const catalog = await readCatalog(trx, dialect, [schema, stateSchema]);
    const data = [...tables.children, tables.main];
    const wanted: Named[] = [
      ...data.map(table => ({ schema, name: versionsName(table) })),
      ...data.map(table => ({ schema, name: table.name })),
      { schema: stateSchema, name: rowStateName(tables.main.name) },
    ];
    const present = wanted.filter(table => catalog.tables.has(`${table.schema}.${table.name}`));
    await keepWritersOut(trx, dialect, present);
    const done: string[] = [];
    const isRead = removal.unread !== true;
    const empty: Named[] = isRead ? [] : present;
    for (const table of isRead ? present : []) {
      const removed = await removeRows(trx, table, removal.company);
      if (table.schema === schema)
        done.push(`removed ${counted(removed, "row")} of ${removal.company} from ${table.name}`);
      if (await isEmpty(trx, table)) empty.push(table);
    }
    // With the rows: a high-water mark that outlived them would keep the next run from reading them again.
    await forgetStream(trx, removal.company, tables.main.name);
    const own = { company: removal.company, stream: tables.main.name };
    await deleteRowsWith(trx, ["streams", "problems", "rejects", "schema_changes", "history"], own);
    // Main table, children and row state stay together: a half-dropped stream would look like a lost one.
    if (empty.length < present.length || present.length === 0) return done;
    const functions = data
      .filter(table => empty.some(({ name }) => name === versionsName(table)))
      .map(table => ({ schema, name: asOfName(table) }));
    const shown = analyticsSchema(schema);
    const { record } = await presentViews(trx, dialect, shown);
    const { ours, foreign } = await dependentsOf(
      trx,
      dialect,
      schema,
      [...empty, ...functions].filter(each => each.schema === schema).map(({ name }) => name),
      view => view.schema === shown && Object.hasOwn(record, view.name),
    );
    if (foreign.length > 0)
      throw new DestinationError(tablesMessages.views_read_table({ views: foreign, table: tables.main.name }));
    const given = dialect.isServer
      ? await grantsByHand(
          trx,
          [...empty, ...functions, ...ours.map(name => ({ schema: shown, name }))],
          removal.grantSelectTo ?? [],
        )
      : [];
    // The next run makes anew those that can do without the tables.
    await dropViews(trx, dialect, shown, ours);
    const kept = Object.entries(record).filter(([name]) => !ours.includes(name));
    for (const statement of recordViews(stateSchema, Object.fromEntries(kept))) await statement.execute(trx);
    if (ours.length > 0) done.push(`dropped ${ours.length === 1 ? "view" : "views"} ${ours.join(", ")}`);
    for (const each of functions) await drop(trx, each, dialect.asOf.drop(each.schema, each.name));
    const going = empty.filter(table => table.schema === schema).map(({ name }) => name);
    await dropForeignKeysTo(trx, dialect, schema, going);
    for (const table of empty) {
      await drop(trx, table, sql`drop table ${ref(table)}`);
      if (table.schema === schema) done.push(`dropped table ${table.name}`);
    }
    if (given.length > 0)
      done.push(`somebody's grants went with them, to be given again after the next run: ${given.join(" ")}`);
    await deleteRowsWith(trx, ["added_columns", "table_changes"], { stream: tables.main.name });
    const recorded = await recordedTables(trx);
    const left = [...recorded].filter(name => !empty.some(table => table.name === name));
    for (const statement of recordTables(stateSchema, new Set(left))) await statement.execute(trx);
    return done;
  });
}

/**
 * Forgets how far a company's stream was read, high-water marks and the ages of details, but not what is true of the rows that stay: when
 * they were last changed, as moments must not go back, and by which statuses they came, lest they be taken for deleted.
 */
export async function forgetProgress(trx: Trx, company: string, stream: string): Promise<void> {
  const { lastMoment, statuses } = await loadStreamState(trx, company, stream);
  await forgetStream(trx, company, stream);
  if (lastMoment !== null)
    await saveStreamState(trx, company, stream, { ...noState, lastMoment, statuses }, lastMoment);
}

const detailState = ["details", "detail_due", "detail_causes", "detail_samples", "detail_freshness"] as const;

export async function forgetStream(trx: Trx, company: string, stream: string): Promise<void> {
  await deleteRowsWith(trx, ["stream_state", ...detailState], { company, stream });
}

const ref = ({ schema, name }: Named): Fragment => sql.id(schema, name);

/** What another company's run is about to commit is waited for, and none comes between the look whether a table is empty and its end. */
async function keepWritersOut(trx: Trx, dialect: Dialect, tables: readonly Named[]): Promise<void> {
  if (tables.length === 0) return;
  for (const lock of dialect.lockTables(tables.map(ref), "share row exclusive")) await lock.execute(trx);
}

async function removeRows(trx: Trx, table: Named, company: string): Promise<number> {
  const result = await sql`delete from ${ref(table)} where _company = ${company}`.execute(trx);
  return Number(result.numAffectedRows ?? 0);
}

async function isEmpty(trx: Trx, table: Named): Promise<boolean> {
  const { rows } = await sql`select 1 as one from ${ref(table)} limit 1`.execute(trx);
  return rows.length === 0;
}

async function drop(trx: Trx, named: Named, statement: Fragment): Promise<void> {
  try {
    await statement.execute(trx);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "2BP01")) throw error;
    const reason = "detail" in error && typeof error.detail === "string" ? error.detail : error.message;
    throw new DestinationError(tablesMessages.needed({ name: `${named.schema}.${named.name}`, reason }), error);
  }
}
