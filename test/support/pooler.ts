import { once } from "node:events";
import { createServer, type Socket, connect as tcp } from "node:net";

/** A connection pooler before a real PostgreSQL, as small as it can be. */
export interface Pooler {
  readonly url: string;
  close(): Promise<void>;
}

interface PoolerKind {
  /** When a backend goes back to the pool. */
  readonly mode: "transaction" | "session";
  /** Which idle backend is given away: PgBouncer's default is the newest, its server_round_robin the oldest. */
  readonly give: "newest" | "oldest";
  readonly size: number;
  /** As PgBouncer does: a client that names settings at its start is refused. */
  readonly refusesSettings?: boolean;
}

interface Backend {
  readonly socket: Socket;
  onMessage: (message: Buffer) => void;
}

/** Listens on a port of this machine; logs in to the server as the url says, whatever the client says. */
export async function startPooler(serverUrl: string, kind: PoolerKind): Promise<Pooler> {
  const target = new URL(serverUrl);
  const idle: Backend[] = [];
  const waiting: ((backend: Backend) => void)[] = [];
  const sockets = new Set<Socket>();
  let made = 0;
  const acquire = async (): Promise<Backend> => {
    const known = kind.give === "newest" ? idle.pop() : idle.shift();
    if (known !== undefined) return known;
    if (made < kind.size) {
      made++;
      const backend = await login(target);
      sockets.add(backend.socket);
      return backend;
    }
    return new Promise(resolve => waiting.push(resolve));
  };
  const giveBack = (backend: Backend) => {
    backend.onMessage = () => undefined;
    const next = waiting.shift();
    if (next === undefined) idle.push(backend);
    else next(backend);
  };
  const server = createServer({ noDelay: true }, client => {
    sockets.add(client);
    client.on("error", () => undefined);
    let backend: Backend | undefined;
    let started = false;
    let asking = Promise.resolve();
    const forward = async (message: Buffer) => {
      if (!started) {
        started = true;
        if (kind.refusesSettings === true && message.includes("\0options\0"))
          return void client.end(
            packet("E", Buffer.from("SFATAL\0VFATAL\0C08P01\0Munsupported startup parameter: options\0\0")),
          );
        client.write(Buffer.concat([packet("R", int(0)), packet("K", int(1), int(2)), packet("Z", Buffer.from("I"))]));
        return;
      }
      if (message[0] === 88) return; // Terminate is the pooler's to keep.
      backend ??= await acquire();
      const serving = backend;
      serving.onMessage = answer => {
        client.write(answer);
        const done = answer[0] === 90 && answer[5] === 73; // ReadyForQuery, idle
        if (!done || kind.mode === "session") return;
        backend = undefined;
        giveBack(serving);
      };
      serving.socket.write(message);
    };
    splitMessages(client, true, message => {
      asking = asking.then(() => forward(message));
    });
    client.on("close", () => {
      if (backend !== undefined) giveBack(backend);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const url = new URL(serverUrl);
  url.host = `127.0.0.1:${port}`;
  return {
    url: url.href,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

async function login(target: URL): Promise<Backend> {
  const socket = tcp({ port: Number(target.port), host: target.hostname, noDelay: true });
  socket.on("error", () => undefined);
  const parameters = `user\0${target.username}\0database\0${target.pathname.slice(1)}\0\0`;
  const body = Buffer.concat([int(196_608), Buffer.from(parameters)]);
  socket.write(Buffer.concat([int(body.length + 4), body]));
  return new Promise(resolve => {
    const backend: Backend = {
      socket,
      onMessage(message) {
        if (message[0] === 82 && message.readInt32BE(5) === 3)
          socket.write(packet("p", Buffer.from(`${target.password}\0`)));
        if (message[0] === 90) resolve(backend);
      },
    };
    splitMessages(socket, false, message => backend.onMessage(message));
  });
}

/** Calls back with whole messages; a client's first one has no type byte. */
function splitMessages(socket: Socket, fromClient: boolean, each: (message: Buffer) => void): void {
  let buffered: Buffer = Buffer.alloc(0);
  let untyped = fromClient;
  socket.on("data", (data: Buffer) => {
    buffered = Buffer.concat([buffered, data]);
    for (;;) {
      const offset = untyped ? 0 : 1;
      if (buffered.length < offset + 4) return;
      const length = buffered.readInt32BE(offset) + offset;
      if (buffered.length < length) return;
      each(buffered.subarray(0, length));
      buffered = buffered.subarray(length);
      untyped = false;
    }
  });
}

function int(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeInt32BE(value);
  return buffer;
}

function packet(type: string, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(type), int(body.length + 4), body]);
}
