import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

// The copy of a read-only version is read-only: only root could open it to make it durable.
const script = `
const fs = require("node:fs");
const [from, to, mode] = process.argv.slice(1);
try {
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

/**
 * Copies a database file durably, in a process of its own: had ours opened and closed the file that DuckDB has open, the
 * system would drop DuckDB's lock with it (POSIX record locks belong to the process, not to the descriptor).
 */
export async function copyDatabase(from: string, to: string, mode: number): Promise<void> {
  const { NODE_OPTIONS: _, ...env } = process.env;
  try {
    await run(process.execPath, ["-e", script, from, to, mode.toString(8)], { env });
  } catch (error) {
    const told = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : "";
    throw new Error(told === "" ? "EIO: the process that copies the file was ended before it was done" : told, {
      cause: error,
    });
  }
}
