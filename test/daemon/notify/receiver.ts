import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A real HTTP server that keeps what it is sent. */
export interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
  /** The bodies as JSON. */
  bodies(): readonly Record<string, unknown>[];
  /** What it answers from now on, by how often it was asked: a status, or nothing at all. */
  answer: (nth: number) => { status: number; headers?: Record<string, string> } | "hang";
}

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      received.push({
        path: request.url ?? "",
        headers: request.headers,
        body: Buffer.concat(pieces).toString("utf8"),
      });
      const answer = receiver.answer(received.length);
      if (answer === "hang") return;
      response.writeHead(answer.status, answer.headers).end("thank you");
    });
  });
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise(resolve => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}`,
    received,
    bodies: () => received.map(({ body }) => JSON.parse(body) as Record<string, unknown>),
    answer: () => ({ status: 200 }),
  };
  return receiver;
}
