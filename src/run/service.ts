import { type Api, createApi } from "../api/client.ts";
import { createLimiter, type Limiter } from "../api/limit.ts";
import type { Clock } from "../clock.ts";
import type { Company, Config } from "../config.ts";
import { ApiError } from "../errors.ts";
import type { IdentityEndpoint } from "../stream.ts";
import type { Log } from "../sync/context.ts";

/** One company's service: its client under one limiter, and whose key it is. */
export interface Service {
  readonly company: Company;
  readonly api: Api;
  readonly limiter: Limiter;
  /** Undefined where the key may not read it. */
  readonly companyId: string | undefined;
  /** The key was refused, or nothing answers: no stream of this company can be read. */
  readonly failure: ApiError | undefined;
}

/** What a service is opened with. */
export interface ServiceTools {
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly version: string;
  readonly maxRequests: number | undefined;
}

/** A company's client under its own limiter, its key read afresh. @throws ConfigError when the key can't be read */
export async function openClient(
  company: Company,
  settings: Config["api"],
  tools: ServiceTools,
): Promise<Pick<Service, "api" | "limiter">> {
  const { clock, random, log, maxRequests } = tools;
  const { maxConcurrency, requestsPerSecond, timeoutMs, maxWaitMs } = settings;
  const limiter = createLimiter({ maxConcurrency, requestsPerSecond, clock });
  await company.refreshKey();
  const api = createApi({
    baseUrl: company.baseUrl,
    key: () => company.key(),
    refreshKey: async () => void (await company.refreshKey()),
    timeoutMs,
    maxWaitMs,
    ...(maxRequests === undefined ? {} : { maxRequests }),
    limit: limiter,
    clock,
    random,
    onRetry: event => log.debug(event, "asking again"),
    userAgent: `tributary/${tools.version}`,
  });
  return { api, limiter };
}

/** Opens a company's service and asks whose key it is. @throws ConfigError when the key can't be read */
export async function openService(
  company: Company,
  settings: Config["api"],
  identity: IdentityEndpoint,
  tools: ServiceTools,
): Promise<Service> {
  const { api, limiter } = await openClient(company, settings, tools);
  try {
    const { data } = await api.get(identity.path, {}, { priority: 2, signal: tools.signal });
    return { company, api, limiter, companyId: fieldOf(data, identity.id), failure: undefined };
  } catch (error) {
    if (!(error instanceof ApiError)) {
      await api.close();
      throw error;
    }
    // Not every key may read it, and a fault of this one endpoint need not be one of the others.
    const fatal = error.failure === "unauthorized" || (error.failure === "unavailable" && error.status === undefined);
    return { company, api, limiter, companyId: undefined, failure: fatal || error.exitCode === 5 ? error : undefined };
  }
}

/** A text field of an answer's data. */
export function fieldOf(data: unknown, field: string): string | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const value = (data as Record<string, unknown>)[field];
  return typeof value === "string" && value !== "" ? value : undefined;
}
