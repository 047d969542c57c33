import { createHash } from "node:crypto";
import { sql } from "kysely";
import pg from "pg";
import type { Table, TableSet } from "../../catalog/columns.ts";
import { DestinationError } from "../../errors.ts";
import type { Batch, EncodedTable } from "../../rows/batch.ts";
import type { Fragment } from "../database.ts";
import { isLockFailure } from "../ddl/alteration.ts";
import type { Stage, StageRecord } from "../destination.ts";
import { type StagedColumn, stagedColumns } from "../staged_columns.ts";
import { postgresDialect } from "./dialect.ts";
import { postgresMessages } from "./messages.ts";
import type { Session } from "./session.ts";

/** One table of a stage: its quoted name with the schema, and its columns in the CSV's order. */
interface StageTable {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
}

type StageTables = ReturnType<typeof stageTables>;

/** PostgreSQL's types of JSON: one keeps the text as it came, for another database; the other is that of our own tables. */
type JsonType = "json" | "jsonb";

export function stageTables(company: string, tables: TableSet, json: JsonType = "jsonb") {
  const typed = ({ name, kind }: StagedColumn) => ({
    name,
    type: kind === "json" ? json : postgresDialect.columnType(kind),
  });
  const digest = createHash("sha256").update(`${company}\u0000${tables.main.name}`).digest("hex").slice(0, 12);
  const named = (suffix: string, columns: readonly StagedColumn[]): StageTable => ({
    name: `stage_${digest}_${suffix}`,
    columns: columns.map(typed),
  });
  const { keys, main, children, outcomes } = stagedColumns(tables);
  return {
    keys: named("k", keys),
    main: named("r", main),
    children: children.map((child, index) => named(`c${index}`, child)),
    outcomes: named("o", outcomes),
  };
}

function allTables({ keys, main, children, outcomes }: StageTables): readonly StageTable[] {
  return [keys, main, ...children, outcomes];
}

function stageLayout(tables: StageTables): string {
  return allTables(tables)
    .map(table => `${table.name} (${table.columns.map(column => `${column.name} ${column.type}`).join(", ")})`)
    .join("; ");
}

/** Opens the stage of one company's stream, with what an earlier run left in it. */
export async function openStage(
  session: Session,
  stateSchema: string,
  company: string,
  tables: TableSet,
  json?: JsonType,
): Promise<Stage> {
  const stage = new PostgresStage(session, stateSchema, company, tables, json);
  await stage.load();
  return stage;
}

/**
 * Rows and the scan's checkpoint (`record`) in UNLOGGED tables: a crash of the server empties both, a commit keeps both. The
 * record's row carries the tables' layout; one of another layout belongs to rows that no longer fit, and is dropped: it would be
 * gone on with once the layout is the former again, and bring older rows back.
 */
class PostgresStage implements Stage {
  record: StageRecord | undefined;
  staged = 0;
  readonly #session: Session;
  readonly #schema: string;
  readonly #company: string;
  readonly #set: TableSet;
  readonly #tables: ReturnType<typeof stageTables>;
  /** Temporary tables with the rows that `only` wants, by the table they are rows of. */
  #picked: ReadonlyMap<string, string> = new Map();

  constructor(session: Session, schema: string, company: string, tables: TableSet, json: JsonType | undefined) {
    this.#session = session;
    this.#schema = schema;
    this.#company = company;
    this.#set = tables;
    this.#tables = stageTables(company, tables, json);
  }

  async load(): Promise<void> {
    const row = await this.#session.turn(() => this.#stored());
    if (row?.["fits"] === true) {
      this.record = (row["record"] ?? undefined) as StageRecord | undefined;
      this.staged = row["staged"] as number;
    } else if (row?.["record"] != null) await this.drop();
  }

  /** The record's row; it `fits` where it speaks of tables that are all there and of the wanted layout. */
  async #stored(): Promise<Record<string, unknown> | undefined> {
    const names = allTables(this.#tables).map(table => table.name);
    const { rows } = await this.#session.query(
      `select record, staged, layout = $3 and (select count(*) from pg_class
            join pg_namespace on pg_namespace.oid = relnamespace where nspname = $4 and relname = any($5::text[])) = $6 as fits
          from ${this.#records} where company = $1 and stream = $2`,
      [...this.#id, stageLayout(this.#tables), this.#schema, names, names.length],
    );
    return rows[0];
  }

  async begin(record: StageRecord): Promise<void> {
    const all = allTables(this.#tables);
    await this.#session.transaction(async () => {
      await this.#unpick();
      if ((await this.#stored())?.["fits"] === true) {
        const names = all.map(table => this.#quoted(table));
        if (await this.#areFree(names)) await this.#session.query(`truncate ${names.join(", ")}`);
        else await this.#empty(names);
      } else {
        const names = await this.#present();
        if (names.length > 0) await this.#session.query(`drop table ${names.join(", ")}`);
        for (const table of all) await this.#session.query(this.#definition(table));
      }
      await this.#session.query(`delete from ${this.#records} where company = $1 and stream = $2`, this.#id);
      await this.#session.query(
        `insert into ${this.#records} (company, stream, layout, record, staged) values ($1, $2, $3, $4, 0)`,
        [...this.#id, stageLayout(this.#tables), JSON.stringify(record)],
      );
    });
    this.record = record;
    this.staged = 0;
  }

  async append(batch: Batch, record: StageRecord): Promise<void> {
    const { keys, main, children, outcomes } = this.#tables;
    await this.#session.transaction(async () => {
      await this.#unpick();
      await this.#copy(keys, batch.keys);
      await this.#copy(main, batch.main);
      for (const [index, child] of children.entries()) await this.#copy(child, batch.children[index]!);
      await this.#copy(outcomes, batch.outcomes);
      const { rowCount } = await this.#session.query(
        `update ${this.#records} set record = $3, staged = staged + $4 where company = $1 and stream = $2`,
        [...this.#id, JSON.stringify(record), batch.main.rows],
      );
      if (rowCount !== 1)
        throw new DestinationError(
          postgresMessages.stage_lost({
            table: this.#set.main.name,
            company: this.#company,
            state_schema: this.#schema,
          }),
        );
    });
    this.record = record;
    this.staged += batch.main.rows;
  }

