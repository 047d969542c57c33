import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Api, ApiLimits, ApiListeners, ApiSettings, RetryEvent } from "../../src/source/api.ts";
import { createApi } from "../../src/source/client.ts";
import { createLimiter } from "../../src/source/limit.ts";
import { hastyClock } from "./clocks.ts";

export const key = "sk-test/7f3a+secret=";

/** A real HTTP server on loopback; the handler gets the number of the request, from 1 on. */
export interface Service {
  readonly url: string;
  readonly requests: { url: string; headers: IncomingMessage["headers"] }[];
  [Symbol.asyncDispose](): Promise<void>;
}

export type Handler = (response: ServerResponse, request: IncomingMessage, count: number) => void;

export async function serve(handler: Handler): Promise<Service> {
  const requests: Service["requests"] = [];
  const server = createServer((request, response) => {
    requests.push({ url: request.url ?? "", headers: request.headers });
    handler(response, request, requests.length);
  });
  // A reused connection must not die under a client, however busy the machine is.
  server.keepAliveTimeout = 120_000;
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

/** Settings side by side with limits and listeners: tests name few of them. */
type Flat = Omit<ApiSettings, "limits" | "listeners"> & ApiLimits & ApiListeners;

/** A client with a clock that does not wait, jitter at its full length, and its retry events kept. */
export function client(
  url: string,
  settings: Partial<Flat> = {},
): Api & { events: RetryEvent[]; waits: number[]; [Symbol.asyncDispose](): Promise<void> } {
  const clock = hastyClock();
  const events: RetryEvent[] = [];
  const { timeoutMs = 30_000, maxWaitMs = 600_000, maxBodyBytes, maxRequests, onRetry, onSlow, ...rest } = settings;
  const { slowMs, onAnswer, onUndocumented, ...own } = rest;
  const api = createApi({
    baseUrl: url,
    key,
    limits: {
      timeoutMs,
      maxWaitMs,
      ...(maxBodyBytes === undefined ? {} : { maxBodyBytes }),
      ...(maxRequests === undefined ? {} : { maxRequests }),
    },
    limit: createLimiter({ maxConcurrency: 8, clock: settings.clock ?? clock }),
    clock,
    serviceClock: "ignore",
    random: () => 1,
    listeners: {
      onRetry: onRetry ?? (event => events.push(event)),
      onAnswer,
      ...(onUndocumented === undefined ? {} : { onUndocumented }),
      ...(onSlow === undefined ? {} : { onSlow }),
      ...(slowMs === undefined ? {} : { slowMs }),
    },
    userAgent: "tributary/test",
    ...own,
  });
  return Object.assign(api, { events, waits: clock.waits, [Symbol.asyncDispose]: () => api.close() });
}

export function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

export function failure(
  response: ServerResponse,
  status: number,
  code: string,
  headers: Record<string, string> = {},
): void {
  json(response, status, { error: { code, message: `about ${code}`, details: null, request_id: "req-1" } }, headers);
}

export const lastPage = { next_cursor: null, has_more: false, limit: 100 };
