import { ConfigError } from "../errors.ts";
import { uncoded } from "../message.ts";
import type { ServerConfig } from "./config.ts";

export type Access = Pick<ServerConfig, "token" | "login">;

export type Listen = Pick<ServerConfig, "host" | "port">;

/** @throws ConfigError for a page that other machines could reach and everybody could read */
export function refuseOpenDoor({ host, port }: Listen, { token, login }: Access): void {
  if (isLoopback(host) || token !== undefined || login !== undefined) return;
  throw new ConfigError(
    uncoded(
      `server.listen: ${origin(host, port)} can be reached from other machines, and nothing says who may see the status page. Set server.token, or server.login with user and password; or listen on 127.0.0.1:${port}, for this machine only.`,
    ),
  );
}

/** Whether an address is this machine's own, whatever the network. */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|::1|::ffff:127(?:\.\d{1,3}){3})$/i.test(host);
}

/** `127.0.0.1:8787`, `[::1]:8787`. */
export const origin = (host: string, port: number): string => `${host.includes(":") ? `[${host}]` : host}:${port}`;
