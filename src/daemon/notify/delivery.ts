import { spawn } from "node:child_process";
import { EnvHttpProxyAgent } from "undici";
import type { Clock } from "../../clock.ts";
import type { NotifyTarget } from "../../config/config.ts";
import { ConfigError } from "../../errors.ts";
import type { Log } from "../../logging.ts";
import type { Redactor } from "../../secrets.ts";
import { notifyMessages } from "./messages.ts";
import { bodyOf, type Notification } from "./notification.ts";

/** What a notifier is given; `post` and `run` stand in for the network and for child processes. */
export interface NotifyTools {
  readonly clock: Clock;
  readonly log: Log;
  readonly redact: Redactor;
  /** The commands' programs are found by it; they get hardly any of it. */
  readonly env: NodeJS.ProcessEnv;
  /** Aborted when the daemon ends: what is under way is given up. */
  readonly signal: AbortSignal;
  readonly post?: Post;
  readonly run?: RunCommand;
}

/** Sends notifications to their targets: in order to each, independently of the others. */
export interface Delivery {
  send(notification: Notification, targets: readonly NotifyTarget[]): void;
  /** Resolves when nothing is under way. */
  settle(): Promise<void>;
}

const POST_MS = 10_000;
const COMMAND_MS = 30_000;
/** Pauses after the first and the second of three tries. */
const PAUSES_MS = [5_000, 30_000];
const MAX_STDERR = 500;
/** The longest queue of a target that hangs. */
const MAX_WAITING = 20;

export function createDelivery(tools: NotifyTools): Delivery {
  const { log, redact, env, post = postTo, run = runCommand } = tools;
  const queues = new Map<string, { last: Promise<void>; waiting: number }>();

  async function deliver({ to }: NotifyTarget, place: string, notification: Notification): Promise<void> {
    const failure =
      "command" in to ? await command(to.command, notification) : await posted(to.url, to.format, notification);
    const { occasion } = notification;
    const about = { target: place, title: redact(notification.title) };
    if (failure === undefined) log.info(notifyMessages.delivered(about), { target: place, occasion });
    else log.warn(notifyMessages.not_delivered({ ...about, reason: failure }), { target: place, occasion });
  }

  async function posted(address: string, format: "json" | "slack", about: Notification): Promise<string | undefined> {
    const body = bodyOf(about, format, redact);
    const send = async (limit: AbortSignal) => requireTaken(await post(address, body, limit));
    const end = await trying({ ...tools, ms: POST_MS }, send);
    if (end === undefined) return undefined;
    const failure = wordFor(end.failure);
    return end.tries === 1 ? failure : `${failure} (${end.tries} tries)`;
  }

  async function command(words: readonly string[], about: Notification): Promise<string | undefined> {
    const input = `${bodyOf(about, "json", redact)}\n`;
    const { code, reason, stderr } = await within({ ...tools, ms: COMMAND_MS }, limit => run(words, input, env, limit));
    if (code === 0) return undefined;
    // Redacted before it is cut: part of a secret would not be found.
    const said = redact(stderr).trim().slice(0, MAX_STDERR);
    const end = code === undefined ? `it did not end by itself: ${reason}` : `it ended with exit code ${code}`;
    const advice = reason === "ENOENT" ? "the program was not found; give its whole path" : end;
    return said === "" ? advice : `${advice}, and said: ${said}`;
  }

  return {
    send(notification, targets) {
      for (const [index, target] of targets.entries()) {
        if (!target.on.includes(notification.occasion)) continue;
        const place = placeOf(target, index);
        const queue = queues.get(place) ?? { last: Promise.resolve(), waiting: 0 };
        queues.set(place, queue);
        if (queue.waiting >= MAX_WAITING) {
          log.warn(notifyMessages.left_out({ target: place, waiting: MAX_WAITING }), { target: place });
          continue;
        }
        queue.waiting += 1;
        queue.last = queue.last
          .then(() => deliver(target, place, notification))
          .catch(error =>
            log.warn(notifyMessages.not_sent({ target: place, reason: wordFor(error) }), { target: place }),
          )
          .finally(() => {
            queue.waiting -= 1;
          });
      }
    },
    async settle() {
      await Promise.all([...queues.values()].map(queue => queue.last));
    },
  };
}

