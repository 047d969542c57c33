import type { CompiledQuery, DatabaseConnection } from "kysely";
import type { Db } from "../database.ts";
import { kyselyWith } from "../dialect.ts";
import type { Session } from "./session.ts";

const writing = new Set(["INSERT", "UPDATE", "DELETE", "MERGE"]);

/** No function that is called outside a transaction writes. */
const READING = /^\s*select\b/i;

/** Kysely over one session; `destroy` closes it. */
export function kyselyOver(session: Session, stateSchema: string): Db {
  const releases: (() => void)[] = [];
  const connection = connectionOver(session);
  const db = kyselyWith(() => ({
    init: () => Promise.resolve(),
    async acquireConnection() {
      releases.push(await session.acquire());
      return connection;
    },
    beginTransaction: (_connection, settings) => session.begin(settings),
    commitTransaction: () => session.commit(),
    rollbackTransaction: () => session.rollback(),
    async savepoint(_connection, name) {
      await session.query(`savepoint "${name}"`);
    },
    async rollbackToSavepoint(_connection, name) {
      await session.query(`rollback to savepoint "${name}"`);
    },
    async releaseSavepoint(_connection, name) {
      await session.query(`release savepoint "${name}"`);
    },
    async releaseConnection() {
      releases.pop()?.();
    },
    destroy: () => session.end(),
  }));
  return db.withSchema(stateSchema);
}

function connectionOver(session: Session): DatabaseConnection {
  return {
    async executeQuery<R>(compiled: CompiledQuery) {
      const query = () => session.query(compiled.sql, compiled.parameters);
      const writes = !READING.test(compiled.sql);
      const bare = session.guarded && !session.inTransaction && writes;
      const result = await (bare ? session.alone(query) : query());
      const rows = (result.rows ?? []) as R[];
      return writing.has(result.command) ? { rows, numAffectedRows: BigInt(result.rowCount ?? 0) } : { rows };
    },
    // biome-ignore lint/correctness/useYield: what the interface asks for, and nobody may use
    async *streamQuery() {
      throw new Error("a session that is shared by turns has no cursors: select in slices");
    },
  };
}
