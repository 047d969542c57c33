import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

// The copy of a read-only version is read-only: only root could open it to make it durable, or to begin it again.
const script = `
const fs = require("node:fs");
const [from, to, mode] = process.argv.slice(1);
try {
  fs.rmSync(to, { force: true });
  fs.copyFileSync(from, to, fs.constants.COPYFILE_FICLONE);
  fs.chmodSync(to, 0o600);
  const file = fs.openSync(to, "r+");
  fs.fchmodSync(file, parseInt(mode, 8));
  fs.fsyncSync(file);
  fs.closeSync(file);
} catch (error) {
  process.stderr.write(error.message);
  process.exit(1);
}`;

/** By these a terminal, or whoever stops a service, tells every process there is of it. */
const told: readonly unknown[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/**
 * Copies a database file durably, in a process of its own: had ours opened and closed the file that DuckDB has open, the
 * system would drop DuckDB's lock with it (POSIX record locks belong to the process, not to the descriptor).
 * A signal to all, such as Ctrl-C, is for the run to obey, which shows readers what it stored first: a copy that it ended begins again.
 */
export async function copyDatabase(from: string, to: string, mode: number): Promise<void> {
  const { NODE_OPTIONS: _, ...env } = process.env;
  try {
    await run(process.execPath, ["-e", script, from, to, mode.toString(8)], { env });
  } catch (error) {
    if (error instanceof Error && "signal" in error && told.includes(error.signal)) return copyDatabase(from, to, mode);
    const said = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : "";
    throw new Error(said === "" ? "EIO: the process that copies the file was ended before it was done" : said, {
      cause: error,
    });
  }
}
