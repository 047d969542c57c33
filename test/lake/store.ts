import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket, connect as tcp } from "node:net";
import { createInterface } from "node:readline";
import { pythonWith } from "./brought.ts";

const BUCKET = "lake";
/** moto accepts any credentials. */
const credentials = { key_id: "key", secret: "secret", region: "eu-central-1" };

/** An object storage of the test's own: moto's S3, behind a door that can be shut. */
export interface Store {
  /** What of `destination` is about it. */
  readonly destination: Readonly<Record<string, unknown>>;
  /** Ends all connections and refuses new ones until `open` is called. */
  shut(): void;
  open(): void;
  close(): Promise<void>;
}

/** Starts one with an empty bucket. Throws where pip cannot bring moto. */
export async function startStore(): Promise<Store> {
  const { python, env } = await pythonWith("moto[s3]==5.2.5", "flask", "flask-cors");
  const moto = spawn(python, ["-m", "moto.server", "--host", "127.0.0.1", "--port", "0"], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const port = await portOf(createInterface({ input: moto.stderr }));
  const open = new Set<Socket>();
  let isShut = false;
  const door = createServer(client => {
    if (isShut) return void client.resetAndDestroy();
    const server = tcp(port, "127.0.0.1");
    for (const socket of [client, server]) {
      open.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => open.delete(socket));
    }
    client.pipe(server).pipe(client);
  });
  door.listen(0, "127.0.0.1");
  await once(door, "listening");
  const endpoint = `http://127.0.0.1:${(door.address() as AddressInfo).port}`;
  const made = await fetch(`${endpoint}/${BUCKET}`, { method: "PUT" });
  if (!made.ok) throw new Error(`expected moto to make a bucket, it answered ${made.status}`);
  const end = () => {
    for (const socket of open) socket.resetAndDestroy();
  };
  return {
    destination: {
      data_path: `s3://${BUCKET}/warehouse`,
      storage: { ...credentials, endpoint, url_style: "path" },
    },
    shut() {
      isShut = true;
      end();
    },
    open() {
      isShut = false;
    },
    async close() {
      end();
      door.close();
      moto.kill();
      if (moto.exitCode === null && moto.signalCode === null) await once(moto, "exit");
    },
  };
}

/** It says so among what else it says. */
async function portOf(said: AsyncIterable<string>): Promise<number> {
  const lines: string[] = [];
  for await (const line of said) {
    const port = /Running on http:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1];
    if (port !== undefined) return Number(port);
    lines.push(line);
  }
  throw new Error(`expected moto to listen, but it ended: ${lines.join(" ")}`);
}
