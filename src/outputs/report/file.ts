import { mkdir, open, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { ConfigError } from "../../errors.ts";
import { diskFailure, syncFolder, writeDurably } from "../../files.ts";
import { reportMessages } from "../messages.ts";
import { GENERATOR } from "./report_page.ts";

/** Where a page says what made it. */
const HEAD = 1_000;

/** Refuses a file that isn't a report of ours before any work is done for it. Resolves to the file itself where the name is a link. @throws ConfigError */
export async function requireOwnFile(path: string): Promise<string> {
  const there = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw unwritable(path, error);
  });
  if (there === undefined) return path;
  if (!there.isFile()) throw new ConfigError(reportMessages.not_a_file({ path, is_folder: there.isDirectory() }));
  if (there.size > 0 && !(await isOurs(path))) throw new ConfigError(reportMessages.foreign_file({ path }));
  return realpath(path);
}

async function isOurs(path: string): Promise<boolean> {
  await using file = await open(path, "r").catch((error: NodeJS.ErrnoException) => {
    throw unwritable(path, error);
  });
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD), 0, HEAD, 0);
  return buffer.toString("utf8", 0, bytesRead).includes(`<meta name="generator" content="${GENERATOR}">`);
}

/** Writes the whole page or nothing: whoever opens the file sees the old one or the new one. @throws ConfigError */
export async function writeWhole(path: string, text: string): Promise<void> {
  const folder = dirname(path);
  const aside = join(folder, `.${basename(path)}.tributary`);
  try {
    await mkdir(folder, { recursive: true });
    // What a killed one left behind is overwritten, and is not followed where it is a link.
    await rm(aside, { force: true });
    await writeDurably(aside, text, 0o666, "wx");
    await rename(aside, path);
  } catch (error) {
    await rm(aside, { force: true }).catch(() => undefined);
    throw unwritable(path, error as NodeJS.ErrnoException);
  }
  await syncFolder(folder).catch(() => undefined);
}

function unwritable(path: string, error: NodeJS.ErrnoException): ConfigError {
  const is_full = diskFailure.full.test(error.code ?? "");
  return new ConfigError(reportMessages.not_writable({ path, reason: error.code ?? error.message, is_full }), error);
}
