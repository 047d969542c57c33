import type { Fields, Message } from "./message.ts";
import { generalMessages } from "./messages.ts";

/**
 * Errors by what the caller should do about them. Each message says what was expected, what came and what to do;
 * the underlying error is `cause`, and `exitCode` is the process's.
 */
export class TributaryError extends Error implements Message {
  readonly code: string;
  readonly fields: Fields;
  readonly exitCode: ExitCode;
  constructor({ code, message, fields }: Message, exitCode: ExitCode, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.code = code;
    this.fields = fields;
    this.exitCode = exitCode;
  }
}

/** 0 all succeeded · 1 a stream failed · 2 usage or config · 3 key refused · 4 held by another run · 5 stopped by a limit · 6 destination · 70 bug · 130/143 signal. */
export type ExitCode = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 70 | 130 | 143;

/** The user fixes the configuration or the command line. */
export class ConfigError extends TributaryError {
  constructor(message: Message, cause?: unknown) {
    super(message, 2, cause);
  }
}

/** What `work` returns. What a ConfigError says becomes one more of the faults, so that all of them can be told at once. */
export function noting<T>(faults: Message[], work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const { code, message, fields } = error;
    faults.push({ code, message, fields });
    return undefined;
  }
}

/** @throws ConfigError with a line for each fault, where there are some */
export function refuse(faults: readonly Message[]): void {
  const [first, ...others] = [...Map.groupBy(faults, fault => fault.message).values()].map(([one]) => one!);
  if (first === undefined) return;
  throw new ConfigError(others.length === 0 ? first : generalMessages.several({ faults: [first, ...others] }));
}

/** For commands that have nothing to work with before the first sync; those that only look say so, and that is no failure. */
export function nothingLoaded(wanted: string): ConfigError {
  return new ConfigError(generalMessages.nothing_loaded({ wanted }));
}

/** What cannot go on after a failure: the request alone, its stream, all streams of its company, or the run. */
export type Ends = "request" | "stream" | "company" | "run";

interface FailureKind {
  readonly ends: Ends;
  readonly exitCode: 1 | 2 | 3 | 5;
  readonly advice: string;
}

const saved = "Everything stored so far stays; the next run goes on.";

/** How an API request can fail. */
export type ApiFailure =
  | "unauthorized"
  | "forbidden"
  | "not_found"
  | "invalid"
  | "limited"
  | "unavailable"
  | "malformed"
  | "too_large"
  | "redirected"
  | "unconfirmed"
  | "clock"
  | "another_company"
  | "budget";

/** What follows of each kind, which is decided where the status is known. */
export const failureKinds = {
  /** 401: the key. */
  unauthorized: {
    ends: "company",
    exitCode: 3,
    advice: "The API key was refused: check api.key, and that the key belongs to this base_url.",
  },
  /** 403: this key may not read it. */
  forbidden: {
    ends: "stream",
    exitCode: 1,
    advice: "This key may not read it: use a company-wide key, or exclude the stream.",
  },
  /** 404 with the error envelope. */
  not_found: { ends: "request", exitCode: 1, advice: "It does not exist for this company (any more)." },
  /** Any other 4xx with the error envelope. */
  invalid: {
    ends: "request",
    exitCode: 1,
    advice: "The service does not accept this request: check the stream's settings.",
  },
  /** 429 whose wait is longer than max_wait. */
  limited: { ends: "company", exitCode: 5, advice: `${saved} A longer api.max_wait waits for it.` },
  /** 5xx, 4xx without the error envelope, network, truncated, not JSON: retried until the attempts were used up. */
  unavailable: {
    ends: "request",
    exitCode: 1,
    advice: "The service or the way to it is disturbed: try again later, and check api.base_url and the proxy.",
  },
  /** 2xx that isn't what the documents promise. */
  malformed: {
    ends: "request",
    exitCode: 1,
    advice: "The answer is not what the service's documents promise: check that api.base_url is the service itself.",
  },
  /** Body above the ceiling. */
  too_large: {
    ends: "request",
    exitCode: 1,
    advice: "Exclude the stream, or ask the service's operator for smaller answers.",
  },
  /** Refused: the key goes to one origin. */
  redirected: {
    ends: "request",
    exitCode: 1,
    advice: "Redirects are never followed with the key: set api.base_url to the service's final address.",
  },
  /** A request that must not be repeated got neither data nor a refusal: its effect is unknown. */
  unconfirmed: {
    ends: "request",
    exitCode: 5,
    advice: "Whether the service did it is not known, and it is not asked for again by itself.",
  },
  /** Our clock and the service's are apart by two answers. */
  clock: {
    ends: "company",
    exitCode: 2,
    advice:
      "Set this machine's clock (NTP). If the service's is the wrong one, `api.clock: ignore` dates everything by this machine's.",
  },
  /** A key that came in place of another belongs to another company. */
  another_company: {
    ends: "company",
    exitCode: 2,
    advice: "Give the company its own key.",
  },
  /** --max-requests is used up. */
  budget: { ends: "run", exitCode: 5, advice: saved },
} as const satisfies Record<ApiFailure, FailureKind>;

