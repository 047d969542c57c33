import { createHmac } from "node:crypto";
import { ByteBudget } from "../../byte_budget.ts";
import type { IdentityEndpoint, Stream } from "../../catalog/stream.ts";
import type { Clock } from "../../clock.ts";
import type { Company, Config } from "../../config/config.ts";
import { ApiError, ConfigError, meetsOthers } from "../../errors.ts";
import type { Log } from "../../logging.ts";
import type { Api, ApiSettings } from "../../source/api.ts";
import type { Archive } from "../../source/archive/archive.ts";
import { createApi } from "../../source/client.ts";
import { createLimiter, type Limiter } from "../../source/limit.ts";
import { firstPage } from "../extract/listing.ts";
import { runMessages } from "./messages.ts";

/** One company's service: its client under its key's limiter, and whose key it is. */
export interface Service {
  readonly company: Company;
  readonly api: Api;
  readonly limiter: Limiter;
  /** Undefined where the key may not read it. */
  readonly companyId: string | undefined;
  /** The service has answered with data, so it is one. */
  readonly accepted: boolean;
  /** The key was refused or can't be read, nothing answers, or it is another company: no stream of it can be read. */
  readonly failure: ApiError | ConfigError | undefined;
}

export interface ServiceTools {
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  /** Aborted with a StoppedError by the first Ctrl-C. */
  readonly signal: AbortSignal;
  readonly version: string;
  readonly maxRequests: number | undefined;
  /** What is taken out of answers before anybody sees them; see `Api`. */
  readonly treat?: ApiSettings["treat"];
  readonly archiveOf?: (company: string) => Archive | undefined;
}

/** What the companies of a run have in common: the service limits a key, whatever name it goes by, and --max-requests a run. */
export interface SharedClients {
  limiterOf(company: Company): Limiter;
  readonly memory: ByteBudget;
  /** Clients that were made so far, for whoever closes them. */
  readonly apis: Api[];
  readonly day: DayLimit;
}

export function createSharedClients(
  { maxConcurrency, requestsPerSecond, requestsPerDay, memoryBytes }: Config["api"],
  clock: Clock,
  memory = new ByteBudget(memoryBytes),
): SharedClients {
  const limiters = new Map<string, Limiter>();
  return {
    limiterOf(company) {
      const name = keyOf(company);
      const limiter = limiters.get(name) ?? createLimiter({ maxConcurrency, requestsPerSecond, clock, memory });
      limiters.set(name, limiter);
      return limiter;
    },
    memory,
    apis: [],
    day: new DayLimit(requestsPerDay, clock),
  };
}

const keyOf = (company: Company): string => JSON.stringify([new URL(company.baseUrl).origin, company.key()]);

/** The lock of a company's key, as `Destination.lock` takes it. Its name tells nothing of the key, which is the HMAC's own. */
export function keyLockOf(company: Company): [name: string, lockGroups: readonly string[]] {
  const digest = createHmac("sha256", company.key()).update(new URL(company.baseUrl).origin).digest("hex");
  return [`key ${digest.slice(0, 16)}`, ["requests"]];
}

/** What `api.requests_per_day` leaves of each key to the companies of a run, in the UTC day that it is. */
export class DayLimit {
  readonly #most: number;
  readonly #clock: Clock;
  #day: number | undefined;
  #companies: readonly Company[] = [];
  /** What others sent today, by company. */
  readonly #before = new Map<string, number>();
  /** `from`: what the client had sent when the day began. */
  readonly #clients: { readonly company: Company; readonly api: Api; from: number }[] = [];

  constructor(most: number | undefined, clock: Clock) {
    this.#most = most ?? Number.POSITIVE_INFINITY;
    this.#clock = clock;
  }

