import { spawn } from "node:child_process";

/** How a command ended: its exit code, or why it has none; and the beginning of what it said on stderr. */
export interface CommandEnd {
  readonly code: number | undefined;
  readonly reason: string | undefined;
  readonly stderr: string;
}

/** Runs a program without a shell, `input` on its standard input. An aborted signal ends it. */
export type RunCommand = (
  command: readonly string[],
  input: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
) => Promise<CommandEnd>;

/** The environment variables that a command gets: none that could hold a key. */
const passedOn = ["PATH", "HOME", "LANG", "TZ", "TMPDIR", "SystemRoot"];

const MAX_STDERR = 16_384;
/** From SIGTERM to SIGKILL. */
const GRACE_MS = 1_000;

export const runCommand: RunCommand = ([program = "", ...parameters], input, env, signal) =>
  new Promise(resolve => {
    const passed = Object.fromEntries(passedOn.flatMap(name => (env[name] === undefined ? [] : [[name, env[name]]])));
    // A process group of its own, so that the program's children are ended too.
    const detached = process.platform !== "win32";
    const child = spawn(program, parameters, {
      env: passed,
      shell: false,
      detached,
      stdio: ["pipe", "ignore", "pipe"],
    });
    let stderr = "";
    let last: NodeJS.Timeout | undefined;

    const kill = (how: NodeJS.Signals): void => {
      try {
        if (detached && child.pid !== undefined) process.kill(-child.pid, how);
        else child.kill(how);
      } catch {
        // The process has ended in the meantime.
      }
    };
    const end = (code: number | undefined, reason: string | undefined): void => {
      signal.removeEventListener("abort", abort);
      child.stderr.destroy();
      resolve({ code, reason, stderr });
    };
    const abort = (): void => {
      kill("SIGTERM");
      last = setTimeout(() => {
        kill("SIGKILL");
        end(undefined, "it was ended");
      }, GRACE_MS);
    };

    child.stderr.setEncoding("utf8").on("data", (piece: string) => {
      if (stderr.length < MAX_STDERR) stderr += piece;
    });
    // A program that does not read its input may end before it is written.
    child.stdin.on("error", () => undefined).end(input);
    child.on("error", (error: NodeJS.ErrnoException) => end(undefined, error.code ?? error.name));
    // A background process of a successful program may keep stderr open, so that `close` never comes.
    child.on("exit", code => {
      if (code === 0) end(0, undefined);
    });
    child.on("close", (code, killedBy) => {
      clearTimeout(last);
      end(code ?? undefined, killedBy === null ? undefined : `ended by ${killedBy}`);
    });
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
  });
