import { sql } from "kysely";
import type { Table } from "../../catalog/columns.ts";
import type { Relation } from "../../catalog/relation.ts";
import { DestinationError } from "../../errors.ts";
import type { Message } from "../../message.ts";
import type { Db, Fragment } from "../database.ts";
import type { Step } from "../ddl/alteration.ts";
import { altering, executeAll } from "../ddl/alteration.ts";
import { readFunctions } from "../ddl/as_of.ts";
import { type Catalog, canonicalType, readCatalog } from "../ddl/database_catalog.ts";
import { closedSchemas, grantSteps, requireRoles } from "../ddl/grants.ts";
import { requireOwner, requireRights } from "../ddl/rights.ts";
import { type Shape, shapesOf } from "../ddl/shape.ts";
import type { Dialect } from "../dialect.ts";
import { interruptHistory } from "../history/row_history.ts";
import { unfilledColumns } from "../merge/unfilled.ts";
import { recordMaker, recordProgram, refuseOthersTables } from "../state/identity.ts";
import { saveStreamState, streamStatesOf } from "../state/run_log.ts";
import { deleteRowsWith, insertRows } from "../state_rows.ts";
import { stateTables } from "../state_tables.ts";
import { analyticsSchema, type ViewedTables } from "../views/view.ts";
import { planViewChanges } from "../views/view_changes.ts";
import { foreignKeySteps } from "./foreign_keys.ts";
import { foreignKeysInTheWay, interferences, namesTaken, neededColumns } from "./foreign_objects.ts";
import { tablesMessages } from "./messages.ts";
import { alteredColumns, commentOnTable, inOrder, type Plan, planTables, reservedTables } from "./table_migration.ts";
import { type RecordedColumns, recordColumns, recordedColumns, recordedTables, recordTables } from "./table_record.ts";

export interface TableOrder extends ViewedTables {
  /** The version of the program, which is recorded where it makes tables or gives them another shape. */
  readonly program?: string | undefined;
  /** When the run began; without it, as while tables are filled from another warehouse, what is done is not recorded. */
  readonly now?: string | undefined;
  /** The whole text of a table's comment: what it is, endpoint, mode, absence. */
  readonly comment: (table: Table) => string;
  /** Which of their rows belong together: what is certain becomes foreign keys, where the database can have them unchecked. */
  readonly relations?: readonly Relation[];
}

/** What was done, as sentences, and the streams whose tables were lost: their state and detail state were emptied with it. */
export interface Ensured {
  readonly done: readonly string[];
  readonly missing: readonly string[];
  readonly warnings: readonly Message[];
}

/**
 * Creates and alters the tables in one transaction; writes nothing when they are as wanted. A table that isn't ours, another
 * type or another key is refused with every reason (DestinationError) before anything is changed. Needs `ensureState` first.
 */
export async function ensureTables(db: Db, dialect: Dialect, order: TableOrder): Promise<Ensured> {
  const { now } = order;
  if (dialect.reserved !== undefined) {
    const catalog = await readCatalog(db, dialect, [order.schema, order.stateSchema]);
    const reserved = reservedTables(dialect, catalog, wantedShapes(dialect, order));
    if (reserved.length > 0) await dialect.reserved.make(db, reserved);
  }
  const before = await planned(db, dialect, order);
  const views = await planViewChanges(db, dialect, order, before.catalog);
  const schemas = [order.schema, order.stateSchema, ...(order.views === undefined ? [] : [order.views.schema])];
  const shut = dialect.isServer ? await closedSchemas(db, order.grantSelectTo, schemas) : [];
  if (before.steps.length === 0 && views.isDone)
    return { done: [], missing: before.missing, warnings: [...shut, ...views.warnings] };
  const ensured = await altering(db, dialect, async trx => {
    const { steps, missing, emptied, unversioned, catalog } = await planned(trx, dialect, order);
    await executeAll(trx, inOrder(steps));
    await recordChanges(trx, steps, order);
    const shown = await (await planViewChanges(trx, dialect, order, catalog)).ensure(trx);
    // In this transaction: were it killed afterwards, nothing would tell that the high-water marks speak of rows that are gone.
    for (const stream of missing) {
      await deleteRowsWith(trx, ["stream_state", "details"], { stream });
      await trx.updateTable("streams").set({ complete_to: null }).where("stream", "=", stream).execute();
    }
    // Those that are absent have no values to lose, and those that failed are asked for again anyhow.
    for (const stream of emptied) await deleteRowsWith(trx, ["details"], { stream, outcome: "ok" });
    // A feed would otherwise wait for its next full scan.
    const feeds = emptied.length === 0 || now === undefined ? [] : await streamStatesOf(trx, emptied);
    for (const { company, stream, state } of feeds)
      await saveStreamState(trx, company, stream, { ...state, highWaterMark: null, lastFullAt: null }, now!);
    await interruptHistory(trx, [...missing, ...unversioned]);
    const done = [...steps.flatMap(step => step.sentence ?? []), ...shown.done];
    return { done, missing, warnings: [...shut, ...shown.warnings] };
  });
  await dialect.tablesMade?.(db, order);
  return ensured;
}

