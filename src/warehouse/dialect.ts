import { channel } from "node:diagnostics_channel";
import {
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  sql,
} from "kysely";
import type { Kind } from "../catalog/columns.ts";
import type { Multiplication } from "../catalog/model.ts";
import type { Db, Fragment, Schemas } from "./database.ts";

/** A diagnostics channel that publishes the text of every statement sent to a warehouse; the bench counts them. */
export const statements = channel("tributary.statement");

/** Kysely over a driver of ours: both databases read PostgreSQL's quoting and literals. */
export const kyselyWith = (createDriver: () => Driver): Db =>
  new Kysely({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver,
      createIntrospector: db => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });

/** `lines`: a query's one column of texts without line breaks; `csv`: with a heading, NULL is nothing and an empty text `""`; `json`: an object a line; `values`: CSV without a heading, every value in quotes, NULL is nothing. */
export type CopyFormat = "lines" | "csv" | "json" | "values";

/** What the two databases have, do, or write in different ways. SQL elsewhere asks for it here, and never which database it is. */
export interface Dialect extends CatalogQueries, Multiplication {
  /** For people and files that name the database; nothing is decided by it. */
  readonly name: "duckdb" | "postgres" | "ducklake";
  columnType(kind: Kind): string;

  /**
   * Whether it is a server: with roles and their rights, primary and foreign keys, rules and triggers, locks on tables and on words,
   * and views that keep what they read from being dropped or changed.
   */
  readonly isServer: boolean;
  /** Whether other sessions write meanwhile. A DuckDB file has one writer, and stays as it is while it is read. */
  readonly hasOtherWriters: boolean;
  /** Names of columns whose tables have to be made beforehand, and how; undefined where no name is special. */
  readonly reserved:
    | {
        readonly names: readonly string[];
        make(db: Db, tables: readonly (Named & { readonly columns: Fragment })[]): Promise<void>;
      }
    | undefined;
  /** What is to be done once tables were made, when their transaction is over; undefined: nothing. */
  readonly tablesMade: ((db: Db, place: Schemas) => Promise<void>) | undefined;
  /** Whether columns of views carry comments, and the functions beside tables of versions, by which these are known to be as they are to be. */
  readonly commentsEverything: boolean;
  /** Whether a look at a row of each table costs next to nothing; else they lie in files that may be far away. */
  readonly rowsAreNear: boolean;
  /** Whether stages are tables of the database, which need not be read from files again for each question. */
  readonly stagesAreTables: boolean;
  /** Whether a plan depends on statistics, which of temporary tables only their maker can gather. */
  readonly plansByStatistics: boolean;

  /** Whether a sort for which memory doesn't suffice always goes on in files. */
  readonly sortsBeyondMemory: boolean;
  /** One text: these, with values between them, of which none is NULL. */
  interspersed(texts: readonly string[], values: readonly Fragment[]): Fragment;
  /** A statement that writes a query's rows: to `file`, or through the connection. */
  copy(query: string, format: CopyFormat, file: string): string;
  /** A statement that makes the session find names without a schema in these. */
  searchPath(schemas: readonly string[]): Fragment;

  /** Where a row stands within its table, as a column that every table has. */
  readonly rowPlace: "ctid" | "rowid";
  /** The field names of a JSON object as a FROM item with the column `value`; no rows for other JSON. */
  fieldNames(json: Fragment): Fragment;
  /** How the value at a path of a column of JSON is read; `removed` is what its removal takes away. */
  jsonField(column: string, path: readonly string[], removed: readonly string[]): JsonField;
  /** A column as text, which is compared and sorted by its bytes. */
  byteText(column: Fragment): Fragment;
  /** A column of decimals as text with all digits, and without zeros at the end; `beside` has to be selected with its row. */
  decimalText(name: string, type: string): { readonly text: Fragment; readonly beside?: Fragment };
  /** How a finite value of this kind is written so that its text says all of it whatever the session's settings; undefined where a cast does. */
  finiteText(kind: Kind, column: Fragment): Fragment | undefined;

