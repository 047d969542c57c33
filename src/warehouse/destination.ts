import type { ByteBudget } from "../byte_budget.ts";
import type { Table, TableSet } from "../catalog/columns.ts";
import type { Clock } from "../clock.ts";
import type { StoppedError } from "../errors.ts";
import type { Message } from "../message.ts";
import type { Batch } from "../rows/batch.ts";
import type { Fragment } from "./database.ts";
import type { Exportable } from "./parquet_source.ts";

/**
 * A connected warehouse. Both databases speak nearly the same SQL, so everything that is a set operation (publish, work
 * list, state) is written once over `db`; a destination brings the session, the stage, the lock and what readers see.
 *
 * Promises, each held by the conformance suite:
 * - `db` is one session. Its transactions run one after another; one that throws leaves nothing behind.
 * - Every transaction of a session that has lost its lock fails with LockedError before it writes.
 * - After `kill -9` of the process or the database a stage holds a record and exactly the rows it speaks of, or neither.
 */
export interface Destination extends Exportable, AsyncDisposable {
  /** Sentences for whoever runs it: what was met when it was opened, and mended. Grows no more once the locks are taken. */
  readonly warnings: readonly Message[];
  /** How the connection to a server is protected, in words. */
  readonly protection?: string;
  /**
   * Takes the streams (each with all its details, hence "lock groups") of a company for this run, all or none.
   * LockedError names the holder (run, process, host, command) and since when; `waitMs` is how long to wait first.
   */
  lock(company: string, lockGroups: readonly string[], waitMs: number): Promise<void>;
  /** Releases all locks of this run. A database file stays with the process that opened it. */
  unlock(): Promise<void>;
  /** `COPY … FROM STDIN`; absent where the database reads files. */
  readonly copyIn?: (statement: string, rows: AsyncIterable<Buffer>) => Promise<void>;
  /** Who holds what at this moment, as a FROM item with the columns of the table `holders`; a row of a killed run may be among them. */
  readonly holders: Fragment;
  /** Whether another run waits for what this one has locked. Runs that were opened with `makesRoom` wait without being seen. */
  isWanted(): Promise<boolean>;
  /** The stage of one company's stream, with what an earlier run left in it. Hold at most one a stream. */
  stage(company: string, tables: TableSet): Promise<Stage>;
  /** Outlives the database, where that is a file which can be damaged. A server has none. */
  readonly journal?: Journal;
  readonly lastSnapshot?: () => Promise<number | undefined>;
  /** Makes what is committed visible to readers who come from now on (DuckDB: a new version of the published file). */
  releaseToReaders(): Promise<Release>;
  /** Whether readers lack something that was committed to the tables, by this run or a killed one; and when they were last shown. */
  releaseState(): Promise<{ readonly isPending: boolean; readonly releasedAt: Date | undefined }>;
  /**
   * Runs work that touches many rows: one or more transactions, repeatable from their start. DuckDB begins with little
   * memory (least for work that only compares much) and, should it run out, does the work again with twice as much. `rows`
   * are those of the stage that is compared; `widest`, of the stage whose rows are written, is given beside that, and what it
   * takes to note which rows of `tables` are replaced or go: `touched` of each, or else any.
   */
  withRoom<T>(purpose: "compare" | "write", work: () => Promise<T>, of?: WorkSize): Promise<T>;
  /** After a publish that changed so many rows of the stream's own: checkpoint, statistics, where it is worth it. Never changes what the tables say. */
  afterPublish(tables: TableSet, rows: number): Promise<void>;
  /**
   * Leaves nothing of what these tables held before their rows were rewritten: DuckDB writes its file anew, publishes it and
   * removes every other version; PostgreSQL rewrites the tables and their statistics. Alone: no stage is open. Answers what
   * keeps something of it all the same: then it has to be done again.
   */
  cleanse(tables: readonly { readonly schema: string; readonly name: string }[]): Promise<string | undefined>;
  /** Releases the locks and closes. Doesn't release anything to readers. */
  close(): Promise<void>;
}