/** The tables before a run, and the streams that cannot be worked on until somebody has changed something, with the reason. */
export interface Checked {
  readonly catalog: Catalog;
  /** Columns whose type somebody changed, `table.column`: the run gives it back. */
  readonly altered: readonly string[];
  readonly unusable: ReadonlyMap<string, Message>;
}

/** Throws what `ensureState` and `ensureTables` would refuse (ConfigError for tables of another state), and writes nothing: for a look before anything is made. */
export async function checkTables(db: Db, dialect: Dialect, order: TableOrder): Promise<Checked> {
  const schemas = [order.schema, order.stateSchema];
  const shapes = wantedShapes(dialect, order);
  const tables = shapes.map(({ name }) => name);
  const named = [...shapes, ...Object.keys(stateTables).map(name => ({ schema: order.stateSchema, name }))];
  if (dialect.isServer) {
    await requireRoles(db, order.grantSelectTo);
    await requireOwner(db, [...schemas, analyticsSchema(order.schema)], named);
    await requireRights(db, schemas);
  }
  const catalog = await readCatalog(db, dialect, schemas);
  const isOnesOwn = catalog.tables.has(`${order.stateSchema}.warehouse`);
  const given = isOnesOwn ? await recordedColumns(db) : undefined;
  const plan = planTables(dialect, catalog, shapes, () => false, { given });
  const others = dialect.isServer
    ? [
        ...(await namesTaken(db, named)),
        ...(await foreignKeysInTheWay(db, order.schema, tables)),
        ...(await interferences(db, order, tables)),
      ]
    : [];
  accepted({ ...plan, refusals: [...plan.refusals, ...others] });
  if (!isOnesOwn && shapes.some(({ name }) => catalog.tables.has(`${order.schema}.${name}`)))
    await refuseOthersTables(db, order);
  return { catalog, ...(await compareTypes(db, dialect, order, catalog, given)) };
}

/** Compares the types of columns with those that they were given. A run that joins another one finds what that one could not restore. */
export async function compareTypes(
  db: Db,
  dialect: Dialect,
  order: TableOrder,
  catalog: Catalog,
  given?: RecordedColumns,
): Promise<Omit<Checked, "catalog">> {
  const altered = alteredColumns(catalog, wantedShapes(dialect, order), given ?? new Map());
  return {
    altered: altered.map(({ table, column }) => `${table}.${column}`),
    unusable: dialect.isServer ? await neededColumns(db, order.schema, altered) : new Map(),
  };
}

