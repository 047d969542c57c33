import { finished } from "node:stream/promises";
import { AbortedTransactionError, type TransactionSettings } from "kysely";
import type { Client, QueryResult } from "pg";
import { from, to } from "pg-copy-streams";
import { Mutex } from "../../mutex.ts";
import { statements } from "../dialect.ts";
import type { Connected } from "./connect.ts";
import { type Address, isTakenBack } from "./failure.ts";
import { LockWatch } from "./lock_watch.ts";

const COPY_CHUNK = 1 << 20;

/** Runs at the start of a transaction; throws LockedError when the session may no longer write. */
type Guard = (readOnly: boolean) => Promise<void>;

/** One PostgreSQL connection that several users share by turns; a turn is a statement or a transaction. */
export class Session {
  readonly address: Address;
  readonly backend: number;
  /** Ends the statement that is under way, as far as a second connection is to be had; it rejects then. */
  readonly cancel: () => Promise<void>;
  readonly #client: Client;
  readonly #watch: LockWatch;
  #guard: Guard | undefined;
  readonly #turns = new Mutex();
  readonly #statements = new Mutex();
  #inTransaction = false;

  constructor(connected: Connected) {
    const { client, address, backend, beside } = connected;
    this.cancel = () => cancel(beside(), backend);
    this.#client = client;
    this.address = address;
    this.backend = backend;
    this.#watch = new LockWatch(connected);
    // Without a listener a lost connection would end the process; every later statement reports it.
    client.on("error", () => undefined);
  }

  get inTransaction(): boolean {
    return this.#inTransaction;
  }

  /** Every transaction from now on, and every single statement that may write, begins with the guard. */
  guardWith(guard: Guard | undefined): void {
    this.#guard = guard;
  }

  get guarded(): boolean {
    return this.#guard !== undefined;
  }

  /** Waits for its turn; the answer ends it. */
  acquire(): Promise<() => void> {
    return this.#turns.acquire();
  }

  /** One statement, within a turn. Statements sent together go one after another. */
  query(text: string, values: readonly unknown[] = []): Promise<QueryResult<Record<string, unknown>>> {
    return this.#next(() => {
      statements.publish(text);
      return this.#client.query<Record<string, unknown>>(text, [...values]);
    });
  }

  /** `COPY … FROM STDIN` with the bytes as they are. */
  copy(text: string, bytes: Buffer | AsyncIterable<Buffer>): Promise<void> {
    return this.#next(async () => {
      statements.publish(text);
      const stream = this.#client.query(from(text));
      const done = finished(stream);
      // Piece by piece: of what waits to be sent when the server refuses the rest, the stream makes an error that nobody catches.
      for await (const piece of Buffer.isBuffer(bytes) ? chunksOf(bytes) : bytes) {
        const sent = new Promise(resolve => stream.write(piece, resolve));
        await Promise.race([sent, done]);
      }
      stream.end();
      await done;
    });
  }

  /**
   * `COPY … TO STDOUT`, piece by piece, at the taker's pace. When the taker throws the rest is let go by: a connection that
   * was left in the middle could not even roll back.
   */
  copyOut(text: string, take: (piece: Buffer) => Promise<void>): Promise<void> {
    return this.#next(async () => {
      let failure: { readonly error: unknown } | undefined;
      for await (const piece of this.#client.query(to(text))) {
        if (failure !== undefined) continue;
        try {
          await take(piece as Buffer);
        } catch (error) {
          failure = { error };
        }
      }
      if (failure !== undefined) throw failure.error;
    });
  }

  #next<T>(send: () => Promise<T>): Promise<T> {
    return this.#statements.run(() => this.#watch.over(send));
  }

  async begin(settings: TransactionSettings): Promise<void> {
    const level = settings.isolationLevel === undefined ? "" : ` isolation level ${settings.isolationLevel}`;
    const access = settings.accessMode === undefined ? "" : ` ${settings.accessMode}`;
    await this.query(`begin${level}${access}`);
    this.#inTransaction = true;
    try {
      await this.#guard?.(settings.accessMode === "read only");
    } catch (error) {
      await this.rollback();
      throw error;
    }
  }

  async commit(): Promise<void> {
    this.#inTransaction = false;
    const { command } = await this.query("commit");
    if (command === "ROLLBACK") throw new AbortedTransactionError();
  }

  /** Never throws: what it would tell is what broke the transaction. */
  async rollback(): Promise<void> {
    this.#inTransaction = false;
    await this.query("rollback").catch(() => undefined);
  }

  /** A turn with one transaction in it, whose work can be done again from its start. */
  async transaction<T>(work: () => Promise<T>): Promise<T> {
    return this.turn(() => this.alone(work));
  }

  /** The same for who has the turn. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    return repeating(() => this.#once(work));
  }

  async #once<T>(work: () => Promise<T>): Promise<T> {
    await this.begin({});
    try {
      const result = await work();
      await this.commit();
      return result;
    } catch (error) {
      if (this.#inTransaction) await this.rollback();
      throw error;
    }
  }

  /** A turn outside a transaction. */
  turn<T>(work: () => Promise<T>): Promise<T> {
    return this.#turns.run(work);
  }

  async end(): Promise<void> {
    this.#watch.end();
    await this.#client.end().catch(() => undefined);
  }
}

function* chunksOf(bytes: Buffer): Iterable<Buffer> {
  for (let at = 0; at < bytes.length; at += COPY_CHUNK) yield bytes.subarray(at, at + COPY_CHUNK);
}

const TIMES = 5;

/**
 * Does work that can be done again from its start: again, when it was taken back for the sake of another session's. That one
 * has gone on by then, so there is nothing to wait for.
 */
export async function repeating<T>(work: () => Promise<T>, wasTakenBack = isTakenBack): Promise<T> {
  for (let time = 1; ; time++) {
    try {
      return await work();
    } catch (error) {
      if (time === TIMES || !wasTakenBack(error)) throw error;
    }
  }
}

async function cancel(client: Client, backend: number): Promise<void> {
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query("select pg_catalog.pg_cancel_backend($1)", [backend]);
  } catch {
    // The caller then waits until the statement ends by itself.
  } finally {
    await client.end().catch(() => undefined);
  }
}
