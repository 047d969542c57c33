import type { ByteBudget, Share } from "../byte_budget.ts";
import { BodyTooLargeError } from "./body.ts";

/** One answer as it came over the wire. Header names are lower case. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  readonly latencyMs: number;
  /** What its body and what is made of it take of the memory that all share; undefined: too little to count. */
  readonly share: Share | undefined;
}

/** The request was given up because of a limit of ours. */
export class TimeLimitError extends Error {
  override readonly name = "TimeLimitError";
}

interface Controller {
  abort(reason: Error): void;
  pause(): void;
  resume(): void;
}

/** What a dispatcher calls while a request lasts (undici's dispatch handler, as far as it is used). */
export interface ExchangeHandler {
  onRequestStart(controller: Controller): void;
  onResponseStart(controller: Controller, status: number, headers: WireAnswer["headers"]): void;
  onResponseData(controller: Controller, chunk: Buffer): void;
  onResponseEnd(): void;
  onResponseError(controller: Controller, error: Error): void;
}

/** Sends one request to the origin and calls the handler; never follows a redirect. */
export type Dispatch = (path: string, headers: Record<string, string>, handler: ExchangeHandler) => void;

/** Limits of one exchange: `timeoutMs` to connect, to the headers and between two pieces of the body, 4 × as much for the body; `maxBytes` on the wire. `memory` has room for a large body before it is read. */
export interface ExchangeLimits {
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly memory: ByteBudget;
  readonly now: () => number;
  readonly signal: AbortSignal | undefined;
  /** Called when the request is about to be written: from then on it may reach the server. */
  readonly onStart?: () => void;
}

/** Pieces that are kept as they came: each is a view of 200 bytes, which keeps what it was read into. */
const CHUNKS = 256;

/** Bodies up to this size are read as they come: what is in flight of them is little beside everything else. */
const UNCOUNTED = 512 * 1024;
/** Text of JSON, its values and their bytes as rows: each byte of a body is in memory so many times, mostly. */
const TIMES_HELD = 3;
/** How many times larger JSON is that was compressed. */
const PACKED = 8;
/** Taken for the size of a body of more than what is not counted, where the answer doesn't say it. */
const UNKNOWN = 8 * 1024 * 1024;

/** One request, one whole answer. Rejects with the signal's reason, BodyTooLargeError, TimeLimitError or the network's error. */
export function exchange(
  dispatch: Dispatch,
  path: string,
  headers: Record<string, string>,
  limits: ExchangeLimits,
): Promise<WireAnswer> {
  limits.signal?.throwIfAborted();
  const own = new Exchange(limits);
  try {
    dispatch(path, headers, own);
  } catch (error) {
    own.fail(error);
  }
  return own.answer;
}

class Exchange implements ExchangeHandler {
  readonly #limits: ExchangeLimits;
  readonly #pending = Promise.withResolvers<WireAnswer>();
  readonly answer = this.#pending.promise;
  readonly #begun: number;
  readonly #body = new Body();
  #head: Omit<WireAnswer, "body" | "share"> | undefined;
  #controller: Controller | undefined;
  #share: Share | undefined;
  /** Aborts the request for memory; undefined where none was made. */
  #asking: AbortController | undefined;
  #over = false;
  // Timers of our own: undici's may come a second late.
  #idle: NodeJS.Timeout | undefined;
  #whole: NodeJS.Timeout | undefined;

  constructor(limits: ExchangeLimits) {
    this.#limits = limits;
    this.#begun = limits.now();
    limits.signal?.addEventListener("abort", this.#onAbort, { once: true });
    this.#expect("no connection");
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    if (this.#over) return controller.abort(new Error("given up"));
    this.#limits.onStart?.();
    this.#expect("no headers");
  }

  onResponseStart(controller: Controller, status: number, headers: WireAnswer["headers"]): void {
    if (status < 200 || this.#over) return;
    const { now, maxBytes } = this.#limits;
    this.#head = { status, headers, latencyMs: now() - this.#begun };
    const length = Number(headers["content-length"]);
    if (length > maxBytes) return this.#giveUp(new BodyTooLargeError());
    this.#expectBody();
    const unpacked = isPacked(headers) ? PACKED * length : length;
    if (unpacked > UNCOUNTED) this.#makeRoom(controller, unpacked);
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    if (this.#over) return;
    this.#body.add(chunk);
    const { size } = this.#body;
    if (size > this.#limits.maxBytes) this.#giveUp(new BodyTooLargeError());
    else if (this.#asking === undefined && size > UNCOUNTED) this.#makeRoom(controller, UNKNOWN);
    else this.#idle?.refresh();
  }

  onResponseEnd(): void {
    const head = this.#head;
    if (head === undefined) return this.fail(new Error("the answer has no status"));
    this.#end();
    this.#asking?.abort();
    // A connection that was closed brings what is left of a body without waiting for room.
    if (this.#asking !== undefined) this.#share ??= this.#limits.memory.lend(0);
    // Packed ones are about as large as was thought.
    if (!isPacked(head.headers)) this.#share?.resize(TIMES_HELD * this.#body.size);
    this.#pending.resolve({ ...head, body: this.#body.joined(), share: this.#share });
  }

  onResponseError(_controller: Controller, error: Error): void {
    this.fail(error);
  }

  fail(reason: unknown): void {
    this.#end();
    this.#asking?.abort();
    this.#share?.release();
    this.#pending.reject(reason);
  }

  #giveUp(reason: unknown): void {
    this.fail(reason);
    this.#controller?.abort(new Error("given up"));
  }

  #onAbort = (): void => this.#giveUp(this.#limits.signal?.reason);

  #end(): void {
    this.#over = true;
    clearTimeout(this.#idle);
    clearTimeout(this.#whole);
    this.#limits.signal?.removeEventListener("abort", this.#onAbort);
  }

  #expect(what: string): void {
    clearTimeout(this.#idle);
    this.#idle = this.#timeout(what, this.#limits.timeoutMs);
  }

  #expectBody(): void {
    this.#expect("no further piece of the body");
    this.#whole = this.#timeout("no end of the body", 4 * this.#limits.timeoutMs);
  }

  #timeout(what: string, ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#giveUp(new TimeLimitError(`${what} within ${ms} ms`)), ms);
  }

  /** Nothing more is read until there is room for as much. */
  #makeRoom(controller: Controller, bytes: number): void {
    const { memory, maxBytes } = this.#limits;
    this.#asking = new AbortController();
    controller.pause();
    clearTimeout(this.#idle);
    clearTimeout(this.#whole);
    memory.take(TIMES_HELD * Math.min(bytes, maxBytes), this.#asking.signal).then(
      given => {
        if (this.#over) return given.release();
        this.#share = given;
        this.#expectBody();
        controller.resume();
      },
      () => undefined,
    );
  }
}

class Body {
  size = 0;
  #chunks: Buffer[] = [];
  readonly #joined: Buffer[] = [];

  add(chunk: Buffer): void {
    this.size += chunk.length;
    this.#chunks.push(chunk);
    if (this.#chunks.length < CHUNKS) return;
    this.#joined.push(Buffer.concat(this.#chunks));
    this.#chunks = [];
  }

  joined(): Buffer {
    if (this.#joined.length === 0 && this.#chunks.length === 1) return this.#chunks[0]!;
    return Buffer.concat([...this.#joined, ...this.#chunks], this.size);
  }
}

const isPacked = ({ "content-encoding": encoding }: WireAnswer["headers"]): boolean =>
  encoding !== undefined && encoding !== "identity";
