/**
 * Errors by what the caller should do about them. Each message says what was expected, what came and what to do;
 * facts are fields, the underlying error is `cause`, and `exitCode` is the process's.
 */
export class TributaryError extends Error {
  readonly exitCode: ExitCode;
  constructor(message: string, exitCode: ExitCode, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.exitCode = exitCode;
  }
}

/** 0 all succeeded · 1 a stream failed · 2 usage or config · 3 key refused · 4 held by another run · 5 stopped by a limit · 6 destination · 70 bug · 130/143 signal. */
export type ExitCode = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 70 | 130 | 143;

/** The user fixes the configuration or the command line. */
export class ConfigError extends TributaryError {
  constructor(message: string, cause?: unknown) {
    super(message, 2, cause);
  }
}

/** What `work` returns. What a ConfigError says becomes one more of the faults, so that all of them can be told at once. */
export function noting<T>(faults: string[], work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    faults.push(error.message);
    return undefined;
  }
}

/** @throws ConfigError with a line for each fault, where there are some */
export function refuse(faults: readonly string[]): void {
  if (faults.length > 0) throw new ConfigError([...new Set(faults)].join("\n"));
}

/** For commands that have nothing to work with before the first sync; those that only look say so, and that is no failure. */
export function nothingLoaded(wanted: string): ConfigError {
  return new ConfigError(`Expected ${wanted}, but nothing has been loaded yet: run \`tributary sync\` first.`);
}

/** What kind of failure an API request ended with, decided where the status is known. */
export type ApiFailure =
  | "unauthorized" // 401: the key
  | "forbidden" // 403: this key may not read it
  | "not_found" // 404 with the error envelope
  | "invalid" // any other 4xx
  | "limited" // 429 whose wait is longer than max_wait
  | "unavailable" // 5xx, network, truncated, not JSON: retried until the attempts were used up
  | "malformed" // 2xx that isn't what the documents promise
  | "too_large" // body above the ceiling
  | "redirected" // refused: the key goes to one origin
  | "budget"; // --max-requests is used up

/** A request that did not yield data. `status` is the last HTTP status, `attempts` how many requests were sent. */
export class ApiError extends TributaryError {
  readonly failure: ApiFailure;
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly requestId: string | undefined;
  readonly path: string;
  readonly attempts: number;
  constructor(
    message: string,
    facts: { failure: ApiFailure; path: string; status?: number; code?: string; requestId?: string; attempts?: number },
    cause?: unknown,
  ) {
    super(
      message,
      facts.failure === "unauthorized" ? 3 : facts.failure === "limited" || facts.failure === "budget" ? 5 : 1,
      cause,
    );
    this.failure = facts.failure;
    this.path = facts.path;
    this.status = facts.status;
    this.code = facts.code;
    this.requestId = facts.requestId;
    this.attempts = facts.attempts ?? 1;
  }
}

/** The destination is unreachable, full, without rights, not ours (6), or in another run's hands (4). */
export class DestinationError extends TributaryError {
  /** Whether it may pass by itself within a minute or two: a connection that was lost, a server that starts. */
  readonly passing: boolean;
  /** Why no connection came about; undefined where there was one. */
  readonly unconnected: "unknown_host" | "no_answer" | undefined;
  constructor(message: string, cause?: unknown, passing = false, unconnected?: DestinationError["unconnected"]) {
    super(message, 6, cause);
    this.passing = passing;
    this.unconnected = unconnected;
  }
}

/** Another run holds the streams or the file; the message names the holder and since when. */
export class LockedError extends TributaryError {
  /** The run that has it, as far as the holder said so. */
  readonly runId: string | undefined;
  /** Who has it, in words. */
  readonly holder: string | undefined;

  constructor(
    message: string,
    { runId, who }: { readonly runId?: string; readonly who?: string } = {},
    cause?: unknown,
  ) {
    super(message, 4, cause);
    this.runId = runId;
    this.holder = who;
  }
}

/** Stopped on purpose: by a signal (130, 143) or by --max-time (5). Everything stored so far stays. */
export class StoppedError extends TributaryError {
  declare readonly exitCode: 5 | 130 | 143;
  constructor(message: string, exitCode: 5 | 130 | 143) {
    super(message, exitCode);
  }
}

/**
 * Whether a run's end is a failure that people should hear of, by its exit code. Held by another run (4), stopped by a limit (5)
 * or by a signal (130, 143): the data is as good as it was, and if that goes on it becomes late.
 */
export function isFailure(exitCode: number): boolean {
  return ![0, 4, 5, 130, 143].includes(exitCode);
}
