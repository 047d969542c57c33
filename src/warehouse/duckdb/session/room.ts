import { totalmem } from "node:os";
import type { DuckDBConnection } from "@duckdb/node-api";
import { Mutex } from "../../../mutex.ts";
import { isOutOfMemory } from "./failure.ts";
import { limitMemory, quoted, select } from "./session.ts";

/** The core's tables with their states fit into the memory given; what each further one needs while it is written. */
const FEW_TABLES = 40;
const TABLE_MB = 0.5;
/** So much of what a session may take has to be free, or given on top. */
const FREE = 0.5;
/** Of so many rows, a vector, DuckDB keeps which were deleted, in so many MB, from the first look at them until the session ends. */
const VECTOR = 2_048;
const DELETED_MB = 0.0176;

/** The memory limit of a session. Work that changes it, or needs all of the memory, runs alone (`run`). */
export class Room {
  readonly #limitMb: number;
  readonly #grows: boolean;
  readonly #alone: <T>(work: (connection: DuckDBConnection) => Promise<T>) => Promise<T>;
  readonly #turns = new Mutex();
  #given: Promise<number> | undefined;
  #heldMb = 0;

  /** `alone` runs work while nothing else uses the session; `grows`: the more tables there are, the higher the limit. */
  constructor(
    limitMb: number,
    grows: boolean,
    alone: <T>(work: (connection: DuckDBConnection) => Promise<T>) => Promise<T>,
  ) {
    this.#limitMb = limitMb;
    this.#grows = grows;
    this.#alone = alone;
  }

  run<T>(work: () => Promise<T>): Promise<T> {
    return this.#turns.run(work);
  }

  /** Within `run`: does work that can be done again from its start, with twice as much memory each time it runs out of it. */
  async repeating<T>(work: () => Promise<T>, { share = 1, moreMb = 0 } = {}): Promise<T> {
    const given = await this.#givenMemory();
    const usual = given + this.#heldMb;
    const most = Math.max(2 * usual, totalmem() / 2 ** 21);
    for (let limit = Math.ceil(given * share + this.#heldMb + moreMb); ; limit *= 2) {
      try {
        if (limit !== usual) await this.#limit(limit);
        return await work();
      } catch (error) {
        if (!isOutOfMemory(error) || limit * 2 > most) throw error;
      } finally {
        if (limit !== usual) await this.#limit(usual).catch(() => undefined);
      }
    }
  }

  /**
   * Within `run`: what DuckDB will have to keep where so many rows of tables, or any, are replaced. To be given before: a DELETE that
   * runs out of memory leaves rows that cannot be deleted any more in this session, though it was taken back.
   */
  async forReplaced(tables: readonly string[], rows = Number.MAX_SAFE_INTEGER): Promise<number> {
    if (rows === 0) return 0;
    const text = `select sum(least(estimated_size // ${VECTOR} + 1, ${rows})) from duckdb_tables() where table_name in (${tables.map(quoted)})`;
    return this.#alone(async connection =>
      Math.ceil(DELETED_MB * Number((await select(connection, text))[0]?.[0] ?? 0)),
    );
  }

  /** Within `run`, after work on a large file: gives what DuckDB has to keep on top, 43 MB for five million rows of which some were deleted. */
  async settle(): Promise<void> {
    const given = await this.#givenMemory();
    const settling = this.#alone(async connection => {
      const isFree = await limitMemory(connection, Math.ceil(given * FREE + this.#heldMb)).then(
        () => true,
        () => false,
      );
      // What could leave memory did, for that.
      const [row] = isFree ? [] : await select(connection, "select sum(memory_usage_bytes) from duckdb_memory()");
      if (row !== undefined) this.#heldMb = Math.ceil(Number(row[0]) / 1e6);
      await limitMemory(connection, given + this.#heldMb);
    });
    // The work itself succeeded. Where the session is lost, its next statement fails and tells the reason.
    await settling.catch(() => undefined);
  }

  /** What the tables beyond a few are given. */
  async moreForTables(): Promise<number> {
    return (await this.#givenMemory()) - this.#limitMb;
  }

  /** The session is another one from now on. */
  forget(): void {
    this.#given = undefined;
    this.#heldMb = 0;
  }

  async #limit(megabytes: number): Promise<void> {
    await this.#alone(connection => limitMemory(connection, megabytes));
  }

  /** What the session may take when nothing is done again for want of memory, beside what it has to keep: the more tables there are, the more. */
  async #givenMemory(): Promise<number> {
    if (!this.#grows) return this.#limitMb;
    this.#given ??= this.#alone(async connection => {
      const [row] = await select(connection, "select count(*) from duckdb_tables() where not internal");
      const given = Math.ceil(this.#limitMb + TABLE_MB * Math.max(0, Number(row?.[0] ?? 0) - FEW_TABLES));
      if (given > this.#limitMb) await limitMemory(connection, given);
      return given;
    }).catch(error => {
      this.#given = undefined;
      throw error;
    });
    return this.#given;
  }
}
