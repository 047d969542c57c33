import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { type Faults, noFaults, touches } from "./faults.ts";
import { misbehave, type Reply, send } from "./mischief.ts";
import { Draw } from "./random.ts";
import { Refusal } from "./refusal.ts";
import type { Requests } from "./requests.ts";
import type { Match, Request } from "./routes.ts";
import type { Row } from "./source.ts";
import { jsonBytes } from "./wire.ts";

/** What the HTTP side needs to know of the service behind it. */
export interface Behind {
  readonly key: () => string;
  readonly seed: number;
  readonly clock: () => Date;
  readonly compression: boolean;
  readonly find: (path: string) => Match | undefined;
  readonly answer: (match: Match, request: Request) => Reply;
  /** The data of a POST; undefined where there is no such endpoint. */
  readonly post: (path: string, body: Row, faults: Faults, draw: () => number) => Row | undefined;
  /** Called before each answer: what takes time has gone on. */
  readonly advance: () => void;
  /** Answers /_simulator/* itself; false where such paths are unknown. */
  readonly control: (path: string, message: IncomingMessage, response: ServerResponse) => boolean;
}

const PREFIX = "/api/v1";

/** The HTTP server: authentication, faults, envelope, compression, log. Not yet listening. */
export function httpServer(behind: Behind, faults: Faults, requests: Requests, closing: AbortSignal): Server {
  const draws = new Draw(behind.seed ^ 0x5bd1e995);
  const draw = (): number => draws.next();
  const quiet = noFaults();
  const arrivals: number[] = [];
  let served = 0;

  const serve = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(message.url ?? "/", "http://simulator");
    const path = url.pathname.startsWith(`${PREFIX}/`) ? url.pathname.slice(PREFIX.length) : url.pathname;
    if (path.startsWith("/_simulator/") && behind.control(path, message, response)) return;
    served += 1;
    const requestId = `req_${served.toString(36).padStart(6, "0")}`;
    const active = touches(faults, path) ? faults : quiet;
    const { match, refusal } = found(behind, url, path);
    const query = Object.fromEntries(url.searchParams);
    const template = match?.route.template ?? "";
    const begun = performance.now();
    const end = requests.begin(template);
    const { method = "GET" } = message;
    const headers = plainHeaders(message);
    response.on("close", () =>
      end({ method, path, query, headers, status: response.headersSent ? response.statusCode : 0 }),
    );

    const base = { date: behind.clock().toUTCString(), "x-request-id": requestId };
    const due = begun + latency(active, draw);
    const posted = method === "POST" ? (await bodyOf(message)).toString() : undefined;
    const trouble = misbehave(active, { path: url.pathname + url.search, clock: behind.clock, arrivals, draw });
    if (trouble === "hang") return;
    behind.advance();
    // The work is part of the latency, as it is of a real service's.
    const reply =
      trouble ?? ordinary(behind, message, { match, refusal, posted }, { path, query, faults: active, draw });
    const status = reply.status;
    const body = encoded(behind, message, bytesOf(reply, requestId));
    // Timers come up to a millisecond late: half of one less, and the mean is what was asked for.
    await pause(due - performance.now() - 0.5, closing);
    if (closing.aborted || response.destroyed) return;
    requests.answering(template, performance.now() - begun);
    await send(response, status, { ...base, ...reply.headers, ...body.headers }, body.bytes, active, draw, closing);
  };

  const server = createServer((message, response) => {
    response.sendDate = false;
    if (message.method !== "POST") message.resume();
    serve(message, response).catch((error: unknown) => {
      if (closing.aborted || response.headersSent) return response.destroy();
      response.writeHead(500, { "content-type": "text/plain" }).end(`simulator bug: ${String(error)}`);
    });
  });
  // A reused connection must not die under a client between two runs of a test.
  server.keepAliveTimeout = 120_000;
  return server;
}

/** All that is sent with a request. */
export async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function found(behind: Behind, url: URL, path: string): { match?: Match | undefined; refusal?: Refusal } {
  if (!url.pathname.startsWith(`${PREFIX}/`)) return {};
  try {
    return { match: behind.find(path) };
  } catch (error) {
    if (error instanceof Refusal) return { refusal: error };
    throw error;
  }
}

function ordinary(
  behind: Behind,
  message: IncomingMessage,
  { match, refusal, posted }: { match?: Match | undefined; refusal?: Refusal | undefined; posted: string | undefined },
  request: Omit<Request, "params">,
): Reply {
  try {
    authorize(behind.key(), message);
    if (refusal !== undefined) throw refusal;
    if (posted !== undefined) {
      const data = behind.post(request.path, JSON.parse(posted), request.faults, request.draw);
      if (data !== undefined) return { status: 200, body: { data, meta: {} } };
    }
    if (match === undefined || message.method !== "GET") {
      throw new Refusal(404, "RESOURCE_NOT_FOUND", `${message.method} ${request.path} not found`);
    }
    return behind.answer(match, { ...request, params: match.params });
  } catch (error) {
    if (error instanceof Refusal) return { status: error.status, error };
    throw error;
  }
}

function authorize(key: string, message: IncomingMessage): void {
  const given = message.headers["x-api-key"] ?? /^Bearer (.+)$/i.exec(message.headers.authorization ?? "")?.[1];
  if (given === key) return;
  throw new Refusal(401, "UNAUTHORIZED", given === undefined ? "An API key is required" : "The API key is not valid");
}

function bytesOf(reply: Reply, requestId: string): Buffer {
  if (reply.text !== undefined) return typeof reply.text === "string" ? Buffer.from(reply.text) : reply.text;
  return jsonBytes(reply.error === undefined ? (reply.body ?? {}) : envelope(reply.error, requestId));
}

function envelope(error: Refusal, requestId: string): Record<string, unknown> {
  return { error: { code: error.code, message: error.message, details: error.details, request_id: requestId } };
}

function latency(faults: Faults, draw: () => number): number {
  const jitter = faults.latencyJitterMs > 0 ? (draw() / 4294967296) * faults.latencyJitterMs : 0;
  return faults.latencyMs + jitter;
}

async function pause(ms: number, closing: AbortSignal): Promise<void> {
  if (ms > 0) await sleep(ms, undefined, { signal: closing, ref: false });
}

function encoded(
  behind: Behind,
  message: IncomingMessage,
  bytes: Buffer,
): { headers: Record<string, string>; bytes: Buffer } {
  const accepted = String(message.headers["accept-encoding"] ?? "");
  if (behind.compression && /\bbr\b/.test(accepted)) {
    const params = { [constants.BROTLI_PARAM_QUALITY]: 4 };
    return { headers: { "content-encoding": "br" }, bytes: brotliCompressSync(bytes, { params }) };
  }
  if (behind.compression && /\bgzip\b/.test(accepted)) {
    return { headers: { "content-encoding": "gzip" }, bytes: gzipSync(bytes, { level: 1 }) };
  }
  return { headers: {}, bytes };
}

function plainHeaders(message: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(message.headers).map(([name, value]) => [name, String(value)]));
}
