import { EnvHttpProxyAgent, Pool } from "undici";

/** Connections to one origin, over the proxy that the environment names for https. What is sent there is never redirected. */
export function connect(base: URL, connections: number, connectMs: number): EnvHttpProxyAgent | Pool {
  const options = { connections, allowH2: false, connect: { timeout: connectMs }, headersTimeout: 0, bodyTimeout: 0 };
  const proxy = process.env["https_proxy"] ?? process.env["HTTPS_PROXY"];
  const proxied = base.protocol === "https:" && proxy !== undefined && proxy !== "";
  return proxied ? new EnvHttpProxyAgent(options) : new Pool(base.origin, options);
}
