import { sql } from "kysely";
import type { Message } from "../../message.ts";
import type { Fragment } from "../database.ts";
import type { Step } from "../ddl/alteration.ts";
import { type Catalog, canonicalType, type PresentTable } from "../ddl/database_catalog.ts";
import { NO_FINGERPRINT, type Shape, type ShapedColumn } from "../ddl/shape.ts";
import type { AsOf, Dialect } from "../dialect.ts";
import { allFilled, type Unfilled } from "../merge/unfilled.ts";
import { equal } from "../sql_fragments.ts";
import { fillStatement, leaveOutStatement } from "./fill_from_extra.ts";
import { tablesMessages } from "./messages.ts";
import type { RecordedColumns } from "./table_record.ts";

export function inOrder(steps: readonly Step[]): readonly Fragment[] {
  return [...steps.flatMap(step => step.statements ?? []), ...steps.flatMap(step => step.onRows ?? [])];
}

export interface Plan {
  readonly steps: readonly Step[];
  readonly refusals: readonly Message[];
  /** Streams that have state but lack a table: they have to be read from the start. */
  readonly missing: readonly string[];
  /** Streams of whose rows somebody dropped or renamed columns. */
  readonly emptied: readonly string[];
  /** Streams of which a table of versions is made. */
  readonly unversioned: readonly string[];
  /** Tables that were there get columns or child tables that no program before this one knows. */
  readonly reshaped: boolean;
}

interface Found {
  readonly unfilled?: Unfilled;
  readonly given?: RecordedColumns | undefined;
}

/** Compares what is there with what is wanted. `known` tells the tables that were made once. */
export function planTables(
  dialect: Dialect,
  catalog: Catalog,
  shapes: readonly Shape[],
  known: (shape: Shape) => boolean,
  { unfilled = allFilled, given = new Map() }: Found = {},
): Plan {
  const steps: Step[] = [];
  const refusals: Message[] = [];
  const missing = new Set<string>();
  const unversioned = new Set<string>();
  const emptied = new Set<string>();
  let reshaped = false;
  for (const shape of shapes) {
    const own: Step[] = [];
    const present = catalog.tables.get(`${shape.schema}.${shape.name}`);
    reshaped ||= isReshaped(catalog, shape, present);
    if (present === undefined) {
      own.push({
        sentence: shape.role === "row_state" ? undefined : `created table ${shape.name}`,
        statements: [createTable(dialect, shape)],
      });
      if (shape.role === "versions") unversioned.add(shape.stream);
      else if (shape.role !== "row_state" && known(shape)) missing.add(shape.stream);
    } else {
      const altered = alteredIn(shape, present, given);
      const objections = objectionsTo(dialect, shape, present, mainOf(catalog, shapes, shape), altered);
      refusals.push(...objections);
      const lost = objections.length > 0 ? [] : lostColumns(shape, present, given.get(shape.name), altered);
      if (objections.length === 0) {
        own.push(...newColumns(dialect, shape, present), ...lateValues(dialect, shape, present, unfilled));
        own.push(...altered.map(column => retyped(dialect, shape, column)));
      }
      if (lost.length > 0) {
        emptied.add(shape.stream);
        own.push(rowsAnew(shapes, shape, lost));
      }
    }
    own.push(...comments(shape, present));
    if (shape.asOf !== undefined) own.push(...functions(dialect, catalog, shape.asOf));
    const { stream, name } = shape;
    steps.push(...own.map(step => ({ ...step, table: { stream, name } })));
  }
  steps.push(...rowStateRepairs(catalog, shapes), ...forgetFilled(shapes, unfilled));
  return {
    ...{ steps, refusals, missing: [...missing], emptied: [...emptied], unversioned: [...unversioned] },
    reshaped,
  };
}

function isReshaped(catalog: Catalog, { role, schema, stream, columns }: Shape, present: PresentTable | undefined) {
  if (present === undefined) return role === "child" && catalog.tables.has(`${schema}.${stream}`);
  // What the service sends and nobody documented has its columns for every version.
  const isLacking = ({ name, of }: ShapedColumn) => of !== undefined && of.added !== true && !present.columns.has(name);
  return (role === "main" || role === "child") && columns.some(isLacking);
}

