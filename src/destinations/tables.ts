import { type Kysely, sql } from "kysely";
import type { Table, TableSet } from "../columns.ts";
import { DestinationError } from "../errors.ts";
import { altering } from "./alteration.ts";
import { type Catalog, readCatalog } from "./catalog.ts";
import type { Dialect } from "./destination.ts";
import { grantSteps } from "./grants.ts";
import { commentOnTable, inOrder, type Plan, planTables, type Step } from "./plan.ts";
import { type Shape, shapesOf } from "./shape.ts";
import type { StateTables } from "./state_tables.ts";

/** The tables a warehouse is to have. */
export interface TableOrder {
  readonly schema: string;
  readonly stateSchema: string;
  readonly streams: readonly TableSet[];
  /** The whole text of a table's comment: what it is, endpoint, mode, absence. */
  readonly comment: (table: Table) => string;
  /** Roles that may read; PostgreSQL only. */
  readonly grantSelectTo: readonly string[];
}

/** What was done, as sentences, and the streams whose tables were lost: their marks and details have to be forgotten. */
export interface Ensured {
  readonly done: readonly string[];
  readonly missing: readonly string[];
}

/**
 * Creates and alters the tables in one transaction; writes nothing when they are as wanted. A table that isn't ours, another
 * type or another key is refused with every reason (DestinationError) before anything is changed. Needs `ensureState` first.
 */
export async function ensureTables(db: Kysely<StateTables>, dialect: Dialect, order: TableOrder): Promise<Ensured> {
  const before = await planned(db, dialect, order);
  if (before.steps.length === 0) return { done: [], missing: before.missing };
  return altering(db, dialect, async trx => {
    const { steps, missing } = await planned(trx, dialect, order);
    for (const statement of inOrder(steps)) await statement.execute(trx);
    return { done: steps.flatMap(step => step.sentence ?? []), missing };
  });
}

/** Throws what `ensureTables` would refuse, and writes nothing: for a look before the state schema is made. */
export async function checkTables(db: Kysely<StateTables>, dialect: Dialect, order: TableOrder): Promise<void> {
  const catalog = await readCatalog(db, dialect, [order.schema, order.stateSchema]);
  accepted(planTables(dialect, catalog, wantedShapes(dialect, order), () => false));
}

async function planned(db: Kysely<StateTables>, dialect: Dialect, order: TableOrder): Promise<Plan> {
  const catalog = await readCatalog(db, dialect, [order.schema, order.stateSchema]);
  const shapes = wantedShapes(dialect, order);
  const plan = accepted(planTables(dialect, catalog, shapes, await knownTables(db, order.stateSchema, catalog)));
  const created: Step[] = catalog.schemas.has(order.schema)
    ? []
    : [{ sentence: `created schema ${order.schema}`, statements: [sql`create schema ${sql.id(order.schema)}`] }];
  const grants = await grantSteps(db, dialect, order, shapes);
  return { ...plan, steps: [...created, ...plan.steps, ...grants] };
}

export function wantedShapes(dialect: Dialect, order: Omit<TableOrder, "grantSelectTo">): readonly Shape[] {
  return order.streams.flatMap(tables => shapesOf(dialect, order, tables, order.comment));
}

function accepted(plan: Plan): Plan {
  if (plan.refusals.length === 0) return plan;
  throw new DestinationError(
    `The warehouse's tables cannot be used as they are; nothing was changed. ${plan.refusals.join(" ")}`,
  );
}

/** A table counts as lost when the state speaks of it; one that no run has ever known is simply new. */
async function knownTables(
  db: Kysely<StateTables>,
  stateSchema: string,
  catalog: Catalog,
): Promise<(shape: Shape) => boolean> {
  const known = new Set<string>();
  if (catalog.tables.has(`${stateSchema}.streams`)) {
    const { rows } = await sql<{ name: string }>`
      select table_name as name from ${sql.id(stateSchema, "streams")}`.execute(db);
    for (const { name } of rows) known.add(name);
  }
  if (catalog.tables.has(`${stateSchema}.stream_state`)) {
    const { rows } = await sql<{ name: string }>`
      select distinct stream as name from ${sql.id(stateSchema, "stream_state")}`.execute(db);
    for (const { name } of rows) known.add(name);
  }
  return shape => known.has(shape.name);
}

/** Sets the comments of tables that are there, where they differ: of streams that are off, "not updated since …". */
export async function commentTables(
  db: Kysely<StateTables>,
  dialect: Dialect,
  schema: string,
  comments: ReadonlyMap<string, string>,
): Promise<void> {
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
