import { setImmediate as nextTurn } from "node:timers/promises";
import type { Share } from "../byte_budget.ts";
import type { ApiError, ApiFailure } from "../errors.ts";
import type { Answer, Api, ApiSettings, ApiStats, GetOptions, Method, Query } from "./api.ts";
import { acceptEncoding, BodyTooLargeError } from "./body.ts";
import { connect } from "./connection.ts";
import { undocumentedIn } from "./envelope.ts";
import { type Dispatch, exchange, type WireAnswer } from "./exchange.ts";
import { apiError, BarredError, BudgetSpentError, broken, tooLong } from "./fault.ts";
import { UsedKey, withoutKey } from "./key.ts";
import { elsewhere } from "./lasting_fault.ts";
import { buildQuery, kindOf } from "./path.ts";
import { type Fault, judge, unpacked, type Verdict } from "./response_verdict.ts";
import { backoff, limitedWait, maxAttempts } from "./retry.ts";
import { SentRequests } from "./sent_requests.ts";
import { ServiceClock } from "./service_clock.ts";

const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** Pages of several streams, and the next one of each, are in memory at once. */
const PAGE_SHARE = 16;

/** A client that sends the key to `baseUrl`'s origin and nowhere else. */
export const createApi = (settings: ApiSettings): Api => new Client(settings);

class Client implements Api {
  readonly settings: ApiSettings;
  readonly base: URL;
  /** Of every path: what `baseUrl` has of one, and the version. */
  readonly prefix: string;
  readonly origin: ReturnType<typeof connect>;
  readonly stats: Stats;
  readonly sent: SentRequests;
  readonly maxBodyBytes: number;
  readonly pageBytes: number;
  /** Whether the service has answered with data. Until then what no attempt mends is the configuration's fault, later a disturbance. */
  accepted = false;
  /** Why nothing is sent any more, once the service wants a pause that nobody here waits for. */
  barred: string | undefined;
  readonly key: UsedKey;
  hasNamedUndocumented = false;

  constructor(settings: ApiSettings) {
    const { baseUrl, limit, limits, clock, listeners } = settings;
    this.settings = settings;
    this.key = new UsedKey(settings, key => ({
      get: (path, query, options = {}) => new Call(this, path, query, options, { key }).answer(),
    }));
    this.stats = new Stats(settings.serviceClock);
    this.base = new URL(baseUrl);
    this.prefix = `${this.base.pathname.replace(/(?<!\/)\/+$/, "")}/api/v1`;
    // Twice as many connections as requests: one whose answer has just ended takes the next only a turn of the loop later, 2 ms.
    this.origin = connect(this.base, limit.state.maximum * 2, limits.timeoutMs);
    this.sent = new SentRequests(clock, listeners);
    this.maxBodyBytes = limits.maxBodyBytes ?? MAX_BODY_BYTES;
    this.pageBytes = Math.min(this.maxBodyBytes, limit.memory.bytes / PAGE_SHARE);
  }

  async get(path: string, query: Query, options: GetOptions = {}): Promise<Answer> {
    return new Call(this, path, query, options).answer();
  }

  async post(path: string, body: object, options: GetOptions = {}): Promise<Answer> {
    return new Call(this, path, {}, options, { body: JSON.stringify(body) }).answer();
  }

  get left(): number {
    return Math.max(0, (this.settings.limits.maxRequests ?? Number.POSITIVE_INFINITY) - this.stats.requests);
  }

  unanswered = () => this.sent.unanswered();

  close = () => this.origin.destroy();
}

class Stats implements ApiStats {
  requests = 0;
  retries = 0;
  limited = 0;
  bytes = 0;
  readonly failures: Partial<Record<ApiFailure, number>> = {};
  retryWaitMs = 0;
  limitedWaitMs = 0;
  readonly clock: ServiceClock;

  constructor(serviceClock: ApiSettings["serviceClock"]) {
    this.clock = new ServiceClock(serviceClock);
  }
}