export const tableOf = (shape: { schema: string; name: string }): Fragment => sql.id(shape.schema, shape.name);

/** Tables that are not there, with columns whose names the dialect reserves. */
export function reservedTables({ reserved }: Dialect, { tables }: Catalog, shapes: readonly Shape[]) {
  const isReserved = ({ name }: ShapedColumn) => reserved?.names.includes(name) === true;
  return shapes
    .filter(({ schema, name, columns }) => !tables.has(`${schema}.${name}`) && columns.some(isReserved))
    .map(({ schema, name, columns }) => ({ schema, name, columns: sql.join(columns.map(definition), sql`, `) }));
}

function createTable(dialect: Dialect, shape: Shape): Fragment {
  const parts = shape.columns.map(definition);
  if (dialect.isServer) parts.push(sql`primary key (${sql.join(shape.primaryKey.map(name => sql.id(name)))})`);
  return sql`create table ${tableOf(shape)} (${sql.join(parts, sql`, `)})`;
}

const definition = (column: ShapedColumn): Fragment => sql`${sql.id(column.name)} ${sql.raw(column.type)}`;

/** Why a table that is there cannot be used: every reason, so that one look at it is enough. */
function objectionsTo(
  dialect: Dialect,
  shape: Shape,
  present: PresentTable,
  main: PresentTable | undefined,
  altered: readonly ShapedColumn[],
): Message[] {
  const table = `${shape.schema}.${shape.name}`;
  const { stream, primaryKey } = shape;
  if (!present.isTable) return [tablesMessages.not_a_table({ table })];
  const isOurs = (name: string) => name === "_company" || !primaryKey.includes(name);
  const lacking = shape.columns.filter(
    ({ of, name }) => of === undefined && isOurs(name) && !present.columns.has(name),
  );
  if (lacking.length > 0) return [tablesMessages.not_ours({ table, lacking: lacking.map(column => column.name) })];
  const found: Message[] = [];
  const keyMissing = primaryKey.filter(column => !present.columns.has(column));
  const key = keyOf(dialect, shape, present, main);
  if (keyMissing.length > 0) found.push(tablesMessages.key_incomplete({ table, lacking: keyMissing, stream }));
  else if (key.join() !== primaryKey.join())
    found.push(tablesMessages.other_key({ table, key, wanted: primaryKey, stream }));
  for (const column of shape.columns) {
    const type = present.columns.get(column.name)?.type;
    const wanted = canonicalType(column.type);
    if (type !== undefined && type !== wanted && !altered.includes(column))
      found.push(tablesMessages.other_type({ column: `${table}.${column.name}`, type, wanted, stream }));
  }
  for (const column of present.columns.values()) {
    if (column.isRequired && !shape.columns.some(own => own.name === column.name))
      found.push(tablesMessages.required_column({ column: `${table}.${column.name}` }));
  }
  return found;
}

function mainOf({ tables }: Catalog, shapes: readonly Shape[], { stream }: Shape): PresentTable | undefined {
  const main = shapes.find(shape => shape.role === "main" && shape.stream === stream);
  return main && tables.get(`${main.schema}.${main.name}`);
}

/** The key that a table was made with. A file's tables have none, but the row state holds nothing else beside its own columns. */
function keyOf(
  dialect: Dialect,
  { role, columns, primaryKey }: Shape,
  present: PresentTable,
  main: PresentTable | undefined,
): readonly string[] {
  if (dialect.isServer) return present.primaryKey;
  if (role !== "row_state") return primaryKey;
  const own = new Set(columns.map(({ name }) => name).filter(name => !primaryKey.includes(name)));
  // A column that is not of the rows is somebody's own.
  const there = [...present.columns.keys()].filter(name => !own.has(name) && main?.columns.has(name) !== false);
  return [...primaryKey.filter(name => there.includes(name)), ...there.filter(name => !primaryKey.includes(name))];
}