  /** What was sent today for all `companies` of the configuration. The first note counts: later ones would count what this run has sent. */
  note(sent: ReadonlyMap<string, number>, companies: readonly Company[]): void {
    this.#turn();
    this.#companies = companies;
    for (const [company, count] of sent) if (!this.#before.has(company)) this.#before.set(company, count);
  }

  add(company: Company, api: Api): void {
    this.#clients.push({ company, api, from: 0 });
  }

  /** How many requests the company's client may have sent, those of days before included. */
  mostOf(company: Company, api: Api): number {
    if (this.#most === Number.POSITIVE_INFINITY) return this.#most;
    this.#turn();
    const same = this.#clients.filter(client => keyOf(client.company) === keyOf(company));
    const sharing = this.#companies.filter(other => keyOf(other) === keyOf(company));
    const before = sharing.map(({ name }) => this.#before.get(name) ?? 0);
    const others = same.filter(client => client.api !== api).map(({ api, from }) => api.stats.requests - from);
    const from = same.find(client => client.api === api)?.from ?? 0;
    return [...before, ...others].reduce((left, sent) => left - sent, from + this.#most);
  }

  #turn(): void {
    const day = Math.floor(this.#clock.now() / DAY_MS);
    if (day === this.#day) return;
    if (this.#day !== undefined) for (const client of this.#clients) client.from = client.api.stats.requests;
    this.#day = day;
    this.#before.clear();
  }
}

const DAY_MS = 86_400_000;

/** A company's client of one's own, its key read afresh. @throws ConfigError when the key can't be read */
export async function openClient(
  company: Company,
  settings: Config["api"],
  tools: ServiceTools,
): Promise<Api & AsyncDisposable> {
  await company.refreshKey();
  const { api } = clientOf(company, settings, tools, createSharedClients(settings, tools.clock));
  return Object.assign(api, { [Symbol.asyncDispose]: () => api.close() });
}

function clientOf(
  company: Company,
  { timeoutMs, maxWaitMs, clock: serviceClock }: Config["api"],
  { clock, random, log, version, maxRequests = Number.POSITIVE_INFINITY, treat, archiveOf }: ServiceTools,
  { limiterOf, apis, day }: SharedClients,
  admit?: ApiSettings["admit"],
): Pick<Service, "api" | "limiter"> {
  const limiter = limiterOf(company);
  const api = createApi({
    baseUrl: company.baseUrl,
    key: company.key(),
    refreshKey: () => company.refreshKey(),
    admit,
    userAgent: `tributary/${version}`,
    limits: {
      timeoutMs,
      maxWaitMs,
      get maxRequests() {
        const most = apis.reduce((left, other) => (other === api ? left : left - other.stats.requests), maxRequests);
        return Math.min(most, day.mostOf(company, api));
      },
    },
    limit: limiter,
    clock,
    serviceClock,
    random,
    treat,
    listeners: {
      onRetry: event => log.info(runMessages.asking_again(), event),
      onUndocumented: (path, fields) => log.info(runMessages.undocumented_envelope({ path, fields })),
      onSlow(event) {
        const { sinceMs, ...request } = event;
        log.info(runMessages.waiting_for_answer({ ...request, since_ms: sinceMs }), event);
      },
      onAnswer: archiveOf?.(company.name)?.keep,
    },
  });
  apis.push(api);
  day.add(company, api);
  return { api, limiter };
}

/** Opens a company's service and asks whose key it is. Its client is closed with the others in `sharedClients`. */
export async function openService(
  company: Company,
  settings: Config["api"],
  identity: IdentityEndpoint,
  tools: ServiceTools,
  sharedClients: SharedClients,
): Promise<Service> {
  const unreadable = await company.refreshKey().then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof ConfigError) return error;
      throw error;
    },
  );
  let opened: Service | undefined;
  const companyIdBy = async (client: Pick<Api, "get">) => {
    const { data } = await client.get(identity.path, {}, { priority: 2, signal: tools.signal });
    return fieldOf(data, identity.id);
  };
  const { api, limiter } = clientOf(company, settings, tools, sharedClients, async candidate => {
    // Before the first answer no row has come, and the request under way is the one that says whose key it is.
    if (opened !== undefined) requireSame(opened, await companyIdBy(candidate).catch(unlessLater), identity.path);
  });
  const unknown = { company, api, limiter, companyId: undefined, accepted: false, failure: undefined };
  if (unreadable !== undefined) return { ...unknown, failure: unreadable };
  const ask = () =>
    companyIdBy(api).then(
      companyId => ({ ...unknown, companyId, accepted: true }),
      (error: unknown) => ({ ...unknown, failure: failureOf(error) }),
    );
  const service = await ask();
  // Before anything is written, a second answer says whether our clock or the service's is wrong.
  opened = api.stats.clock?.isApart === true ? await ask() : service;
  return opened;
}

/** The failure, where it is not one that says "later" or "other key" of itself. */
function unlessLater(error: unknown): ApiError {
  if (!(error instanceof ApiError) || meetsOthers(error)) throw error;
  return error;
}

/** Rows of another company would be stored as this one's. @throws ApiError, after which the company's run ends */
function requireSame(
  { company: { name }, companyId }: Service,
  got: string | ApiError | undefined,
  path: string,
): void {
  if (got !== undefined && got === companyId) return;
  if (typeof got === "string" && companyId !== undefined) {
    const other = { company: name, company_id: companyId, got };
    throw new ApiError(runMessages.key_of_another_company(other), { failure: "another_company", path });
  }
  const reason = got instanceof ApiError ? got.message : undefined;
  throw new ApiError(runMessages.key_not_proven({ company: name, reason }), { failure: "unauthorized", path });
}

/** Why no stream can be read. Not every key may read its company, and a fault of this one endpoint need not be one of the others. */
function failureOf(error: unknown): Service["failure"] {
  if (!(error instanceof ApiError)) throw error;
  if (error.failure === "clock") return new ConfigError(error, error);
  const fatal = error.failure === "unauthorized" || (error.failure === "unavailable" && error.status === undefined);
  return fatal || error.exitCode === 5 ? error : undefined;
}

/** Lists that are tried before an address is taken for a wrong one. */
const TRIED = 3;

/** The service, once it has answered a list's request with data; else `failure` says why not: of what may be another program neither address nor empty tables may be kept. */
export async function tried(service: Service, streams: readonly Stream[], signal: AbortSignal): Promise<Service> {
  const lists = streams.flatMap(({ path, query, mode }) =>
    mode.kind === "feed" || (mode.kind === "scan" && mode.lookup === undefined) ? [{ path, query, mode }] : [],
  );
  const refusals: ApiError[] = [];
  for (const { path, query, mode } of lists.slice(0, TRIED)) {
    try {
      await firstPage(mode, query, (few, paged) => service.api.get(path, few, { priority: 2, signal, paged }), 1);
      return { ...service, accepted: true };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      refusals.push(error);
    }
  }
  return { ...service, failure: refusals[0] };
}

/** A company whose service is not asked for anything: everything it ever said that counts is at hand. */
export function closedService(company: Company, { maxConcurrency }: Config["api"], clock: Clock): Service {
  const stats = { requests: 0, retries: 0, limited: 0, bytes: 0, failures: {}, retryWaitMs: 0, limitedWaitMs: 0 };
  const get = async (path: string): Promise<never> => {
    throw new ApiError(runMessages.no_request({ path }), { failure: "invalid", path, attempts: 0 });
  };
  const api: Api = { get, stats, close: async () => undefined };
  const limiter = createLimiter({ maxConcurrency, clock });
  return { company, api, limiter, companyId: undefined, accepted: true, failure: undefined };
}

/** A text field of an answer's data, where it can be stored. */
export function fieldOf(data: unknown, field: string): string | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const value = (data as Record<string, unknown>)[field];
  return typeof value === "string" && /^[^\p{Cc}\p{Cs}]{1,500}$/u.test(value) ? value : undefined;
}
