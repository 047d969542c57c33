import { once } from "node:events";
import { createServer, type Socket, connect as tcp } from "node:net";

/** What becomes of a commit: it never arrives, or it is done and its answer never arrives. */
export type Loss = "commit" | "answer";

/** The way to a real PostgreSQL, which can be cut. */
export interface Gate {
  readonly url: string;
  /** Commits that were sent so far. */
  readonly commits: number;
  /** Cuts the connection at the nth commit from now. */
  cutAtCommit(nth: number, loss: Loss): void;
  /** Cuts it at the commit of the first transaction that says so. */
  cutAtCommitOf(statement: string, loss: Loss): void;
  /** Half-cuts every connection in the place of the first message that says so. */
  halfCutAt(statement: string): void;
  /** Cuts every connection; with `half` the server is not told, so that its sessions live on. */
  cut(half?: "half"): void;
  /** Lets the server know of half-cut connections. */
  bury(): void;
  /** Until it is opened again whoever comes is sent away: without a word, or with an error of the server's. */
  shut(error?: { readonly code: string; readonly message: string }): void;
  open(): void;
  close(): Promise<void>;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

/** Listens on a port of this machine and passes on what comes, to the server of the address and back. */
export async function startGate(serverUrl: string): Promise<Gate> {
  const target = new URL(serverUrl);
  const pairs = new Set<Pair>();
  const ghosts = new Set<Socket>();
  let commits = 0;
  let cutting: { nth?: number; statement?: string; loss: Loss } | undefined;
  let halving: string | undefined;
  let shut: { error?: { code: string; message: string } } | undefined;
  const end = ({ client, server }: Pair) => {
    client.resetAndDestroy();
    server.destroy();
  };

  const listener = createServer(client => {
    client.on("error", () => undefined);
    if (shut !== undefined) {
      const { error } = shut;
      if (error === undefined) client.resetAndDestroy();
      else client.once("data", () => client.end(fatal(error)));
      return;
    }
    const server = tcp(Number(target.port), target.hostname);
    server.on("error", () => undefined);
    // What comes message by message is not held back until there is more.
    for (const socket of [client, server]) socket.setNoDelay(true);
    const pair: Pair = { client, server };
    pairs.add(pair);
    let unanswered = false;
    onMessages(client, message => {
      if (halving !== undefined && message.includes(halving)) {
        halving = undefined;
        return cut("half");
      }
      if (cutting?.statement !== undefined && message.includes(cutting.statement))
        cutting = { nth: commits + 1, loss: cutting.loss };
      if (isCommit(message) && ++commits === cutting?.nth) {
        if (cutting.loss === "commit") return end(pair);
        unanswered = true;
      }
      server.write(message);
    });
    server.on("data", data => (unanswered ? end(pair) : client.write(data)));
    client.on("close", () => {
      pairs.delete(pair);
      if (!ghosts.has(server)) server.destroy();
    });
    server.on("close", () => client.destroy());
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address() as { port: number };
  const url = new URL(serverUrl);
  url.host = `127.0.0.1:${port}`;
  const bury = () => {
    for (const ghost of ghosts) ghost.destroy();
    ghosts.clear();
  };
  const cut = (half?: "half") => {
    for (const pair of [...pairs]) {
      if (half === undefined) end(pair);
      else {
        ghosts.add(pair.server);
        pair.client.resetAndDestroy();
      }
    }
  };
  return {
    url: url.href,
    get commits() {
      return commits;
    },
    cutAtCommit(nth, loss) {
      cutting = { nth: commits + nth, loss };
    },
    cutAtCommitOf(statement, loss) {
      cutting = { statement, loss };
    },
    halfCutAt(statement) {
      halving = statement;
    },
    cut,
    bury,
    shut(error) {
      shut = error === undefined ? {} : { error };
      for (const pair of [...pairs]) end(pair);
    },
    open() {
      shut = undefined;
    },
    async close() {
      bury();
      for (const pair of [...pairs]) end(pair);
      listener.close();
      await once(listener, "close");
    },
  };
}

/** A simple query that says no more than that. */
const isCommit = (message: Buffer): boolean => message[0] === 81 && message.toString("utf8", 5) === "commit\0";

/** Calls back with whole messages; the first one has no type byte. */
function onMessages(client: Socket, each: (message: Buffer) => void): void {
  let buffered: Buffer = Buffer.alloc(0);
  let typed = 0;
  client.on("data", (data: Buffer) => {
    buffered = Buffer.concat([buffered, data]);
    while (buffered.length >= typed + 4) {
      const length = buffered.readInt32BE(typed) + typed;
      if (buffered.length < length) return;
      const message = buffered.subarray(0, length);
      buffered = buffered.subarray(length);
      typed = 1;
      each(message);
    }
  });
}

/** The server's answer to a connection that it does not let in. */
function fatal({ code, message }: { readonly code: string; readonly message: string }): Buffer {
  const body = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`);
  const head = Buffer.alloc(5, "E");
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}
