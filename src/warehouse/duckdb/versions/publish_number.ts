import type { DuckDBConnection } from "@duckdb/node-api";
import { quotedName } from "../../database.ts";
import { analyticsSchema, storedName } from "../../views/view.ts";
import type { Observer } from "../session/driver.ts";
import { quoted, select } from "../session/session.ts";

const KEY = "publish";

/**
 * Counts, in the warehouse's own table, the transactions that changed something in the data schema or its views. A published version
 * carries the number of its moment, so a version with a lower one tells that a publish is pending (a crash came between).
 */
export class PublishNumber implements Observer {
  readonly #stateSchema: string;
  readonly #writes: RegExp;
  #touched = false;
  /** The table has been seen, and not in a transaction that was taken back: looking costs more than counting. */
  #isThere = false;

  constructor(schema: string, stateSchema: string) {
    this.#stateSchema = stateSchema;
    const written = (name: string) => [RegExp.escape(quotedName(name)), RegExp.escape(name)];
    const names = [schema, analyticsSchema(schema)].flatMap(name => written(name).map(way => `${way}\\s*\\.`));
    // Models that are kept as tables are shown by views of the data.
    names.push(`${written(stateSchema)[0]}\\."${storedName("")}`);
    // "if not exists" is asked at the start of every run and mostly changes nothing.
    this.#writes = new RegExp(
      `\\b(?:insert\\s+into|update|delete\\s+from|merge\\s+into|(?:create|alter|drop)\\s+(?:or\\s+replace\\s+)?(?:table|view)(?:\\s+if\\s+exists)?)\\s+(?:${names.join("|")})`,
      "i",
    );
  }

  statement(sql: string, changed: number | undefined): void {
    if (changed !== 0 && this.#writes.test(sql)) this.#touched = true;
  }

  rolledBack(): void {
    this.#touched = false;
    this.#isThere = false;
  }

  async beforeCommit(connection: DuckDBConnection): Promise<void> {
    if (!this.#touched) return;
    this.#touched = false;
    this.#isThere ||= await this.#looksThere(connection);
    if (!this.#isThere) return;
    const table = `${quotedName(this.#stateSchema)}.warehouse`;
    const next = await connection.run(
      `update ${table} set value = json_object('number', (value->>'number')::bigint + 1) where key = ${quoted(KEY)}`,
    );
    if (next.rowsChanged === 0)
      await connection.run(`insert into ${table} (key, value) values (${quoted(KEY)}, json_object('number', 1))`);
  }

  async #looksThere(connection: DuckDBConnection): Promise<boolean> {
    const [found] = await select(
      connection,
      "select 1 from duckdb_tables() where database_name = current_database() and schema_name = $1 and table_name = 'warehouse'",
      [this.#stateSchema],
    );
    return found !== undefined;
  }

  async own(connection: DuckDBConnection): Promise<string> {
    const table = `${quotedName(this.#stateSchema)}.warehouse`;
    const [row] = await select(connection, `select value->>'number' from ${table} where key = ${quoted(KEY)}`);
    return String(row?.[0] ?? "0");
  }
}
