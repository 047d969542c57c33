import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { Simulator } from "../../simulator/simulator.ts";

/** A request on its way to the service; `nth` counts those of its path, from 1. */
export interface Passing {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly nth: number;
}

/** What becomes of the service's answer: its `data`, changed. */
export interface Edited {
  readonly edit: (data: Record<string, unknown>) => unknown;
}

/** What is answered instead. */
export interface Instead {
  readonly status: number;
  /** A value becomes JSON; bytes are sent as they are. */
  readonly body: unknown;
  /** The service's time, in whole seconds; absent: it says none. */
  readonly date?: Date;
}

export type Look = Instead | Edited | undefined;

/** The error envelope, as the service would write it. */
export const refused = (status: number, code: string): Instead => ({
  status,
  body: { error: { code, message: `${code} for the test`, details: null, request_id: "req_test" } },
});

type Looking = (passing: Passing) => Look | Promise<Look>;

/** Stands between the runs and the simulator: sees each request before it is answered, and may answer itself. */
export async function interposed(simulator: Simulator, look: Looking): Promise<Simulator> {
  const { service, close } = await standBetween(simulator, look);
  onTestFinished(close);
  return service;
}

/** The same for as long as several tests need it. */
export async function standBetween(
  simulator: Simulator,
  look: Looking,
): Promise<{ readonly service: Simulator; readonly close: () => void }> {
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", simulator.url);
    const path = url.pathname.replace(/^\/api\/v1/, "");
    const nth = (counts.get(path) ?? 0) + 1;
    counts.set(path, nth);
    const answer = async () => {
      const instead = await look({ path, query: url.searchParams, nth });
      if (instead !== undefined && "status" in instead) {
        // It would be the machine's, which is not the test's.
        response.sendDate = false;
        const date = instead.date === undefined ? {} : { date: instead.date.toUTCString() };
        response.writeHead(instead.status, { "content-type": "application/json", ...date });
        response.end(Buffer.isBuffer(instead.body) ? instead.body : JSON.stringify(instead.body));
        return;
      }
      const passed = await fetch(url, { headers: { authorization: String(request.headers.authorization) } });
      const headers = Object.fromEntries(["content-type", "date"].map(name => [name, passed.headers.get(name) ?? ""]));
      response.writeHead(passed.status, headers);
      const body = Buffer.from(await passed.arrayBuffer());
      if (instead === undefined || !passed.ok) return void response.end(body);
      const envelope = JSON.parse(body.toString()) as { data: Record<string, unknown> };
      response.end(JSON.stringify({ ...envelope, data: instead.edit(envelope.data) }));
    };
    answer().catch(error => response.destroy(error as Error));
  });
  // A reused connection must not die under a client, as the simulator's do not.
  server.keepAliveTimeout = 120_000;
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    service: { ...simulator, url: `http://127.0.0.1:${port}`, port },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