const nextRun = "The next run tries again; if it stays so, tell the service's operator.";

/** Advice by status of HTTP, where the same request may succeed later, whoever sent the answer. */
export const passingAdvice: ReadonlyMap<number, string> = new Map([
  [408, `The request took too long to reach the service: check this machine's network and the proxy. ${nextRun}`],
  [409, `The service cannot answer this in its present state. ${nextRun}`],
  [421, "The request reached a server of another host: check the host of api.base_url, and the proxy's routes."],
  [423, `The service keeps this locked. ${nextRun}`],
  [425, "The service refuses early data of TLS: switch it off (0-RTT) at the proxy."],
  [430, "The service got too many requests: lower api.requests_per_second or api.max_concurrency."],
]);

/** Advice for a failed request. */
export const adviceFor = (failure: ApiFailure, status: number | undefined): string =>
  (failure === "unavailable" ? passingAdvice.get(status ?? 0) : undefined) ?? failureKinds[failure].advice;

/** A request that did not yield data. `status` is the last HTTP status, `attempts` how many requests were sent. */
export class ApiError extends TributaryError {
  readonly failure: ApiFailure;
  readonly status: number | undefined;
  /** The code of the service's own error. */
  readonly serviceCode: string | undefined;
  readonly requestId: string | undefined;
  readonly path: string;
  readonly attempts: number;
  constructor(
    message: Message,
    facts: {
      failure: ApiFailure;
      path: string;
      status?: number | undefined;
      serviceCode?: string | undefined;
      requestId?: string | undefined;
      attempts?: number;
    },
    cause?: unknown,
  ) {
    super(message, failureKinds[facts.failure].exitCode, cause);
    this.failure = facts.failure;
    this.path = facts.path;
    this.status = facts.status;
    this.serviceCode = facts.serviceCode;
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
  constructor(message: Message, cause?: unknown, passing = false, unconnected?: DestinationError["unconnected"]) {
    super(message, 6, cause);
    this.passing = passing;
    this.unconnected = unconnected;
  }
}

/** A file of one table is lost: what reads that table fails, other streams go on. */
export class LostFileError extends TributaryError {}

/** Another run holds the streams or the file (4), or another program the file (6); the message names the holder and since when. */
export class LockedError extends TributaryError {
  /** The run that has it, as far as the holder said so. */
  readonly runId: string | undefined;
  /** Who has it, in words. */
  readonly holder: string | undefined;

  constructor(
    message: Message,
    { runId, who, exitCode = 4 }: { readonly runId?: string; readonly who?: string; readonly exitCode?: 4 | 6 } = {},
    cause?: unknown,
  ) {
    super(message, exitCode, cause);
    this.runId = runId;
    this.holder = who;
  }
}

/** Stopped on purpose: by a signal (130, 143) or by --max-time (5). Everything stored so far stays. */
export class StoppedError extends TributaryError {
  declare readonly exitCode: 5 | 130 | 143;
  constructor(message: Message, exitCode: 5 | 130 | 143) {
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

/** What a failure ends. */
export function endOf(error: unknown): Ends {
  if (error instanceof ApiError) return failureKinds[error.failure].ends;
  if (error instanceof DestinationError || error instanceof LockedError) return "run";
  return error instanceof TributaryError ? "stream" : "run";
}

/** Whether a request failed by what every other one of its company would meet: it says "later" or "other key", not "this cannot be read". */
export const meetsOthers = ({ failure }: ApiError): boolean =>
  failureKinds[failure].ends === "company" || failureKinds[failure].ends === "run";