  async #copy(table: StageTable, encoded: EncodedTable): Promise<void> {
    if (encoded.rows === 0) return;
    const columns = table.columns.map(column => pg.escapeIdentifier(column.name)).join(", ");
    await this.#session.copy(
      `copy ${this.#quoted(table)} (${columns}) from stdin (format csv, null '')`,
      encoded.bytes,
    );
  }

  keys(): Fragment {
    return sql.id(this.#schema, this.#tables.keys.name);
  }

  rows(table: Table): Fragment {
    const index = this.#set.children.findIndex(child => child.name === table.name);
    const staged = table.name === this.#set.main.name ? this.#tables.main : this.#tables.children[index];
    if (staged === undefined) throw new TypeError(`${table.name} is not a table of ${this.#set.main.name}`);
    const picked = this.#picked.get(staged.name);
    return picked === undefined ? sql.id(this.#schema, staged.name) : sql.id("pg_temp", picked);
  }

  /**
   * A publish joins with temporary tables, and writes: neither may PostgreSQL do with its workers. What it needs of a long
   * stage is looked for before, by all of them, in half the time.
   */
  async only(sequences: readonly number[]): Promise<void> {
    const { main, children } = this.#tables;
    const picked = new Map([main, ...children].map(table => [table.name, `${table.name}_picked`]));
    const wanted = `_seq = any('{${sequences.join(",")}}'::bigint[])`;
    await this.#session.transaction(async () => {
      await this.#unpick(picked);
      await this.#session.query("set local parallel_tuple_cost = 0");
      for (const table of [main, ...children])
        await this.#session.query(
          `create temporary table ${pg.escapeIdentifier(picked.get(table.name)!)} as
            select * from ${this.#quoted(table)} where ${wanted}`,
        );
    });
    this.#picked = picked;
  }

  /** Drops what was picked. Within a transaction; should that fail, `rows` means all of them nevertheless. */
  async #unpick(picked = this.#picked): Promise<void> {
    this.#picked = new Map();
    if (picked.size === 0) return;
    const names = [...picked.values()].map(name => `pg_temp.${pg.escapeIdentifier(name)}`);
    await this.#session.query(`drop table if exists ${names.join(", ")}`);
  }

  outcomes(): Fragment {
    return sql.id(this.#schema, this.#tables.outcomes.name);
  }

  async drop(): Promise<void> {
    await this.#session.transaction(async () => {
      await this.#unpick();
      const names = await this.#present();
      const areFree = await this.#areFree(names);
      if (!areFree) await this.#empty(names);
      else if (names.length > 0) await this.#session.query(`drop table ${names.join(", ")}`);
      const change = areFree
        ? `delete from ${this.#records}`
        : `update ${this.#records} set record = 'null', staged = 0`;
      await this.#session.query(`${change} where company = $1 and stream = $2`, this.#id);
    });
    this.record = undefined;
    this.staged = 0;
  }

  /**
   * Takes the tables for the rest of the transaction, unless somebody reads them: a dump of the database does until it is
   * done, and a run would wait for all of it.
   */
  async #areFree(names: readonly string[]): Promise<boolean> {
    if (names.length === 0) return true;
    try {
      await this.#session.query(`savepoint free; lock table ${names.join(", ")} in access exclusive mode nowait`);
      return true;
    } catch (error) {
      if (!isLockFailure(error)) throw error;
      await this.#session.query("rollback to savepoint free");
      return false;
    }
  }

  /** Beside who reads the tables. */
  async #empty(names: readonly string[]): Promise<void> {
    for (const name of names) await this.#session.query(`delete from ${name}`);
  }

  /** By prefix, not by name: an earlier version may have had more child tables. */
  async #present(): Promise<readonly string[]> {
    const { rows } = await this.#session.query(
      `select relname from pg_class join pg_namespace on pg_namespace.oid = relnamespace
        where nspname = $1 and relkind = 'r' and starts_with(relname, $2)`,
      [this.#schema, this.#tables.keys.name.slice(0, -1)],
    );
    return rows.map(row => `${pg.escapeIdentifier(this.#schema)}.${pg.escapeIdentifier(String(row["relname"]))}`);
  }

  #definition(table: StageTable): string {
    const columns = table.columns.map(column => `${pg.escapeIdentifier(column.name)} ${column.type}`).join(", ");
    return `create unlogged table ${this.#quoted(table)} (${columns}) with (autovacuum_enabled = off)`;
  }

  #quoted(table: StageTable): string {
    return `${pg.escapeIdentifier(this.#schema)}.${pg.escapeIdentifier(table.name)}`;
  }

  get #records(): string {
    return `${pg.escapeIdentifier(this.#schema)}.stages`;
  }

  get #id(): readonly [string, string] {
    return [this.#company, this.#set.main.name];
  }
}