function newColumns(dialect: Dialect, shape: Shape, present: PresentTable): Step[] {
  return shape.columns
    .filter(column => !present.columns.has(column.name))
    .map(column => {
      const fill = column.of === undefined ? undefined : fillStatement(dialect, tableOf(shape), column.of);
      const add = sql`alter table ${tableOf(shape)} add column ${definition(column)}`;
      const rows = fill === undefined ? [] : [fill, ...presentAgain(shape, column)];
      return {
        sentence: `added column ${shape.name}.${column.name}${fill === undefined ? "" : ", filled from _extra where it held the field"}`,
        statements: [add],
        onRows: rows,
      };
    });
}

/** The columns that were made with the type they are to have, and have another one now. */
function alteredIn(shape: Shape, present: PresentTable | undefined, given: RecordedColumns): readonly ShapedColumn[] {
  const types = given.get(ownName(shape));
  return shape.columns.filter(({ name, type, of }) => {
    const wanted = canonicalType(type);
    const now = present?.columns.get(name)?.type;
    const isKey = shape.primaryKey.includes(name);
    return of !== undefined && !isKey && now !== undefined && now !== wanted && types?.get(name) === wanted;
  });
}

export const alteredColumns = ({ tables }: Catalog, shapes: readonly Shape[], given: RecordedColumns) =>
  shapes.flatMap(shape =>
    alteredIn(shape, tables.get(`${shape.schema}.${shape.name}`), given).map(({ name }) => ({
      ...{ stream: shape.stream, table: shape.name, column: name },
    })),
  );

/** Gives the type back, without the values: nothing tells what the other type has done to them. */
function retyped(dialect: Dialect, shape: Shape, column: ShapedColumn): Step {
  const table = sql`alter table ${tableOf(shape)}`;
  const own = sql.id(column.name);
  const type = sql.raw(column.type);
  const statements = dialect.isServer
    ? [sql`${table} alter column ${own} type ${type} using null`]
    : [sql`${table} drop column ${own}`, sql`${table} add column ${definition(column)}`];
  return { statements, onRows: presentAgain(shape, column) };
}

/** Columns that the table once had, as they were: those that are lacking, and those of another type. */
function lostColumns(
  shape: Shape,
  present: PresentTable,
  given: ReadonlyMap<string, string> = new Map(),
  altered: readonly ShapedColumn[],
): readonly string[] {
  // A version that ended has lost them for good; the present ones are filled from the rows.
  if (shape.role !== "main" && shape.role !== "child") return [];
  return shape.columns.flatMap(column => {
    const { name, of } = column;
    const isLacking = of !== undefined && !present.columns.has(name) && given.has(name);
    return isLacking || altered.includes(column) ? [name] : [];
  });
}

/** The values went with the columns, which no hash of a row tells. */
function rowsAnew(shapes: readonly Shape[], { name, stream }: Shape, lost: readonly string[]): Step {
  const rowState = shapes.find(shape => shape.role === "row_state" && shape.stream === stream)!;
  return {
    sentence: `somebody had dropped, renamed or retyped ${name}.${lost.join(", ")}: its values come again with the next full scan, those of details as they are fetched again`,
    onRows: [forgetPrints(rowState)],
  };
}

/**
 * Fills columns once more into which a run that did not know them has written no values. Nobody publishes meanwhile: rows
 * that came after the fill would be forgotten with those before it.
 */
function lateValues(dialect: Dialect, shape: Shape, present: PresentTable, unfilled: Unfilled): Step[] {
  const late = shape.columns.flatMap(({ name, of }) =>
    of !== undefined && present.columns.has(name) && unfilled.has(ownName(shape), name) ? [{ name, of }] : [],
  );
  if (late.length === 0) return [];
  const table = tableOf(shape);
  const onRows = late.flatMap(({ name, of }) => {
    // In SQL nothing can be hashed or masked as the others are: such a value is left out until it is read again.
    const fill = of.treatment === undefined ? fillStatement(dialect, table, of) : leaveOutStatement(dialect, table, of);
    return fill === undefined ? [] : [fill, ...presentAgain(shape, { name })];
  });
  const names = late.map(({ name }) => name).join(", ");
  return [
    {
      sentence: `filled ${shape.name}.${names} from _extra: rows were written by a run that did not know of it`,
      statements: dialect.lockTables([table], "share row exclusive"),
      onRows,
    },
  ];
}

const ownName = ({ name, versionsOf }: Shape): string => versionsOf?.name ?? name;

