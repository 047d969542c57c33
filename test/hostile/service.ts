import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { Stream } from "../../src/catalog/stream.ts";
import type { RunReport } from "../../src/sync/run/run.ts";
import { identityEndpoint } from "../../streams/identity.ts";
import { bench, type Ordered } from "../support/run.ts";
import type { Warehouse } from "../support/warehouse.ts";

/** A request for a path, the answer to write, and how often it was asked for before. */
export interface Asked {
  readonly query: URLSearchParams;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly nth: number;
}

/** What is said of a path: the body's text or bytes, sent as they are, or nothing where the answer was written already. */
export type Says = Record<string, (asked: Asked) => string | Buffer | undefined>;

/** A service that may say anything, a warehouse, and runs of a catalogue of the test's own. */
export interface Place {
  readonly warehouse: Warehouse;
  readonly says: Says;
  /** How often each path was asked for. */
  readonly counts: ReadonlyMap<string, number>;
  readonly said: readonly string[];
  /** What is said of paths that `says` does not name; nothing: the service's 404. */
  otherwise: (path: string) => string | undefined;
  run(order?: Ordered): Promise<RunReport>;
}

const identity = JSON.stringify({ data: { company_id: "c", company_name: "Acme" } });

/** A real HTTP server on this machine; its address. It is gone when the test is over. */
export async function serving(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer);
  // A reused connection must not die under a client, however busy the machine is.
  server.keepAliveTimeout = 120_000;
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export async function hostile(
  make: () => Promise<Warehouse>,
  catalogue: readonly Stream[],
  says: Says,
  config: Readonly<Record<string, unknown>> = {},
): Promise<Place> {
  const counts = new Map<string, number>();
  const url = await serving((request, response) => {
    const asked = new URL(request.url ?? "/", "http://service");
    const path = asked.pathname.replace(/^\/api\/v1/, "");
    const nth = counts.get(path) ?? 0;
    counts.set(path, nth + 1);
    const say = says[path];
    const text =
      path === identityEndpoint.path && say === undefined
        ? identity
        : say === undefined
          ? place.otherwise(path)
          : say({ query: asked.searchParams, request, response, nth });
    if (text !== undefined) response.setHeader("content-type", "application/json").end(text);
    else if (say === undefined) response.writeHead(404).end(noSuch);
  });
  const warehouse = await make();
  const { sync, said } = bench({
    simulator: { url, key: "sk-test" },
    warehouse,
    config: { streams: { defaults: { max_reject_share: 1, details: { audit: 0 } } }, ...config },
  });
  const place: Place = {
    warehouse,
    says,
    counts,
    said,
    otherwise: () => undefined,
    run: (order = {}) => sync({ catalogue, ...order }),
  };
  return place;
}

const noSuch = '{"error":{"code":"NOT_FOUND","message":"no such thing","request_id":"r"}}';

/** A page of a listing, its rows as text. */
export const pageOf = (rows: readonly string[], next: string | null = null): string =>
  `{"data":{"things":[${rows.join(",")}]},"pagination":{"has_more":${next !== null},"next_cursor":${JSON.stringify(next)}}}`;