/** A file of lines beside a database file. */
export interface Journal {
  readonly path: string;
  /** Its lines in their order; undefined where it was never written. */
  lines(): Promise<readonly string[] | undefined>;
  /** The line is durable when it resolves. */
  append(line: string): Promise<void>;
  replace(lines: readonly string[]): Promise<void>;
  /** Whether a damaged database file was replaced by an older one. */
  isAfterDamage(): Promise<boolean>;
}

export interface WorkSize {
  readonly rows?: number;
  readonly widest?: number | undefined;
  readonly tables?: TableSet;
  readonly touched?: number | undefined;
}

/** A process that works on a warehouse, as others are told of it. `startedAt` is ISO 8601. */
export interface WorkingProcess {
  readonly pid: number;
  readonly host: string;
  readonly command: string;
  readonly startedAt: string;
}

export interface Holder extends WorkingProcess {
  readonly runId: string;
}

/** The run that opens a warehouse; another run is told all of this. */
export interface Opener {
  readonly runId: string;
  readonly holder: WorkingProcess;
  readonly clock: Clock;
  /** What answers and rows share: what wide rows take of DuckDB's memory counts there. */
  readonly memory?: ByteBudget | undefined;
  /** Asks nobody to make room while it waits for a lock, and lets those go first who wait: work that can wait. */
  readonly makesRoom?: boolean;
  /** The company, as locks name it, that another process locked for this run: that one is gone, and its sessions are ended. */
  readonly takesOver?: string | undefined;
  /** Told who has the lock when a wait for it begins, and for how many ms at most. */
  readonly waiting?: (who: string, ms: number) => void;
  /** Why the run is to end: waits for other sessions' locks end then, too. Undefined while it may go on. */
  readonly stopReason?: () => StoppedError | undefined;
}

/** What `releaseToReaders` did: where readers find it, and what they have to know (`note`: open readers must reconnect …). */
export interface Release {
  readonly path: string | undefined;
  readonly note: Message | undefined;
}

/** What a scan has done so far: JSON, opaque to the destination, stored with the rows it speaks of. */
export type StageRecord = { readonly [field: string]: unknown };

/**
 * Rows kept aside while a listing is read. Relations (`keys`, `rows`, `outcomes`) are FROM items for SQL over `db`; they
 * hold what was appended since `begin`, in every version; the highest `_seq` of a key is the one that counts.
 */
export interface Stage {
  /** The last appended record; undefined when the stage is empty. */
  readonly record: StageRecord | undefined;
  /** Rows appended since `begin`, all tables' main rows. */
  readonly staged: number;
  /** Bytes of the widest staged rows that the database takes at once; undefined where it takes one after another. */
  readonly widest?: number | undefined;
  /** Empties the stage and stores the record of a new scan. */
  begin(record: StageRecord): Promise<void>;
  /** Stores a batch and the record that becomes true with it: durable when it resolves, both or neither. */
  append(batch: Batch, record: StageRecord): Promise<void>;
  /** `_seq` bigint, the key's columns, `_hash`, `_vhash` bigint (both NULL: seen, but not stored). */
  keys(): Fragment;
  /** `_seq`, for a child table `_index`, then `stageColumns(table)` with their own types, then `_extra`, `_problems` (JSON). */
  rows(table: Table): Fragment;
  /**
   * From now until the stage is appended to, `rows` need hold no others than these, by `_seq`, ascending: for a publish that
   * touches few of many, which would go through all of them. Absent where few are never many.
   */
  only?(sequences: readonly number[]): Promise<void>;
  /** `_seq`, `parent_key` text, `parent_hash` bigint, `outcome` text, `fetched_at` timestamptz, `reason` text. */
  outcomes(): Fragment;
  drop(): Promise<void>;
}
