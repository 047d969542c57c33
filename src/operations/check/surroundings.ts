import { constants } from "node:fs";
import { access, readFile, stat } from "node:fs/promises";
import { createServer } from "node:net";
import { delimiter, dirname, join, resolve } from "node:path";
import type { ArchiveConfig, Config, NotifyTarget, ServerConfig } from "../../config/config.ts";
import { isLoopback, origin, refuseOpenDoor } from "../../config/listen.ts";
import { ENV_FILE, type LoadedConfig } from "../../config/load.ts";
import { ConfigError, TributaryError } from "../../errors.ts";
import { codeOf, entryAt } from "../../files.ts";
import { type CheckLine, failure, ok, warning } from "./line.ts";
import { checkMessages } from "./messages.ts";

export interface Programs {
  readonly path: string;
  readonly cwd: string;
}

/** What is needed of the machine: the archive's folder, the daemon's address, the programs that notifications start. Nothing is written or sent. */
export async function* checkSurroundings(config: Config, programs: Programs): AsyncGenerator<CheckLine> {
  const { archive, server, hooks, notify } = config;
  if (archive !== undefined) yield await archiveLine(archive);
  yield await serverLine(server);
  if (hooks !== undefined) yield hooksLine(server);
  for (const [index, target] of notify.targets.entries()) yield await notifyLine(index + 1, target, programs);
}

async function archiveLine({ path, onError }: ArchiveConfig): Promise<CheckLine> {
  const name = "archive";
  const reason = await lockedOut(path);
  if (reason === undefined) return ok(name, checkMessages.archive({ path }));
  const message = checkMessages.archive_not_writable({ path, reason, on_error: onError });
  return onError === "warn" ? warning(name, message) : failure(name, new TributaryError(message, 1));
}

/** The code of what keeps a run from making files there, or the folders that lead there. */
export async function lockedOut(path: string): Promise<string | undefined> {
  try {
    if ((await entryAt(path)) === undefined) return await lockedOut(dirname(path));
    if (!(await stat(path)).isDirectory()) return "ENOTDIR";
    await access(path, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return codeOf(error) ?? String(error);
  }
}

async function serverLine(server: ServerConfig): Promise<CheckLine> {
  const name = "status page";
  try {
    refuseOpenDoor(server, server);
  } catch (error) {
    return failure(name, error);
  }
  const address = origin(server.host, server.port);
  const by = server.token !== undefined ? "token" : server.login !== undefined ? "login" : undefined;
  const reason = await tryToListen(server);
  if (reason === undefined) return ok(name, checkMessages.page({ address, with: by }));
  if (reason === "EADDRINUSE") return ok(name, checkMessages.page_address_in_use({ address }));
  return warning(name, checkMessages.page_address_refused({ address, reason }));
}

/** The code of what keeps a program from listening there. */
function tryToListen({ host, port }: ServerConfig): Promise<string | undefined> {
  const server = createServer();
  return new Promise(done => {
    server.once("error", (error: NodeJS.ErrnoException) => done(error.code ?? error.message));
    server.listen(port, host, () => server.close(() => done(undefined)));
  });
}

function hooksLine({ host, port }: ServerConfig): CheckLine {
  return ok("hooks", checkMessages.hooks({ address: origin(host, port), local: isLoopback(host) }));
}

async function notifyLine(nth: number, { to, on }: NotifyTarget, programs: Programs): Promise<CheckLine> {
  const name = `notify ${nth}`;
  if ("url" in to) {
    const { protocol, host, hostname } = new URL(to.url);
    const target = { format: to.format, host, on };
    return protocol === "https:" || isLoopback(hostname.replace(/^\[|\]$/g, ""))
      ? ok(name, checkMessages.notify_address(target))
      : warning(name, checkMessages.notify_unencrypted(target));
  }
  const [program = ""] = to.command;
  const file = await findProgram(program, programs);
  return file === undefined
    ? failure(name, new ConfigError(checkMessages.program_not_found({ program })))
    : ok(name, checkMessages.notify_program({ file, on }));
}

async function findProgram(program: string, { path, cwd }: Programs): Promise<string | undefined> {
  const folders = /[/\\]/.test(program) ? [cwd] : path.split(delimiter);
  for (const folder of folders) {
    const file = /[/\\]/.test(program) ? resolve(folder, program) : join(folder, program);
    const runs = await access(file, constants.X_OK).then(
      async () => (await stat(file)).isFile(),
      () => false,
    );
    if (runs) return file;
  }
  return undefined;
}

/** Shorter secrets may occur in a file by chance. */
const SHORTEST = 6;

/** Whether others may read a secret: written into the configuration itself, or into a `.env` beside it. */
export async function* checkExposure({
  file,
  secrets,
}: Pick<LoadedConfig, "file" | "secrets">): AsyncGenerator<CheckLine> {
  for (const path of [file, join(dirname(file), ENV_FILE)]) {
    const found = await stat(path).catch(() => undefined);
    // Rights on Windows are not told by these bits.
    if (found === undefined || (found.mode & 0o044) === 0 || process.platform === "win32") continue;
    const text = await readFile(path, "utf8").catch(() => "");
    if (!secrets.some(secret => secret.length >= SHORTEST && text.includes(secret))) continue;
    const mode = (found.mode & 0o777).toString(8);
    yield warning("secrets", checkMessages.secret_readable({ path, mode }));
  }
}