/** What is sent besides the path; `key`: one that is not admitted yet, in place of the client's. */
interface Sending {
  readonly body?: string;
  readonly key?: string;
}

/** One GET, or POST: requests are sent for it until one is answered, or no further one would help. */
class Call {
  readonly #client: Client;
  readonly #path: string;
  readonly #query: Query;
  readonly #options: GetOptions;
  readonly #body: string | undefined;
  readonly #candidate: string | undefined;
  readonly #method: Method;
  readonly #target: string;
  readonly #maxBytes: number;
  #requests = 0;
  #failed = 0;
  /** 429s, and what they asked to wait for. */
  readonly #limited = { count: 0, waitMs: 0, totalMs: 0 };
  #refreshed: boolean;
  /** A 401 without the service's envelope came, which a proxy may have sent: a second one counts. */
  #isDoubted = false;
  /** Whether the last request may have reached the service. */
  #isStarted = false;
  /** Of the last request: the key that it was sent with, its answer's time, status and share of memory. */
  #key = "";
  #at = new Date(0);
  #status: number | undefined;
  #share: Share | undefined;

  constructor(client: Client, path: string, query: Query, options: GetOptions, { body, key }: Sending = {}) {
    this.#client = client;
    this.#path = path;
    this.#query = query;
    this.#options = options;
    this.#body = body;
    this.#candidate = key;
    this.#refreshed = key !== undefined;
    this.#method = body === undefined ? "GET" : "POST";
    this.#target = client.prefix + path + buildQuery(query);
    this.#maxBytes = options.maxBytes ?? client.maxBodyBytes;
  }

  async answer(): Promise<Answer> {
    for (;;) {
      const verdict = this.#confirmed(await this.#request());
      switch (verdict.kind) {
        case "data":
          return this.#take(verdict);
        case "refused":
          await this.#afterRefusal(verdict);
          break;
        case "limited":
          this.#afterLimit(verdict);
          break;
        case "again":
          await this.#afterFault(verdict);
      }
    }
  }

  /** What is sent once has to be answered by data or a refusal: of all else nobody knows whether it was done. */
  #confirmed(verdict: Verdict): Verdict {
    if (verdict.kind === "data" || this.#options.once !== true || !this.#isStarted) return verdict;
    const isAnswered = this.#status !== undefined && this.#status >= 400 && this.#status < 500;
    if (isAnswered && verdict.kind !== "again") return verdict;
    // With its envelope the service says that it did nothing, whether or not another attempt would help.
    const failure = isAnswered && verdict.complaint !== undefined ? "invalid" : "unconfirmed";
    return { ...verdict, kind: "refused", failure };
  }

