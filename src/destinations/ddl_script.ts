import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  sql,
} from "kysely";
import { type Catalog, emptyCatalog } from "./catalog.ts";
import type { Dialect } from "./destination.ts";
import { allGrants } from "./grants.ts";
import { inOrder, planTables } from "./plan.ts";
import { DATA_VERSION, stateStatements } from "./state_ddl.ts";
import type { StateTables } from "./state_tables.ts";
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
    ...(dialect.name === "postgres" ? allGrants(order, shapes) : []),
  ];
  const heading = [
    `-- tributary, data version ${DATA_VERSION}, ${dialect.name}`,
    ...refusals.map(text => `-- refused: ${text}`),
  ];
  return `${heading.join("\n")}\nbegin;\n${statements.map(text => `${compiled(text)};\n`).join("")}commit;\n`;
}

/** What needs more rights than the run's role has: the two schemas and their owner. Statements for PostgreSQL, a remark for DuckDB. */
export function dbaScript(
  dialect: Dialect,
  place: Pick<TableOrder, "schema" | "stateSchema"> & { readonly database: string; readonly role: string },
): string {
  if (dialect.name !== "postgres")
    return "-- DuckDB: nothing here needs an administrator; the folder must be writable.\n";
  const { database, role, schema, stateSchema } = place;
  const statements = [
    sql`grant connect, temporary on database ${sql.id(database)} to ${sql.id(role)}`,
    ...[schema, stateSchema].flatMap(name => [
      sql`create schema if not exists ${sql.id(name)} authorization ${sql.id(role)}`,
      sql`alter schema ${sql.id(name)} owner to ${sql.id(role)}`,
    ]),
  ];
  return statements.map(statement => `${compiled(statement)};\n`).join("");
}

function compiled(statement: RawBuilder<unknown>): string {
  return statement.compile(compiler()).sql;
}

/** Both databases read the same quoting and literals, and DDL has no parameters. */
function compiler(): Kysely<StateTables> {
  return new Kysely<StateTables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: db => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
}
