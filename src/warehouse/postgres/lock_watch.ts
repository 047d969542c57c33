import type { Client } from "pg";
import { StoppedError } from "../../errors.ts";
import { type Address, explained } from "./failure.ts";
import { type Blocker, postgresMessages } from "./messages.ts";

/** How long others' locks are waited for; absent: for ever. */
export interface LockPatience {
  readonly lockWaitMs?: number;
  /** Why the run is to end; undefined while it may go on. */
  readonly stopReason?: () => StoppedError | undefined;
}

/** What is watched, and from where. */
export interface Watched extends LockPatience {
  readonly address: Address;
  /** The session's process on the server. */
  readonly backend: number;
  /** A second connection, not yet made. */
  readonly beside: () => Client;
}

interface Statement {
  readonly since: number;
  /** Its age at the last look. */
  looked: number;
  blockers: readonly Blocker[];
  stopped: StoppedError | undefined;
}

const TICK_MS = 1_000;
/** Statements that end sooner are never looked at. */
const FIRST_LOOK_MS = 2_000;
/** Between two looks once the run is to end. */
const STOPPING_MS = 3_000;

/**
 * Looks, from a second connection, whom a long statement waits for: when PostgreSQL has ended the wait it no longer knows. A
 * wait of a run that is to end is ended at once. Where no second connection is to be had lock_timeout ends it all the same.
 */
export class LockWatch {
  readonly #watched: Watched;
  readonly #timer: NodeJS.Timeout;
  #statement: Statement | undefined;
  #looking = false;

  constructor(watched: Watched) {
    this.#watched = watched;
    // A statement that waits for its whole lock_timeout is looked at in any case.
    this.#timer = setInterval(() => void this.#tick(), Math.min(TICK_MS, this.#longest / 4)).unref();
  }

  get #longest(): number {
    return (this.#watched.lockWaitMs ?? Number.POSITIVE_INFINITY) / 2;
  }

  /** Sends one statement; statements come one after another. @throws DestinationError, StoppedError */
  async over<T>(send: () => Promise<T>): Promise<T> {
    const statement: Statement = { since: performance.now(), looked: 0, blockers: [], stopped: undefined };
    this.#statement = statement;
    try {
      return await send();
    } catch (error) {
      if (statement.stopped !== undefined && error instanceof Error && "code" in error && error.code === "57014")
        throw statement.stopped;
      throw explained(error, this.#watched.address, { blockers: statement.blockers });
    } finally {
      this.#statement = undefined;
    }
  }

  end(): void {
    clearInterval(this.#timer);
  }

  async #tick(): Promise<void> {
    const statement = this.#statement;
    if (statement === undefined || this.#looking) return;
    const age = performance.now() - statement.since;
    const reason = this.#watched.stopReason?.();
    const { looked } = statement;
    const patient = Math.max(FIRST_LOOK_MS, looked);
    const gap = reason === undefined ? patient : looked === 0 ? TICK_MS : STOPPING_MS;
    if (age < looked + Math.min(gap, this.#longest)) return;
    this.#looking = true;
    statement.looked = age;
    await this.#look(statement, reason).catch(() => undefined);
    this.#looking = false;
  }

  async #look(statement: Statement, reason: StoppedError | undefined): Promise<void> {
    const { address, backend, beside } = this.#watched;
    const client = beside();
    client.on("error", () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query<Omit<Blocker, "since"> & { readonly since: Date | null }>(BLOCKERS, [
        backend,
      ]);
      if (rows.length === 0 || this.#statement !== statement) return;
      statement.blockers = rows.map(({ since, ...session }) => ({ ...session, since: since?.toISOString() ?? null }));
      if (reason === undefined) return;
      statement.stopped = new StoppedError(
        postgresMessages.stopped_waiting({ host: address.host, port: address.port, blockers: statement.blockers }),
        reason.exitCode,
      );
      await client.query(CANCEL, [backend]);
    } finally {
      void client.end().catch(() => undefined);
    }
  }
}

/** Times of others' sessions are shown to few roles. */
const BLOCKERS = `select distinct pid, usename::text as user, nullif(application_name, '') as application, xact_start as since
   from unnest(pg_catalog.pg_blocking_pids($1)) as blocking(pid) left join pg_catalog.pg_stat_activity using (pid)`;
const CANCEL = "select pg_catalog.pg_cancel_backend($1) where cardinality(pg_catalog.pg_blocking_pids($1)) > 0";
