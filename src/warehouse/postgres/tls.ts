import { readFileSync } from "node:fs";
import type { ConnectionOptions } from "node:tls";
import { isLoopback } from "../../config/listen.ts";
import { ConfigError } from "../../errors.ts";
import { codeOf } from "../../files.ts";
import type { Message } from "../../message.ts";
import { postgresMessages } from "./messages.ts";

/** libpq's, from the weakest to the strictest. */
const modes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"] as const;
type Mode = (typeof modes)[number];

/** What an address says about TLS, in libpq's words: pg has meanings of its own for them, and prints warnings about it. */
const parameters = ["ssl", "sslmode", "sslrootcert", "sslcert", "sslkey", "sslpassword", "sslnegotiation"] as const;

/** One way to connect; pg's `ssl`. */
export type Ssl = false | ConnectionOptions;

/** How an address wants its connections protected. */
export interface Tls {
  /** In the order in which they are tried. */
  readonly ways: readonly [Ssl, ...Ssl[]];
  readonly direct: boolean;
  /** How a connection that was made in one of these ways is protected, as `check` says it. */
  protection(ssl: Ssl): string;
  /** What is to be warned of where it was made so. */
  warning(ssl: Ssl): Message | undefined;
}

/** An address without what it says about TLS, which is kept apart. */
export function withoutTls(url: string): { readonly bare: string; readonly said: URLSearchParams } {
  const [start = "", ...rest] = url.split("?");
  const said = new URLSearchParams(rest.join("?"));
  const others = new URLSearchParams(said);
  for (const name of [...parameters, "uselibpqcompat"]) others.delete(name);
  return { bare: others.size === 0 ? start : `${start}?${others}`, said };
}

/** What libpq would do; but for loopback TLS has to be asked for, and Node's certificate authorities are the ones to trust. @throws ConfigError */
export function tlsOf(said: URLSearchParams, { host, port }: { readonly host: string; readonly port: number }): Tls {
  const given = (name: (typeof parameters)[number]) => said.get(name) || process.env[`PG${name.toUpperCase()}`];
  const file = (name: "sslrootcert" | "sslcert" | "sslkey", path = given(name)) =>
    path === undefined || path === "system" ? undefined : pem(name, path);
  const isSocket = host.startsWith("/");
  const isNear = isSocket || isLoopback(host);
  const mode = modeOf(said, isNear ? "disable" : "prefer");
  const [root, direct] = [given("sslrootcert"), given("sslnegotiation") === "direct"];
  const isWeak = modes.indexOf(mode) < modes.indexOf("require");
  if (direct && isWeak && !isSocket) throw new ConfigError(postgresMessages.direct_unencrypted({ sslmode: mode }));
  if (mode === "verify-ca" && (root === undefined || root === "system"))
    throw new ConfigError(postgresMessages.no_authority());
  const checksName = mode === "verify-full" || root === "system";
  const checksCertificate = !isWeak && (root !== undefined || mode !== "require");
  const encrypted = (): ConnectionOptions => ({
    rejectUnauthorized: checksCertificate,
    ...(checksName ? {} : { checkServerIdentity: () => undefined }),
    ca: file("sslrootcert"),
    cert: file("sslcert"),
    key: file("sslkey"),
    passphrase: said.get("sslpassword") ?? undefined,
  });
  const ways = (): Tls["ways"] => {
    if (isSocket || mode === "disable") return [false];
    if (mode === "allow") return [false, encrypted()];
    return mode === "prefer" ? [encrypted(), false] : [encrypted()];
  };
  return {
    ways: ways(),
    direct,
    protection(ssl) {
      if (ssl === false) return `not encrypted${isSocket ? " (socket)" : isNear ? " (loopback)" : ""}`;
      if (!checksCertificate) return "TLS, certificate not verified";
      return checksName ? `TLS, certificate verified for ${host}` : "TLS, certificate verified, host name not";
    },
    warning(ssl) {
      if (ssl !== false || isNear || mode === "disable") return undefined;
      return postgresMessages.unencrypted({ host, port });
    },
  };
}

/** Whether libpq would go on to the next way after this failure. */
export function triesOn(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return isAboutTls(codeOf(error) ?? "", error.message) || error.message.includes("pg_hba.conf");
}

/** Whether the two sides did not agree about TLS or a certificate. */
export function isAboutTls(code: string, message: string): boolean {
  return /SSL|[Cc]ertificate|CERT|SELF_SIGNED|UNABLE_TO_/.test(`${code} ${message}`);
}

function modeOf(address: URLSearchParams, otherwise: Mode): Mode {
  // JDBC's way to ask for it, which libpq understands.
  const ssl = address.get("ssl") === "true" ? "require" : address.get("ssl");
  const said = address.get("sslmode") || ssl || process.env["PGSSLMODE"] || otherwise;
  const mode = modes.find(each => each === said);
  if (mode !== undefined) return mode;
  throw new ConfigError(postgresMessages.unknown_sslmode({ sslmode: said, known: modes }));
}

function pem(name: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new ConfigError(
      postgresMessages.unreadable_certificate({ parameter: name, path, error_code: codeOf(cause) }),
      cause,
    );
  }
}