/** Columns that are no longer to be filled, for every run writes them now. */
function forgetFilled(shapes: readonly Shape[], unfilled: Unfilled): Step[] {
  const own = shapes.filter(({ role }) => role === "main" || role === "child");
  const namesOf = (shape: Shape) => shape.columns.map(({ name }) => name);
  const onRows = own.flatMap(shape => unfilled.forget(shape.name, namesOf(shape)));
  return onRows.length === 0 ? [] : [{ onRows }];
}

/** What a present version's `_extra` held when it began may be older than the row's: such a version says what the row says. */
function presentAgain(shape: Shape, column: Pick<ShapedColumn, "name">): Fragment[] {
  if (shape.versionsOf === undefined) return [];
  const key = shape.primaryKey.filter(name => name !== "_valid_from");
  const own = sql.id(column.name);
  return [
    sql`update ${tableOf(shape)} v set ${own} = t.${own}, _extra = t._extra from ${tableOf(shape.versionsOf)} t
      where ${equal("t", "v", key)} and v._valid_to is null and t._deleted_at is null
        and v.${own} is distinct from t.${own}`,
  ];
}

function functions(dialect: Dialect, { functions: there }: Catalog, asOf: AsOf): Step[] {
  const { schema, name, versions, comment } = asOf;
  const present = there.get(`${schema}.${name}`);
  // Its table of versions was renamed, and another one has its name now.
  const isMoved = ![undefined, null, `${schema}.${versions}`].includes(present?.versions);
  const isCommented = !dialect.commentsEverything || present?.comment === comment;
  if (present !== undefined && !isMoved && isCommented) return [];
  return [{ statements: [...(isMoved ? [dialect.asOf.drop(schema, name)] : []), ...dialect.asOf.create(asOf)] }];
}

function comments(shape: Shape, present: PresentTable | undefined): Step[] {
  const statements: Fragment[] = [];
  if (shape.comment !== undefined && shape.comment !== present?.comment)
    statements.push(commentOnTable(shape, shape.comment));
  for (const column of shape.columns) {
    if (column.comment !== undefined && column.comment !== present?.columns.get(column.name)?.comment)
      statements.push(
        sql`comment on column ${sql.id(shape.schema, shape.name, column.name)} is ${sql.lit(column.comment)}`,
      );
  }
  return statements.length === 0 ? [] : [{ statements }];
}

export const commentOnTable = (table: { schema: string; name: string }, text: string): Fragment =>
  sql`comment on table ${tableOf(table)} is ${sql.lit(text)}`;

/** The row state must never know more rows than the table holds, nor fewer. */
function rowStateRepairs(catalog: Catalog, shapes: readonly Shape[]): Step[] {
  const isPresent = (shape: Shape) => catalog.tables.has(`${shape.schema}.${shape.name}`);
  return shapes
    .filter(shape => shape.role === "row_state")
    .flatMap((rowState): Step | readonly Step[] => {
      const main = shapes.find(shape => shape.role === "main" && shape.stream === rowState.stream)!;
      const children = shapes.filter(shape => shape.role === "child" && shape.stream === rowState.stream);
      if (isPresent(rowState) && !isPresent(main)) return { onRows: [sql`delete from ${tableOf(rowState)}`] };
      if (!isPresent(rowState) && isPresent(main)) {
        const key = sql.join(main.primaryKey.map(name => sql.id(name)));
        const rows = sql`insert into ${tableOf(rowState)} (${key}, hash, vhash, stamp, first_seen_at, deleted_at)
          select ${key}, 0, 0, ${sql.lit(NO_FINGERPRINT)}, _first_seen_at, _deleted_at from ${tableOf(main)}`;
        return { sentence: `rebuilt the row state of ${main.name}`, onRows: [rows] };
      }
      const added = children.filter(child => !isPresent(child));
      if (!isPresent(main) || added.length === 0) return [];
      return {
        sentence: `the next full scan of ${main.name} fills ${added.map(child => child.name).join(", ")}`,
        onRows: [forgetPrints(rowState)],
      };
    });
}

/** The next full scan compares every column with the service's. */
const forgetPrints = (rowState: Shape): Fragment =>
  sql`update ${tableOf(rowState)} set stamp = ${sql.lit(NO_FINGERPRINT)}`;
