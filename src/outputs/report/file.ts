import { open, realpath, stat } from "node:fs/promises";
import { ConfigError } from "../../errors.ts";
import { diskFailure, replaceFile } from "../../files.ts";
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

/** @throws ConfigError where the page cannot be written; the one before stays */
export async function writePage(path: string, text: string): Promise<void> {
  await replaceFile(path, text).catch((error: NodeJS.ErrnoException) => {
    throw unwritable(path, error);
  });
}

function unwritable(path: string, error: NodeJS.ErrnoException): ConfigError {
  const is_full = diskFailure.full.test(error.code ?? "");
  return new ConfigError(reportMessages.not_writable({ path, reason: error.code ?? error.message, is_full }), error);
}
