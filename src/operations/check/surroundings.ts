import { constants } from "node:fs";
import { access, readFile, stat } from "node:fs/promises";
import { createServer } from "node:net";
import { delimiter, dirname, join, resolve } from "node:path";
import type { ArchiveConfig, Config, NotifyTarget, ServerConfig } from "../../config/config.ts";
import { isLoopback, origin, refuseOpenDoor } from "../../config/listen.ts";
import { ENV_FILE, type LoadedConfig } from "../../config/load.ts";
import { ConfigError, TributaryError } from "../../errors.ts";
import { codeOf, entryAt } from "../../files.ts";
import { uncoded } from "../../message.ts";
import { type CheckLine, failure, ok, warning } from "./line.ts";

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
  const code = await lockedOut(path);
  if (code === undefined) return ok(name, uncoded(`a run can keep its answers in ${path}`));
  const message = `${path} cannot be written (${code}), so a run`;
  const advice = "See to its rights, or name another folder in archive.path.";
  if (onError === "warn") return warning(name, uncoded(`${`${message} goes on without the archive`}\n${advice}`));
  return failure(name, new TributaryError(uncoded(`${message} fails with every stream.\n${advice}`), 1));
}

/** The code of what keeps a run from making files there, or the folders that lead there. */
async function lockedOut(path: string): Promise<string | undefined> {
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
  const where = origin(server.host, server.port);
  const seen =
    server.token !== undefined ? "with the token" : server.login !== undefined ? "with the login" : undefined;
  const who = seen ?? "for whoever is on this machine";
  const code = await tryToListen(server);
  if (code === undefined) return ok(name, uncoded(`\`tributary schedule\` can serve it at ${where}, ${who}`));
  if (code === "EADDRINUSE")
    return ok(
      name,
      uncoded(`${where} is in use: by \`tributary schedule\`, if it is running, else choose another port`),
    );
  return warning(
    name,
    uncoded(
      `${`\`tributary schedule\` can't listen at ${where} (${code})`}\n${"Name an address of this machine in server.listen, and a port above 1023 unless it runs with the right to lower ones."}`,
    ),
  );
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
  const way = `POST http://${origin(host, port)}/hooks/<secret> asks \`tributary schedule\` for a run; no other command listens`;
  return isLoopback(host)
    ? ok("hooks", uncoded(`${way}. Only this machine reaches that address: the service needs a proxy in front of it`))
    : ok("hooks", uncoded(way));
}

async function notifyLine(nth: number, { to, on }: NotifyTarget, programs: Programs): Promise<CheckLine> {
  const name = `notify ${nth}`;
  const when = `on ${on.join(", ")}`;
  if ("url" in to) {
    const { protocol, host, hostname } = new URL(to.url);
    const message = `POST (${to.format}) to ${host} ${when}; nothing was sent to try it`;
    if (protocol === "https:" || isLoopback(hostname.replace(/^\[|\]$/g, ""))) return ok(name, uncoded(message));
    return warning(
      name,
      uncoded(`${`${message}, and it goes there unencrypted`}\n${"Use an https:// address where there is one."}`),
    );
  }
  const [program = ""] = to.command;
  const found = await findProgram(program, programs);
  if (found !== undefined) return ok(name, uncoded(`${found} ${when}; it was not started to try it`));
  return failure(
    name,
    new ConfigError(
      uncoded(
        `There is no program ${program} that may be run. Give its full path in notify.targets, and make it executable (chmod +x).`,
      ),
    ),
  );
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
    const rights = (found.mode & 0o777).toString(8);
    yield warning(
      "secrets",
      uncoded(
        `${`${path} holds a secret in plain, and others on this machine may read it (mode ${rights})`}\n${`chmod 600 ${path}, or take the secret from a variable or a file that only this user reads.`}`,
      ),
    );
  }
}
