import type { ConnectionOptions } from "node:tls";
import { parse } from "pg-connection-string";
import { isLoopback } from "../../config/listen.ts";
import { ConfigError } from "../../errors.ts";
import { codeOf } from "../../files.ts";
import type { Message } from "../../message.ts";
import { postgresMessages } from "./messages.ts";

const modes = ["disable", "prefer", "require", "verify-ca", "verify-full"];

const parameters = ["ssl", "sslmode", "sslrootcert", "sslcert", "sslkey", "sslpassword", "sslnegotiation"];

/** One way to connect; pg's `ssl`. */
export type Ssl = false | ConnectionOptions;

export interface Tls {
  /** In the order in which they are tried. */
  readonly ways: readonly [Ssl, ...Ssl[]];
  readonly direct: boolean;
  /** How a connection that was made in one of these ways is protected, as `check` says it. */
  protection(ssl: Ssl): string;
  warning(ssl: Ssl): Message | undefined;
}

/** An address without its parameters about TLS, and those, with what the environment adds (`PGSSLMODE` …). */
export function withoutTls(url: string): { readonly bare: string; readonly said: URLSearchParams } {
  const [start = "", ...rest] = url.split("?");
  const others = new URLSearchParams(rest.join("?"));
  others.delete("uselibpqcompat");
  const said = new URLSearchParams();
  for (const name of parameters) {
    const value = others.get(name) || process.env[`PG${name.toUpperCase()}`];
    if (value) said.set(name, value);
    others.delete(name);
  }
  return { bare: others.size === 0 ? start : `${start}?${others}`, said };
}

/** The ways that libpq would take; but TLS to a loopback address is asked for, and Node's certificate authorities are trusted. @throws ConfigError */
export function tlsOf(said: URLSearchParams, { host, port }: { readonly host: string; readonly port: number }): Tls {
  const isSocket = host.startsWith("/");
  const isNear = isSocket || isLoopback(host);
  const mode = said.get("sslmode") ?? (said.has("ssl") || said.has("sslnegotiation") || isNear ? undefined : "prefer");
  const encrypted = isSocket ? undefined : sslOf(said, mode);
  return {
    ways: encrypted === undefined ? [false] : mode === "prefer" ? [encrypted, false] : [encrypted],
    direct: said.get("sslnegotiation") === "direct",
    protection(ssl) {
      if (ssl === false) return `not encrypted${isSocket ? " (socket)" : isNear ? " (loopback)" : ""}`;
      if (ssl.rejectUnauthorized === false) return "TLS, certificate not verified";
      return ssl.checkServerIdentity === undefined
        ? `TLS, certificate verified for ${host}`
        : "TLS, certificate verified, host name not";
    },
    warning(ssl) {
      if (ssl !== false || isNear || mode === "disable") return undefined;
      return postgresMessages.unencrypted({ host, port });
    },
  };
}

/** Undefined: no TLS. @throws ConfigError */
function sslOf(said: URLSearchParams, mode: string | undefined): ConnectionOptions | undefined {
  if (mode !== undefined && !modes.includes(mode))
    throw new ConfigError(postgresMessages.unknown_sslmode({ sslmode: mode, known: modes }));
  if (mode === "verify-ca" && !said.has("sslrootcert")) throw new ConfigError(postgresMessages.no_authority());
  const wanted = new URLSearchParams(said);
  if (mode !== undefined) wanted.set("sslmode", mode);
  try {
    const { ssl } = parse(`postgres:///?${wanted}`, { useLibpqCompat: true });
    if (!ssl || ssl === "false") return undefined;
    const options = typeof ssl === "object" ? (ssl as ConnectionOptions) : {};
    return { ...options, passphrase: said.get("sslpassword") ?? undefined };
  } catch (cause) {
    const path = (cause as NodeJS.ErrnoException).path ?? "";
    const parameter = parameters.find(name => said.get(name) === path) ?? "";
    const error_code = codeOf(cause);
    throw new ConfigError(postgresMessages.unreadable_certificate({ parameter, path, error_code }), cause);
  }
}

/** Whether libpq would go on to the next way after this failure. */
export function triesOn(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return isAboutTls(codeOf(error) ?? "", error.message) || error.message.includes("pg_hba.conf");
}

export function isAboutTls(code: string, message: string): boolean {
  return /SSL|[Cc]ertificate|CERT|SELF_SIGNED|UNABLE_TO_/.test(`${code} ${message}`);
}
