import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { type CliContext, createContext, type Surface } from "../../src/cli/invocation/context.ts";
import { reportFailure } from "../../src/cli/invocation/failure.ts";
import { runCommand } from "../../src/cli/program.ts";
import { systemClock } from "../../src/clock.ts";
import type { ExitCode } from "../../src/errors.ts";
import { program, variables } from "../support/program.ts";

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Where a command runs: its folder, its variables (the test's own never), options of node before the script. */
export interface Place {
  /** The sources, where the built command won't do. */
  readonly main?: string;
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly node?: readonly string[];
  /** Another user of the system, where the test runs as root. */
  readonly uid?: number;
  /** In a process of its own, where the test is about exit codes, pipes or memory. */
  readonly spawned?: boolean;
}

export function emptyFolder(): string {
  return mkdtempSync(join(tmpdir(), "cli-"));
}

/** Starts the command with no terminal and nothing to read. */
export function start(args: readonly string[], { cwd, env = {}, node = [], uid, main = program }: Place) {
  return spawn(process.execPath, [...node, main, ...args], {
    cwd,
    env: { ...variables, ...env },
    ...(uid === undefined ? {} : { uid, gid: uid }),
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** A context whose output is kept; nobody sits at it. */
export function deafContext(surface: Pick<Surface, "env" | "cwd"> & Partial<Surface>) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  // Read from the start: a full pipe would hold up the command.
  const output = Promise.all([text(stdout), text(stderr)]);
  let code: ExitCode = 0;
  const deaf = () => () => undefined;
  const context: CliContext = createContext({
    ...({ stdin, stdout, stderr } as unknown as Pick<Surface, "stdin" | "stdout" | "stderr">),
    ...{ clock: systemClock, onSignal: deaf, onHangup: deaf, onStray: deaf },
    exit: wanted => {
      code = wanted;
    },
    leave: () => {
      throw new Error("left");
    },
    ...surface,
  });
  const written = async () => {
    stdout.end();
    stderr.end();
    const [printed, logged] = await output;
    return { stdout: printed, stderr: logged };
  };
  return { context, written, code: () => code };
}

/** Runs a command in this process on a make-believe terminal that types keys once each question stands there. */
export async function atTerminal(
  args: readonly string[],
  place: Pick<Surface, "env" | "cwd">,
  typed: readonly (readonly [question: string, keys: string])[],
): Promise<Ended> {
  const [stdin, stderr] = [new PassThrough(), new PassThrough()];
  // A prompt pipes into its screen, which the process's own streams survive.
  Object.assign(stderr, { end: () => stderr });
  Object.assign(stdin, { isTTY: true, setRawMode: () => stdin });
  const waiting = [...typed];
  let screen = "";
  stderr.on("data", (chunk: Buffer) => {
    screen += chunk.toString();
    const next = waiting[0];
    if (next === undefined || !screen.includes(next[0])) return;
    waiting.shift();
    screen = "";
    setImmediate(() => stdin.write(next[1]));
  });
  const ended = await inProcess(args, { ...place, ...({ stdin, stderr } as unknown as Partial<Surface>) });
  if (waiting.length > 0) throw new Error(`${args.join(" ")} did not ask: ${waiting[0]![0]}`);
  return ended;
}

/** Runs a command to its end in this process, in a tenth of the time that one of its own takes. */
export async function inProcess(
  args: readonly string[],
  place: Pick<Surface, "env" | "cwd"> & Partial<Surface>,
): Promise<Ended> {
  const stdin = new PassThrough().end() as unknown as NodeJS.ReadStream;
  const { context, written, code } = deafContext({ stdin, ...place });
  let ended: ExitCode | undefined;
  try {
    await runCommand(args, context);
  } catch (error) {
    ended = reportFailure(error, args, context);
  }
  return { code: ended ?? code(), ...(await written()) };
}

/** Variables that Node and packages read from the process itself. */
const READ_BY_PACKAGES = /^(PG|NODE_|TZ$|HOME$|SSL_|https?_proxy$|no_proxy$)/i;

/** A folder belongs to a process: of commands that run in this one each waits for the one before. */
let last: Promise<unknown> = Promise.resolve();

/** Runs the command to its end: in this process, which takes a third of the CPU, where that makes no difference. */
export async function tributary(args: readonly string[], place: Place): Promise<Ended> {
  const { main, node, uid, spawned = false, cwd, env = {} } = place;
  const isOwn = spawned || [main, node, uid].some(each => each !== undefined);
  if (isOwn || Object.keys(env).some(name => READ_BY_PACKAGES.test(name))) return ofItsOwn(args, place);
  const ended = last.then(() => within(cwd, () => inProcess(args, { cwd, env: { ...variables, ...env } })));
  last = ended.catch(() => undefined);
  return ended;
}

async function within<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const before = process.cwd();
  process.chdir(folder);
  try {
    return await work();
  } finally {
    process.chdir(before);
  }
}

async function ofItsOwn(args: readonly string[], place: Place): Promise<Ended> {
  const child = start(args, place);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code: code as number | null, stdout, stderr };
}
