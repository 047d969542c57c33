import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A way to a server that can be cut: what is sent then arrives when it is mended, as after a network's failure. */
export interface Way {
  readonly port: number;
  cut(): void;
  mend(): void;
  close(): void;
}

export async function wayTo(host: string, port: number): Promise<Way> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer(near => {
    const far = connect(port, host);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on("data", piece => to.write(piece));
      from.on("error", () => to.destroy());
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
      if (isCut) from.pause();
    }
  });
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      isCut = true;
      for (const socket of sockets) socket.pause();
    },
    mend() {
      isCut = false;
      for (const socket of sockets) socket.resume();
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
