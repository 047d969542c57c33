import { totalmem } from "node:os";
import type { DuckDBConnection } from "@duckdb/node-api";
import { Mutex } from "../../../mutex.ts";
import { isOutOfMemory } from "./failure.ts";
import { select } from "./session.ts";

/** The core's tables with their states fit into the memory given; what each further one needs while it is written. */
const FEW_TABLES = 40;
const TABLE_MB = 0.5;

/** The memory limit of a session. Work that changes it, or needs all of the memory, runs alone (`run`). */
export class Room {
  readonly #limitMb: number;
  readonly #grows: boolean;
  readonly #alone: <T>(work: (connection: DuckDBConnection) => Promise<T>) => Promise<T>;
  readonly #turns = new Mutex();
  #usual: Promise<number> | undefined;

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
    const usual = await this.#usualMemory();
    const most = Math.max(2 * usual, totalmem() / 2 ** 21);
    for (let limit = Math.ceil(usual * share + moreMb); ; limit *= 2) {
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

  /** What the tables beyond a few are given. */
  async moreForTables(): Promise<number> {
    return (await this.#usualMemory()) - this.#limitMb;
  }

  /** The session is another one from now on. */
  forget(): void {
    this.#usual = undefined;
  }

  async #limit(megabytes: number): Promise<void> {
    await this.#alone(async connection => {
      await connection.run(`set memory_limit = '${megabytes}MB'`);
    });
  }

  /** What the session may take when nothing is done again for want of memory: the more tables there are, the more. */
  async #usualMemory(): Promise<number> {
    if (!this.#grows) return this.#limitMb;
    this.#usual ??= this.#alone(async connection => {
      const [row] = await select(connection, "select count(*) from duckdb_tables() where not internal");
      const usual = Math.ceil(this.#limitMb + TABLE_MB * Math.max(0, Number(row?.[0] ?? 0) - FEW_TABLES));
      if (usual > this.#limitMb) await connection.run(`set memory_limit = '${usual}MB'`);
      return usual;
    }).catch(error => {
      this.#usual = undefined;
      throw error;
    });
    return this.#usual;
  }
}
