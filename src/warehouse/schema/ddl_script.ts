import { DummyDriver, sql } from "kysely";
import type { Fragment } from "../database.ts";
import { type Catalog, emptyCatalog } from "../ddl/database_catalog.ts";
import { allGrants, allViewGrants } from "../ddl/grants.ts";
import { type Dialect, kyselyWith } from "../dialect.ts";
import { DATA_VERSION, stateStatements } from "../state/state_ddl.ts";
import { recordViews } from "../views/present_views.ts";
import { creation } from "../views/statements.ts";
import { tablesIn, type View } from "../views/view.ts";
import { planViews, recordOf } from "../views/view_plan.ts";
import { inOrder, planTables } from "./table_migration.ts";
import { type TableOrder, wantedShapes } from "./tables.ts";

/** SQL that makes the warehouse, or with a catalog that was read, what is still to be made of it. No connection is needed. */
export function ddlScript(dialect: Dialect, order: TableOrder, catalog: Catalog = emptyCatalog): string {
  const shapes = wantedShapes(dialect, order);
  const { steps, refusals } = planTables(dialect, catalog, shapes, () => false);
  const schema = catalog.schemas.has(order.schema) ? [] : [sql`create schema ${sql.id(order.schema)}`];
  const statements = [
    ...stateStatements(dialect, order.stateSchema, catalog),
    ...schema,
    ...inOrder(steps),
    ...allGrants(order, shapes),
    ...viewStatements(dialect, order, catalog),
  ];
  const heading = [
    `-- tributary, data version ${DATA_VERSION}, ${dialect.name}`,
    ...refusals.map(({ message }) => `-- refused: ${message}`),
  ];
  return `${heading.join("\n")}\nbegin;\n${statements.map(text => `${compiled(text)};\n`).join("")}commit;\n`;
}

/** The views of such an order that are not there yet, each after those it reads. */
export function viewsOf(dialect: Dialect, order: TableOrder, catalog: Catalog = emptyCatalog): readonly View[] {
  const { views } = order;
  if (views === undefined || !views.wanted) return [];
  const nobody = { isSchemaThere: false, names: new Map<string, boolean>(), bare: new Set<string>(), record: {} };
  return planViews(dialect, order, views, { catalog, made: tablesIn(order), present: nobody }, compiled).changed;
}

/** The views and that they are ours: a run would take them for somebody's own otherwise. */
function viewStatements(dialect: Dialect, order: TableOrder, catalog: Catalog): readonly Fragment[] {
  const { views, stateSchema, grantSelectTo } = order;
  if (views === undefined || !views.wanted) return [];
  const changed = viewsOf(dialect, order, catalog);
  const names = changed.map(({ name }) => name);
  return [
    sql`create schema if not exists ${sql.id(views.schema)}`,
    ...changed.flatMap(view => creation(dialect, views.schema, view)),
    ...recordViews(stateSchema, recordOf(changed)),
    ...allViewGrants(grantSelectTo, views.schema, names),
  ];
}

/** What needs more rights than the run's role has: the schemas and their owner. Statements for PostgreSQL, a remark where no schema is in one. */
export function dbaScript({
  database,
  role,
  schemas,
}: {
  readonly database: string;
  readonly role: string;
  readonly schemas: readonly string[];
}): string {
  if (schemas.length === 0) return "-- A file: nothing here needs an administrator; its folder must be writable.\n";
  const statements = [
    sql`grant connect, temporary on database ${sql.id(database)} to ${sql.id(role)}`,
    ...schemas.flatMap(name => [
      sql`create schema if not exists ${sql.id(name)} authorization ${sql.id(role)}`,
      sql`alter schema ${sql.id(name)} owner to ${sql.id(role)}`,
    ]),
  ];
  return statements.map(statement => `${compiled(statement)};\n`).join("");
}

/** DDL has no parameters. */
const compiled = (statement: Fragment): string => statement.compile(kyselyWith(() => new DummyDriver())).sql;
