import { execFile } from "node:child_process";
import { connect, createServer, type Server, type Socket } from "node:net";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Where hosts find this machine: under one address, as they share the configuration. */
export const HERE = "10.87.0.1";

/** A host of its own, as far as the network goes: a namespace that reaches this machine by one cable. */
interface Host {
  /** What a command begins with that is to run there. */
  readonly within: readonly string[];
  /** Unplugs the cable: connections hang, as they do when a network fails. */
  cut(): void;
  mend(): void;
}

const ip = (...args: string[]) => run("ip", args);

/** Makes hosts that reach ports of this machine's loopback at `HERE`, and removes them. @throws where the machine allows no namespaces: Linux and root are needed */
export async function withHosts<T extends string>(
  count: number,
  ports: Readonly<Record<T, number>>,
  work: (hosts: readonly Host[], ports: Readonly<Record<T, number>>) => Promise<void>,
): Promise<void> {
  const undo: (() => Promise<unknown>)[] = [];
  const hosts: Host[] = [];
  try {
    await ip("addr", "add", `${HERE}/32`, "dev", "lo");
    undo.push(() => ip("addr", "delete", `${HERE}/32`, "dev", "lo"));
    const forwarded: [string, number][] = [];
    for (const [what, port] of Object.entries<number>(ports)) {
      const { server, at } = await forward(port);
      undo.push(async () => server.close());
      forwarded.push([what, at]);
    }
    for (let nth = 1; nth <= count; nth++) {
      const name = `tributary-${process.pid}-${nth}`;
      const [cable, plug] = [`tr${process.pid % 10_000}a${nth}`, `tr${process.pid % 10_000}b${nth}`];
      const [address, own] = [`10.87.${nth}.1`, `10.87.${nth}.2`];
      await ip("netns", "add", name);
      undo.push(() => ip("netns", "delete", name));
      await ip("link", "add", cable, "type", "veth", "peer", "name", plug, "netns", name);
      await ip("addr", "add", `${address}/24`, "dev", cable);
      await ip("link", "set", cable, "up");
      await ip("-n", name, "addr", "add", `${own}/24`, "dev", plug);
      for (const device of ["lo", plug]) await ip("-n", name, "link", "set", device, "up");
      await ip("-n", name, "route", "add", HERE, "via", address);
      const set = (state: string) => void ip("link", "set", cable, state).catch(() => undefined);
      hosts.push({ within: ["ip", "netns", "exec", name], cut: () => set("down"), mend: () => set("up") });
    }
    await work(hosts, Object.fromEntries(forwarded) as Record<T, number>);
  } finally {
    for (const step of undo.toReversed()) await step();
  }
}

/** Takes connections at `HERE` on to a port of the loopback. */
async function forward(port: number): Promise<{ readonly server: Server; readonly at: number }> {
  const server = createServer(near => {
    const far = connect(port, "127.0.0.1");
    const join = (one: Socket, other: Socket) => {
      one.pipe(other);
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
    };
    join(near, far);
    join(far, near);
  });
  await new Promise<void>(resolve => server.listen(0, HERE, resolve));
  return { server, at: (server.address() as { readonly port: number }).port };
}
