import { rmSync } from "node:fs";
import { chmod, chown, link, mkdtemp, rename, stat } from "node:fs/promises";
import { totalmem } from "node:os";
import { dirname, join } from "node:path";
import { performance } from "node:perf_hooks";
import { type DuckDBConnection, DuckDBInstance, type DuckDBValue } from "@duckdb/node-api";
import { entryAt, remove, syncFolder } from "../../../files.ts";
import { isOutOfMemory } from "./failure.ts";
import type { Layout } from "./file_layout.ts";
import { PLACED } from "./file_layout.ts";

export interface Resources {
  readonly memoryLimitMb: number;
  readonly threads: number;
  /** What the folder for what doesn't fit into memory is called at its beginning: each session has a private one. */
  readonly spill: string;
  /** Whether it lies in a private folder already, which may come later and goes with all that is in it. */
  readonly spillsInPrivate?: boolean;
  /**
   * Whether freed blocks go back to the system at once. It saves 50 MB with one thread, and makes two wait for each other. In a session
   * that reads, a statement that runs out of memory is repeated with more (`roomMb` of the driver).
   */
  readonly isSparing?: boolean;
}

export interface Session extends Disposable {
  readonly connection: DuckDBConnection;
  readonly spill: string;
  close(): void;
}

/** The file's name within a session: as an alias it can never be mistaken for a schema, as a file's own name can. */
const ALIAS = "tributary_file";

/** Rows that are compressed and written together: half of DuckDB's own, so that a first load's go to the file at once, past the log (a third less CPU, 60 MB less memory). */
const ROW_GROUP = 61_440;

/**
 * Opens (and, unless `readOnly`, creates) a database file. Fails with DuckDB's own error, after which nothing stays open. A log
 * that was written with more memory than is given is read again with twice as much.
 */
export async function openSession(file: string, readOnly: boolean, resources: Resources): Promise<Session> {
  const { memoryLimitMb } = resources;
  for (let limit = memoryLimitMb; ; limit *= 2) {
    const session = await openEmpty({ ...resources, memoryLimitMb: limit });
    const { connection, close } = session;
    try {
      const mode = readOnly ? "READ_ONLY" : `READ_WRITE, row_group_size ${ROW_GROUP}`;
      await connection.run(`attach ${quoted(file)} as ${ALIAS} (type duckdb, ${mode})`);
      await connection.run(`use ${ALIAS}`);
    } catch (error) {
      close();
      if (!isOutOfMemory(error) || limit * 2 > totalmem() / 2 ** 21) throw error;
      continue;
    }
    // What a log brought can't leave memory before it is in the file: then the limit stays.
    if (limit > memoryLimitMb) await limitMemory(connection, memoryLimitMb).catch(() => undefined);
    return session;
  }
}

/** Sets what DuckDB may take. Fails, and changes nothing, where less of what it holds can leave memory. */
export async function limitMemory(
  connection: DuckDBConnection,
  limit: number,
  unit: "MB" | "KiB" = "MB",
): Promise<void> {
  await connection.run(`set memory_limit = '${limit}${unit}'`);
}

/**
 * Makes a database where none is, whole or not at all: DuckDB writes the start of a new file in several steps, and what a kill
 * or a full disk leaves between two of them can never be opened. Of two processes that make it at once the first one's stays.
 */
export async function makeWhole(file: string, { home }: Layout, resources: Resources): Promise<void> {
  // A log without its file: DuckDB knows what to do with it when it makes the file itself.
  if ((await entryAt(file)) || (await entryAt(`${file}.wal`))) return;
  const made = join(home, `made-${process.pid}-${performance.timeOrigin}.tmp`);
  try {
    (await openSession(made, false, resources)).close();
    // Where this fails (a file system without links) DuckDB makes the file in its place when it is opened.
    await link(made, file).then(
      () => syncFolder(dirname(file)),
      () => undefined,
    );
  } finally {
    await remove(made);
  }
}

/** When what was written goes from the log into the file by itself. The 16 MB of old make a stage's worth of writes do it again and again; `afterPublish` does it once. */
const written = { checkpoint_threshold: "1GB", auto_checkpoint_skip_wal_threshold: "100000" } as const;

/**
 * Whether a commit writes past the log, straight into the file: a log takes wide rows into memory twice more, text by text
 * in one piece. As durable, and as much one whole, as through the log.
 */
export async function writePastLog(connection: DuckDBConnection, past: boolean): Promise<void> {
  const values = past ? { checkpoint_threshold: "1KB", auto_checkpoint_skip_wal_threshold: "0" } : written;
  for (const [name, value] of Object.entries(values)) await connection.run(`set ${name} = '${value}'`);
}

