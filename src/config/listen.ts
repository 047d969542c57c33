import { ConfigError } from "../errors.ts";
import type { ServerConfig } from "./config.ts";
import { configMessages } from "./messages.ts";

export type Access = Pick<ServerConfig, "token" | "login">;

export type Listen = Pick<ServerConfig, "host" | "port">;

/** @throws ConfigError for a page that other machines could reach and everybody could read */
export function refuseOpenDoor({ host, port }: Listen, { token, login }: Access): void {
  if (isLoopback(host) || token !== undefined || login !== undefined) return;
  throw new ConfigError(configMessages.open_status_page({ address: origin(host, port), port }));
}

/** Whether an address is this machine's own, whatever the network. */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|::1|::ffff:127(?:\.\d{1,3}){3})$/i.test(host);
}

/** `127.0.0.1:8787`, `[::1]:8787`. */
export const origin = (host: string, port: number): string => `${host.includes(":") ? `[${host}]` : host}:${port}`;