/** Up to three tries; how the last one failed. What a person has to change is not tried again. */
export async function trying(
  tools: Parameters<typeof within>[0],
  send: (limit: AbortSignal) => Promise<unknown>,
): Promise<{ readonly failure: unknown; readonly tries: number } | undefined> {
  const { clock, signal } = tools;
  for (let tries = 1; ; tries += 1) {
    try {
      await within(tools, send);
      return undefined;
    } catch (failure) {
      const pause = PAUSES_MS[tries - 1];
      const isFinal = failure instanceof ConfigError || (failure instanceof NotTaken && failure.isFinal);
      if (isFinal || pause === undefined || signal.aborted) return { failure, tries };
    }
    await clock.sleep(PAUSES_MS[tries - 1]!, signal).catch(() => undefined);
  }
}

/** Gives work up after `ms`, or when the daemon ends. */
async function within<T>(
  { clock, signal, ms }: Pick<NotifyTools, "clock" | "signal"> & { readonly ms: number },
  work: (limit: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const done = new AbortController();
  const stop = AbortSignal.any([done.signal, signal]);
  clock.sleep(ms, stop).then(
    () => over.abort(new GivenUp(`no answer within ${ms / 1_000} s`)),
    () => over.abort(new GivenUp("given up, as tributary ends")),
  );
  try {
    return await work(over.signal);
  } finally {
    done.abort();
  }
}

/** A target without its secret: most addresses are secrets from their path on, and commands may carry tokens. */
function placeOf({ to }: NotifyTarget, index: number): string {
  return `notify.targets[${index}] (${"url" in to ? (URL.parse(to.url)?.host ?? "address") : "command"})`;
}

class GivenUp extends Error {}

/** A failure without the address that libraries like to put into their messages. */
function wordFor(error: unknown): string {
  if (error instanceof GivenUp || error instanceof NotTaken) return error.message;
  const { code, name } = error as NodeJS.ErrnoException;
  return `no answer (${code ?? name ?? "unknown error"})`;
}

class NotTaken extends Error {
  readonly isFinal: boolean;

  constructor(status: number) {
    super(answered(status));
    this.isFinal = status < 500 && status !== 429 && status !== 408;
  }
}

export function requireTaken(status: number): void {
  if (status < 200 || status > 299) throw new NotTaken(status);
}

function answered(status: number): string {
  if (status >= 300 && status < 400) return `it answered ${status}, a redirect; configure the address it leads to`;
  if (status === 404 || status === 410) return `it answered ${status}; the address is no longer valid`;
  return `it answered ${status}`;
}

/** Sends one POST of JSON and returns the answer's status. Redirects are not followed. */
type Post = (address: string, body: string, signal: AbortSignal) => Promise<number>;

const MAX_ANSWER_BYTES = 64 * 1024;

/** Sends a POST, through the proxy that the environment names, over a connection of its own: there may be weeks between two. */
export async function postTo(
  address: string,
  body: string,
  signal: AbortSignal,
  type = "application/json",
): Promise<number> {
  const url = new URL(address);
  const dispatcher = new EnvHttpProxyAgent({ allowH2: false });
  try {
    const login = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    const answer = await dispatcher.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: "POST",
      headers: {
        "content-type": type,
        "user-agent": "tributary",
        ...(login === ":" ? {} : { authorization: `Basic ${Buffer.from(login).toString("base64")}` }),
      },
      body,
      signal,
    });
    await answer.body.dump({ limit: MAX_ANSWER_BYTES, signal });
    return answer.statusCode;
  } finally {
    await dispatcher.destroy();
  }
}

/** How a command ended: its exit code, or why it has none; and the beginning of what it said on stderr. */
interface CommandEnd {
  readonly code: number | undefined;
  readonly reason: string | undefined;
  readonly stderr: string;
}

/** Runs a program without a shell, `input` on its standard input. An aborted signal ends it. */
type RunCommand = (
  command: readonly string[],
  input: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
) => Promise<CommandEnd>;

/** The environment variables that a command gets: none that could hold a key. */
const passedOn = ["PATH", "HOME", "LANG", "TZ", "TMPDIR", "SystemRoot"];

const KEPT_STDERR = 16_384;
/** From SIGTERM to SIGKILL. */
const GRACE_MS = 1_000;

const runCommand: RunCommand = ([program = "", ...parameters], input, env, signal) =>
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
      if (stderr.length < KEPT_STDERR) stderr += piece;
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
