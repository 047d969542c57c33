import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Simulator } from "../../simulator/simulator.ts";

/** Done before a request for such a path is answered. */
export type Passing = (path: string) => Promise<void> | void;

/** Stands before the simulator for as long as many tests need one address of it. */
export interface Doorway {
  readonly service: Pick<Simulator, "url" | "key">;
  /** What is done from now on. */
  watch(passing: Passing): void;
  close(): void;
}

export async function openDoorway(simulator: Simulator): Promise<Doorway> {
  let passing: Passing = () => undefined;
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", simulator.url);
    const answer = async () => {
      await passing(url.pathname.replace(/^\/api\/v1/, ""));
      const passed = await fetch(url, { headers: { authorization: String(request.headers.authorization) } });
      const headers = Object.fromEntries(["content-type", "date"].map(name => [name, passed.headers.get(name) ?? ""]));
      response.writeHead(passed.status, headers);
      response.end(Buffer.from(await passed.arrayBuffer()));
    };
    answer().catch(error => response.destroy(error as Error));
  });
  // A reused connection must not die under a client, as the simulator's do not.
  server.keepAliveTimeout = 120_000;
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    service: { url: `http://127.0.0.1:${port}`, key: simulator.key },
    watch(next) {
      passing = next;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
