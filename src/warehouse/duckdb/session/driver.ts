import type { DuckDBConnection, DuckDBMaterializedResult } from "@duckdb/node-api";
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from "kysely";
import type { Mutex } from "../../../mutex.ts";
import type { Db } from "../../database.ts";
import { kyselyWith, statements } from "../../dialect.ts";
import { attempting as attemptingTo, isOutOfMemory } from "./failure.ts";
import { inlined, withoutStatement } from "./inlining.ts";
import { bindings, rowObjects } from "./values.ts";

/** What happened in the session, told to those who keep count. Both run before the statement's effect is committed where it is in a transaction. */
export interface Observer {
  /** Before a transaction, and before a single statement that may write, which is made one then. What throws here leaves nothing open. */
  begin?(): Promise<void>;
  /** After a statement; `changed` is the number of rows it changed, undefined when DuckDB does not say. */
  statement(sql: string, changed: number | undefined): void;
  /** Before a commit, and after each statement outside a transaction. */
  beforeCommit(connection: DuckDBConnection): Promise<void>;
  rolledBack(): void;
  /** After what `begin` began, however it ended. */
  end?(): Promise<void>;
}

// No statement here that begins with `with` writes.
const READING = /^\s*(select|from|with|values|describe|show|explain|set)\b/i;

export interface Use {
  readonly observer?: Observer;
  /** A statement that runs out of memory is repeated under that limit, which then stays: only for sessions that read. */
  readonly roomMb?: number | undefined;
  /** What failed, made of what DuckDB says; by default a failure of its file. */
  readonly failure?: (doing: string, error: unknown) => unknown;
}

/** Kysely over one connection, which a transaction or a single statement has to itself. */
export function kyselyOver(connect: () => Promise<DuckDBConnection>, turns: Mutex, use: Use = {}): Db {
  const driver: Driver = {
    init: async () => undefined,
    destroy: async () => undefined,
    async acquireConnection() {
      const release = await turns.acquire();
      try {
        return turnOver(await connect(), release, use);
      } catch (error) {
        release();
        throw error;
      }
    },
    beginTransaction: (turn: Turn) => turn.begin(),
    commitTransaction: (turn: Turn) => turn.commit(),
    rollbackTransaction: (turn: Turn) => turn.rollback(),
    releaseConnection: async (turn: Turn) => turn.release(),
  };
  return kyselyWith(() => driver);
}

type Turn = ReturnType<typeof turnOver>;

function turnOver(connection: DuckDBConnection, release: () => void, { observer, roomMb, failure }: Use) {
  const attempting = <T>(doing: string, work: () => Promise<T>) => attemptingTo(doing, work, failure);
  let isOpen = false;

  async function execute<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    return attempting("work with the warehouse file", async () => {
      const run = () => runStatement(connection, sql, parameters);
      const result = await run().catch(async error => {
        if (roomMb === undefined || !isOutOfMemory(error)) throw error;
        await connection.run(`set memory_limit = '${roomMb}MB'`);
        return run();
      });
      const changed = result.returnType === 1 ? result.rowsChanged : undefined;
      observer?.statement(sql, changed);
      if (!isOpen) await observer?.beforeCommit(connection);
      const rows = changed === undefined ? (rowObjects(result, await result.getRows()) as R[]) : [];
      return changed === undefined ? { rows } : { rows, numAffectedRows: BigInt(changed) };
    });
  }
  async function begin(): Promise<void> {
    await observer?.begin?.();
    try {
      await attempting("work with the warehouse file", () => runStatement(connection, "begin transaction", []));
    } catch (error) {
      await observer?.end?.();
      throw error;
    }
    isOpen = true;
  }

  async function commit(): Promise<void> {
    await attempting("store a transaction in the warehouse file", async () => {
      await observer?.beforeCommit(connection);
      await runStatement(connection, "commit", []);
    });
    isOpen = false;
    await observer?.end?.();
  }

  async function rollback(): Promise<void> {
    isOpen = false;
    observer?.rolledBack();
    try {
      // A failed commit has ended the transaction already, and may have cost the session; its own error is the one to tell.
      await attempting("take a transaction back", () =>
        connection.run("rollback").catch(error => {
          if (!/no transaction is active|has been invalidated/.test(String(error))) throw error;
        }),
      );
    } finally {
      await observer?.end?.();
    }
  }

  return {
    release,
    begin,
    commit,
    rollback,

    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      if (isOpen || observer?.begin === undefined || READING.test(query.sql)) return execute<R>(query);
      await begin();
      try {
        const result = await execute<R>(query);
        await commit();
        return result;
      } catch (error) {
        await rollback();
        throw error;
      }
    },

    // biome-ignore lint/correctness/useYield: what the interface asks for, and nobody uses
    async *streamQuery() {
      throw new TypeError("a connection that is shared by turns has no cursors: select in slices");
    },
  } satisfies DatabaseConnection & Record<string, unknown>;
}

/** Parses a text, which has to be one statement. Nothing of it is run. */
export async function parseOne(connection: DuckDBConnection, text: string): Promise<void> {
  const parsed = await connection.extractStatements(text).catch(error => {
    throw new Error(String(error.message).replace("Failed to extract statements: ", ""));
  });
  if (parsed.count !== 1) throw new Error(`Parser Error: expected one statement, got ${parsed.count}`);
}

async function runStatement(
  connection: DuckDBConnection,
  sql: string,
  parameters: readonly unknown[],
): Promise<DuckDBMaterializedResult> {
  statements.publish(sql);
  if (parameters.length === 0) return connection.run(sql);
  const whole = inlined(sql, parameters);
  if (whole !== undefined)
    return connection.run(whole).catch(error => {
      throw withoutStatement(error);
    });
  const { values, types } = bindings(parameters);
  return connection.run(sql, values, types);
}