  /** Sends one request when its turn comes. What throws is a verdict too, but for the signal's reason. */
  async #request(): Promise<Verdict> {
    const { settings, base } = this.#client;
    const { signal, priority = 0, holds } = this.#options;
    signal?.throwIfAborted();
    this.#key = this.#candidate ?? this.#client.key.current;
    this.#status = undefined;
    this.#isStarted = false;
    this.#share = undefined as Share | undefined;
    let verdict: Verdict;
    try {
      // A request that was sent before goes ahead of its equals.
      const turn = this.#requests === 0 ? priority : priority + 0.5;
      const { status, judged } = await settings.limit.run(() => this.#exchange(), turn, signal);
      this.#status = status;
      // Answers that are here already, and the requests that take their slots, come before the work with this one.
      await nextTurn();
      verdict = await judged();
      this.#requests += 1;
    } catch (error) {
      this.#share?.release();
      if (signal?.aborted) throw signal.reason;
      if (!(error instanceof BudgetSpentError || error instanceof BarredError)) this.#requests += 1;
      verdict = broken(error, this.#maxBytes, base);
    }
    if (verdict.kind !== "data" || holds !== true) this.#share?.release();
    return verdict;
  }

  /** The request and its whole answer, while it has its slot. Data is judged after that: the next request need not wait until a page has been parsed. */
  async #exchange(): Promise<{ readonly status: number; readonly judged: () => Promise<Verdict> }> {
    const { settings, stats, barred } = this.#client;
    const { limits, limit, clock } = settings;
    const { paged = false, onBody, read } = this.#options;
    const maxBytes = this.#maxBytes;
    // Whoever waited for this slot meanwhile is told, too.
    if (barred !== undefined) throw new BarredError(barred);
    if (stats.requests >= (limits.maxRequests ?? Number.POSITIVE_INFINITY)) throw new BudgetSpentError();
    stats.requests += 1;
    const begun = clock.now();
    const answer = await this.#dispatch(begun);
    const { status, latencyMs } = answer;
    this.#share = answer.share;
    const { at, contradiction } = stats.clock.read(answer.headers, begun, begun + latencyMs);
    this.#at = at;
    limit.observe({ ok: status < 500, limited: status === 429, latencyMs, kind: kindOf(this.#path) });
    // The service may have done what is sent once, whatever time it is there.
    if (contradiction !== undefined && this.#options.once !== true)
      return { status, judged: async () => ({ kind: "refused", failure: "clock", what: contradiction }) };
    if (status === 200) {
      const judged = async () => {
        const plain = onBody === undefined ? answer : unpacked(answer, maxBytes);
        await onBody?.(plain.body);
        return judge(plain, paged, maxBytes, at, settings.treat === undefined ? read : undefined);
      };
      return { status, judged };
    }
    const verdict = judge(answer, paged, maxBytes, at);
    // While the slot is still held: nothing may start between a 429 and the pause it asks for.
    if (verdict.kind === "limited") this.#pauseAll(verdict);
    return { status, judged: async () => verdict };
  }

  async #dispatch(begun: number): Promise<WireAnswer> {
    const { settings, sent, origin, base } = this.#client;
    const { limit, clock, limits, userAgent } = settings;
    const { signal } = this.#options;
    const headers = {
      authorization: `Bearer ${this.#key}`,
      accept: "application/json",
      "accept-encoding": acceptEncoding,
      "user-agent": userAgent,
      ...(this.#body === undefined ? {} : { "content-type": "application/json" }),
    };
    const onStart = () => {
      this.#isStarted = true;
      this.#options.onSent?.();
    };
    const request = { origin: base.origin, method: this.#method, body: this.#body ?? null };
    const dispatch: Dispatch = (path, headers, handler) => origin.dispatch({ ...request, path, headers }, handler);
    const own = { method: this.#method, path: this.#path, attempt: this.#requests + 1, since: begun };
    sent.add(own);
    try {
      const { timeoutMs } = limits;
      const allowed = { timeoutMs, maxBytes: this.#maxBytes, memory: limit.memory, now: clock.now, signal, onStart };
      return await exchange(dispatch, this.#target, headers, allowed);
    } catch (error) {
      const ours = signal?.aborted || error instanceof BodyTooLargeError;
      const latencyMs = clock.now() - begun;
      if (!ours) limit.observe({ ok: false, limited: false, latencyMs, kind: kindOf(this.#path) });
      throw error;
    } finally {
      sent.delete(own);
    }
  }

  #pauseAll({ what, retryAfter }: Fault): void {
    const { settings, stats } = this.#client;
    const { limits, limit, random } = settings;
    const limited = this.#limited;
    stats.limited += 1;
    limited.count += 1;
    limited.waitMs = limitedWait(limited.count, retryAfter, random);
    limited.totalMs += limited.waitMs;
    if (limited.totalMs <= limits.maxWaitMs) limit.pause(limited.waitMs, withoutKey(what, this.#key));
    else this.#client.barred ??= this.#tooLong(what);
  }

  #take({ envelope, body }: Verdict & { kind: "data" }): Answer {
    const client = this.#client;
    const { settings, stats } = client;
    client.accepted = true;
    stats.bytes += body.length;
    const { hasMore = false, nextCursor = "" } = envelope.pagination ?? {};
    try {
      const treated = this.#body === undefined ? settings.treat?.(this.#path, envelope) : undefined;
      if (settings.listeners?.onAnswer !== undefined) this.#show(treated?.() ?? body, hasMore ? nextCursor : null);
    } catch (error) {
      // Nobody is given the answer who could release it.
      this.#share?.release();
      throw error;
    }
    const undocumented = client.hasNamedUndocumented ? [] : undocumentedIn(envelope);
    if (undocumented.length > 0) {
      client.hasNamedUndocumented = true;
      settings.listeners?.onUndocumented?.(this.#path, undocumented);
    }
    const requests = this.#requests;
    const told = { date: this.#at, bytes: body.length, requests, retries: requests - 1, status: this.#status ?? 200 };
    return { ...envelope, ...told, release: this.#options.holds === true ? this.#share?.release : undefined };
  }

  #show(body: Buffer, next: string | null): void {
    if (this.#body !== undefined) return;
    const { about } = this.#options;
    const asked = { path: this.#path, query: this.#query, status: this.#status ?? 200, about };
    this.#client.settings.listeners?.onAnswer?.({ ...asked, date: this.#at, next, body });
  }

  async #afterRefusal(verdict: Verdict & { kind: "refused" }): Promise<void> {
    const { settings } = this.#client;
    const { failure, body, complaint } = verdict;
    if (failure === "not_found" && body !== undefined) this.#show(body, null);
    const isUnsigned = this.#status === 401 && complaint === undefined;
    if (isUnsigned && !this.#isDoubted && this.#options.once !== true) {
      this.#isDoubted = true;
      return this.#afterFault(verdict);
    }
    if (failure !== "unauthorized" || this.#refreshed || settings.refreshKey === undefined) throw this.#giveUp(verdict);
    this.#refreshed = true;
    // Another request may have brought the new key meanwhile.
    if (this.#client.key.current === this.#key) await this.#client.key.replace(this.#options.signal);
    this.#noteRetry(verdict, 0);
  }

  #afterLimit(verdict: Verdict & { kind: "limited" }): void {
    const { settings, stats } = this.#client;
    const { waitMs, totalMs } = this.#limited;
    if (totalMs > settings.limits.maxWaitMs) throw this.#giveUp({ ...verdict, what: this.#tooLong(verdict.what) });
    stats.limitedWaitMs += waitMs;
    // No sleep here: `#pauseAll` has paused the queue, where the next try waits like all other requests.
    this.#noteRetry(verdict, waitMs);
  }

  async #afterFault(verdict: Fault): Promise<void> {
    const { settings, stats, accepted } = this.#client;
    const { limits, random, clock } = settings;
    this.#failed += 1;
    if (this.#failed >= maxAttempts || (!accepted && verdict.lasting !== undefined)) throw this.#giveUp(verdict);
    const waitMs = backoff(this.#failed, random, Math.min(verdict.retryAfter ?? 0, limits.maxWaitMs));
    stats.retryWaitMs += waitMs;
    this.#noteRetry(verdict, waitMs);
    await clock.sleep(waitMs, this.#options.signal);
  }

  #noteRetry({ what }: Fault, waitMs: number): void {
    const { settings, stats } = this.#client;
    stats.retries += 1;
    const event = { path: this.#path, attempt: this.#requests, status: this.#status, waitMs };
    settings.listeners?.onRetry?.({ ...event, reason: withoutKey(what, this.#key) });
  }

  #tooLong(what: string): string {
    const { waitMs, totalMs } = this.#limited;
    return tooLong(what, waitMs, totalMs, this.#client.settings.limits.maxWaitMs);
  }

  #giveUp(fault: Fault): ApiError {
    const { stats, accepted, base } = this.#client;
    stats.failures[fault.failure] = (stats.failures[fault.failure] ?? 0) + 1;
    const lasting = accepted ? undefined : fault.lasting === true ? elsewhere(base) : fault.lasting;
    const sent = { method: this.#method, path: this.#path, attempts: this.#requests, key: this.#key };
    return apiError(fault, { ...sent, status: this.#status }, lasting ?? this.#options.advice?.[fault.failure]);
  }
}