async function planned(db: Db, dialect: Dialect, order: TableOrder): Promise<Plan & { readonly catalog: Catalog }> {
  const { schema, stateSchema } = order;
  const shapes = wantedShapes(dialect, order);
  const tables = await readCatalog(db, dialect, [schema, stateSchema]);
  // DuckDB takes its time to list functions: only where there are to be some.
  const some = shapes.some(shape => shape.asOf !== undefined);
  const catalog = some ? { ...tables, functions: await readFunctions(db, dialect, schema) } : tables;
  const recorded = await recordedTables(db);
  const unfilled = await unfilledColumns(db, stateSchema);
  const given = await recordedColumns(db);
  const plan = accepted(planTables(dialect, catalog, shapes, shape => recorded.has(shape.name), { unfilled, given }));
  const steps: Step[] = [];
  if (!catalog.schemas.has(schema))
    steps.push({ sentence: `created schema ${schema}`, statements: [sql`create schema ${sql.id(schema)}`] });
  steps.push(...plan.steps, ...(dialect.isServer ? await grantSteps(db, order, shapes) : []));
  const own = shapes.filter(shape => shape.role === "main" || shape.role === "child");
  const made = new Set(own.map(shape => shape.name));
  steps.push(...(await foreignKeySteps(db, dialect, schema, order.relations ?? [], made)));
  const names = new Set([...recorded, ...own.map(shape => shape.name)]);
  const record = (onRows: readonly Fragment[]) => steps.push({ onRows });
  const { program } = order;
  if (names.size > recorded.size) record(recordTables(stateSchema, names));
  if (names.size > recorded.size && program !== undefined) record(recordMaker(stateSchema, program));
  const columns = columnsAfter(catalog, shapes, given);
  if (columns !== undefined) record(recordColumns(stateSchema, columns));
  if (plan.reshaped && program !== undefined) record(recordProgram(stateSchema, program));
  return { ...plan, steps, catalog };
}

/** Writes a row of `table_changes` for each step that changes a table. */
async function recordChanges(trx: Db, steps: readonly Step[], { program, now }: TableOrder): Promise<void> {
  if (program === undefined || now === undefined) return;
  const rows = steps.flatMap(({ sentence, table }) =>
    sentence === undefined || table === undefined
      ? []
      : [{ stream: table.stream, table_name: table.name, change: sentence, version: program, changed_at: now }],
  );
  await insertRows(trx, "table_changes", rows);
}

/** What the tables have been given once the plan is done; undefined: it is recorded. A table that is made has no other. */
function columnsAfter(catalog: Catalog, shapes: readonly Shape[], given: RecordedColumns): RecordedColumns | undefined {
  const after = new Map(given);
  let differs = false;
  for (const { schema, name, role, columns } of shapes) {
    if (role !== "main" && role !== "child") continue;
    const own = columns.flatMap(({ of, name, type }) =>
      of === undefined ? [] : [[name, canonicalType(type)] as const],
    );
    const known = given.get(name) ?? new Map<string, string>();
    const before = catalog.tables.has(`${schema}.${name}`) ? known : [];
    const columnsNow = new Map([...before, ...own]);
    after.set(name, columnsNow);
    differs ||= own.some(([column, type]) => known.get(column) !== type) || columnsNow.size !== known.size;
  }
  return differs ? after : undefined;
}

export function wantedShapes(dialect: Dialect, order: Omit<TableOrder, "grantSelectTo">): readonly Shape[] {
  return order.streams.flatMap(tables =>
    shapesOf(dialect, order, tables, order.comment, order.versioned?.has(tables.main.name)),
  );
}

/** Those of the tables that are not there. */
export const lackingShapes = (dialect: Dialect, order: TableOrder, { tables }: Catalog): readonly Shape[] =>
  wantedShapes(dialect, order).filter(({ schema, name }) => !tables.has(`${schema}.${name}`));

function accepted(plan: Plan): Plan {
  if (plan.refusals.length === 0) return plan;
  throw new DestinationError(tablesMessages.unusable({ faults: plan.refusals }));
}

/** Sets the comments of tables that are there, where they differ: of streams that are off, "not updated since …". */
export async function commentTables(
  db: Db,
  dialect: Dialect,
  schema: string,
  comments: ReadonlyMap<string, string>,
): Promise<void> {
  if (comments.size === 0) return;
  const { tables } = await readCatalog(db, dialect, [schema]);
  const differing = [...comments].filter(([name, text]) => {
    const present = tables.get(`${schema}.${name}`);
    return present !== undefined && present.comment !== text;
  });
  if (differing.length === 0) return;
  await altering(db, dialect, async trx => {
    for (const [name, text] of differing) await commentOnTable({ schema, name }, text).execute(trx);
  });
}