  /** Statements that keep other writers of tables out until the transaction ends; with `share` only those who change them. */
  lockTables(tables: readonly Fragment[], mode: "share" | "share row exclusive"): readonly Fragment[];
  /** Statements after which a transaction that begins with them sees the warehouse as of one moment. */
  readonly atOneMoment: readonly Fragment[];
  /** Statements that tell a transaction's plans that whole tables are read. */
  readonly readsWholeTables: readonly Fragment[];
  /** Whether a session that reads may make temporary tables, and what allows it to a transaction. */
  readonly mayHold: RawBuilder<{ readonly may: boolean }>;
  readonly holds: readonly Fragment[];
  /** Statements that tell a transaction's plans that of a large comparison nearly nothing comes out. */
  readonly findsLittle: readonly Fragment[];
  /** Does it within a transaction, which goes on when it fails. */
  attempt<T>(db: Db, work: () => Promise<T>): Promise<T>;
}

export interface CatalogQueries {
  /** Tables, views and columns of schemas, a line each; a schema without any is a line without a table. */
  catalogLines(schemas: Fragment): RawBuilder<CatalogLine>;
  /** Tables and views of a schema, the `made` ones with their print; an empty one is a line without a name. */
  relationLines(schema: string, made?: readonly string[]): RawBuilder<RelationLine>;
  /** A hash of everything in these schemas on which the preparation of tables and views depends; and whether the state's facts can be read. */
  catalogPrint(
    places: Schemas & {
      readonly views: string;
      /** Whether there are to be functions beside tables of versions. */
      readonly functions: boolean;
      /** Roles that may read. */
      readonly readers: readonly string[];
    },
  ): RawBuilder<{ print: string; has_state: boolean }>;
  /** Those of the tables that are there; no views. */
  tablesAmong(names: readonly Named[]): RawBuilder<Named>;
  /** The columns of tables. Not through information_schema, which takes either database ten times as long. */
  columnNames(
    schema: string,
    tables: readonly string[],
  ): RawBuilder<{ readonly table: string; readonly column: string }>;
  /** Views that read these tables or views, over other views too. */
  readersOf(db: Db, schema: string, names: readonly string[]): Promise<readonly Named[]>;
  /** What answers the rows of a table of versions as they were at a moment. */
  readonly asOf: {
    create(asOf: AsOf): readonly Fragment[];
    drop(schema: string, name: string): Fragment;
    /** `versions`: the table that it returns rows of; null where it finds that by name. */
    lines(schema: string): RawBuilder<{
      readonly name: string;
      readonly comment: string | null;
      readonly versions: string | null;
    }>;
  };
}

/** The value that a column of JSON holds at a path. */
export interface JsonField {
  /** SQL NULL when there is no such field. */
  readonly value: Fragment;
  readonly text: Fragment;
  /** One of string, number, boolean, null, other. */
  readonly type: Fragment;
  readonly without: Fragment;
  /** False for rows whose other fields would not survive the removal letter by letter. */
  readonly safe: Fragment;
  matches(form: string): Fragment;
  date(): Fragment;
  moment(): Fragment;
}

export interface Named {
  readonly schema: string;
  readonly name: string;
}

export interface CatalogLine {
  readonly schema: string;
  readonly table: string | null;
  readonly is_table: boolean;
  readonly table_comment: string | null;
  readonly is_identified: boolean;
  readonly name: string | null;
  readonly type: string;
  readonly comment: string | null;
  readonly isRequired: boolean;
  /** Place in the primary key, from 1. */
  readonly place: number | null;
}

export interface RelationLine {
  readonly name: string | null;
  readonly is_view: boolean;
  readonly is_commented: boolean;
  /** Tables and views that a view reads, `schema.name`, by their present names; null where views find them by name. */
  readonly reads: readonly string[] | null;
  /** Of what the database keeps of a view; null for tables, and for others that have a comment. */
  readonly print: string | null;
}

/** By the standard's own views. With other views left out DuckDB doesn't write out what each of them says. */
export const standardTablesAmong: CatalogQueries["tablesAmong"] = names => {
  const among = names.map(({ schema, name }) => sql`(table_schema = ${schema} and table_name = ${name})`);
  return sql`select table_schema as "schema", table_name as name from information_schema.tables
    where table_type = 'BASE TABLE' and (${sql.join(among, sql` or `)})`;
};

/** What answers the rows of a table of versions as they were at a moment: a function in PostgreSQL, a table macro in DuckDB. */
export interface AsOf extends Named {
  /** The table of versions, in the same schema. */
  readonly versions: string;
  readonly comment: string;
}

/** Which versions of a row were the row at a moment. Qualified and by position: a table may have a column that is called moment. */
export const validAt = (moment: string): string =>
  `v._valid_from <= ${moment} and (v._valid_to is null or v._valid_to > ${moment})`;