/** A session without a file: what it holds is gone when it is closed. */
export async function openEmpty(resources: Resources): Promise<Session> {
  // Where none can be made DuckDB keeps to its memory, and says so when that is too little.
  const spill =
    resources.spillsInPrivate === true ? resources.spill : await mkdtemp(`${resources.spill}-`).catch(() => "");
  const instance = await DuckDBInstance.create(":memory:", {
    autoinstall_known_extensions: "false",
    autoload_known_extensions: "false",
    ...written,
    // Freed memory goes back at once. By default up to 512 MB are kept aside: a first load of a million rows took 125 MB more.
    allocator_bulk_deallocation_flush_threshold: resources.isSparing === true ? "200KB" : "1MB",
    memory_limit: `${resources.memoryLimitMb}MB`,
    preserve_insertion_order: "false",
    temp_directory: spill,
    threads: String(resources.threads),
  });
  const connection = await instance.connect();
  await connection.run("set TimeZone = 'UTC'");
  const close = (): void => {
    connection.closeSync();
    instance.closeSync();
    if (spill !== "") rmSync(spill, { recursive: true, force: true });
  };
  return { connection, spill, close, [Symbol.dispose]: close };
}

/** A checkpoint of so many columns fits into the memory given; what each further one needs where all of them were changed. */
const FEW_COLUMNS = 700;
const COLUMN_KIB = 100;

/**
 * Writes what the log holds into the file, after which the file alone is the database. Running out of memory would cost the
 * session, and the next one would not get further: where there are many columns, or rows so wide that `wideMb` more are
 * needed for them, it may take more meanwhile.
 *
 * `anew` writes the description of every table again, also when nothing has changed. Without it DuckDB 1.5 leaves that of
 * unchanged row groups where it is, with a pointer to what followed it once: DuckDB 1.4.0 and older go after that pointer, and
 * can't open the file when its block has been given to something else.
 */
export async function checkpoint(connection: DuckDBConnection, wideMb = 0, anew = false): Promise<void> {
  await connection.run(`set experimental_metadata_reuse = ${!anew}`);
  if (anew) await connection.run("pragma force_checkpoint");
  const [row] = await select(
    connection,
    "select count(*), current_setting('memory_limit') from duckdb_columns() where not internal",
  );
  const more = COLUMN_KIB * Math.max(0, Number(row?.[0] ?? 0) - FEW_COLUMNS) + Math.ceil(wideMb * 1000);
  const usual = kibibytes(String(row?.[1]));
  if (more > 0) await limitMemory(connection, usual + more, "KiB");
  try {
    await connection.run(`checkpoint ${ALIAS}`);
  } finally {
    if (more > 0) await limitMemory(connection, usual, "KiB").catch(() => undefined);
  }
}

/** What DuckDB writes as `76.2 MiB`, cut after the first place: in the middle of it, so that it is written the same again. */
function kibibytes(text: string): number {
  const [size, unit = ""] = text.split(" ");
  return Math.round((Number(size) + 0.05) * 1024 ** ["KiB", "MiB", "GiB", "TiB"].indexOf(unit));
}

/**
 * Puts a file with the same content in the place of the session's: what was deleted or replaced is not in it, nor in the
 * statistics of its columns. The session goes on with the old file, which is nobody's any more, and has to be closed.
 */
export async function writeAnew(connection: DuckDBConnection, { home, work, readers }: Layout): Promise<void> {
  // Beside the file that readers open, as `home` may lie on another disk.
  const anew = readers === "direct" ? `${work}${PLACED}` : join(home, "anew.tmp");
  await remove(anew);
  await checkpoint(connection);
  const { mode, uid, gid } = await stat(work);
  await connection.run(`attach ${quoted(anew)} as tributary_anew (type duckdb, row_group_size ${ROW_GROUP})`);
  try {
    // Who may read the one may read the other, and nobody else.
    await chown(anew, uid, gid).catch(() => undefined);
    await chmod(anew, mode & 0o777);
    await connection.run(`copy from database ${ALIAS} to tributary_anew`);
    await connection.run("checkpoint tributary_anew");
  } finally {
    await connection.run("detach tributary_anew");
  }
  await remove(`${anew}.wal`);
  await rename(anew, work);
  await syncFolder(dirname(work));
}

/** Whether the file has the warehouse's own table, has no tables at all, or is another program's. */
export async function identify(
  connection: DuckDBConnection,
  stateSchema: string,
): Promise<"ours" | "empty" | "foreign"> {
  const [row] = await select(
    connection,
    `select (select count(*) from duckdb_tables() where database_name = current_database() and schema_name = $1 and table_name = 'warehouse')::integer,
      ((select count(*) from duckdb_tables() where database_name = current_database())
        + (select count(*) from duckdb_views() where database_name = current_database() and not internal))::integer`,
    [stateSchema],
  );
  if (row?.[0] === 1) return "ours";
  return row?.[1] === 0 ? "empty" : "foreign";
}

export async function select(
  connection: DuckDBConnection,
  sql: string,
  values: DuckDBValue[] = [],
): Promise<DuckDBValue[][]> {
  const result = await connection.run(sql, values);
  return result.getRows();
}

export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
