import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { Clock } from "../../clock.ts";
import { type Access, isLoopback, type Listen } from "../../config/listen.ts";
import type { Log } from "../../logging.ts";
import { pageMessages } from "./messages.ts";

export type Admission =
  | { readonly kind: "welcome" }
  /** The token came in the address: it is replaced by a cookie. */
  | { readonly kind: "remember"; readonly cookie: string; readonly location: string }
  | Refusal;

interface Refusal {
  readonly kind: "stranger" | "refused";
  readonly status: 401 | 403 | 429;
  readonly text: string;
  readonly headers?: Record<string, string>;
}

export interface Door {
  /** `from` is the address that the connection comes from. */
  admit(request: Request, from: string): Admission;
  /** Whether a request that was admitted would be admitted now. */
  isWelcome(request: Request): boolean;
}

/** `access` is asked at each request, so that a reloaded configuration holds. */
export interface DoorSources {
  readonly listen: Listen;
  readonly access: () => Access;
  readonly clock: Clock;
  readonly log: Log;
}

const COOKIE = "tributary";
const COOKIE_S = 30 * 86_400;
const MINUTE_MS = 60_000;
/** Wrong tokens and logins that one guesser may try within a minute. */
const GUESSES = 10;
const MOST_GUESSERS = 10_000;

/**
 * Whether a Host header is one under which a page on `host` is asked for. A page of this machine answers to the machine's own
 * names only: else a stranger's website could make its name mean 127.0.0.1 and read the page through a visitor's browser.
 */
export function isOwnName(host: string, header: string | undefined): boolean {
  if (!isLoopback(host)) return true;
  const name = /^(?<name>\[[^\]]*\]|[^:]*)(?::\d*)?$/.exec(header ?? "")?.groups?.["name"]?.toLowerCase();
  return name !== undefined && isLoopback(name.replace(/^\[|\]$/g, ""));
}

/** Compares digests only, so that comparisons take constant time. */
export function doorkeeper({ listen, access, clock, log }: DoorSources): Door {
  const guesses = guessCounter(clock);

  function judge(request: Request): Admission {
    const { token, login } = access();
    if (token === undefined && login === undefined) return withoutCredentials(request, listen);
    const header = request.headers.get("authorization") ?? "";
    const now = Math.floor(clock.now() / 1_000);
    if (token !== undefined) {
      const url = new URL(request.url);
      const given = url.searchParams.get("token");
      if (given !== null && isSame(given, token)) {
        url.searchParams.delete("token");
        const path = url.pathname.replace(/^\/+/, "/");
        return {
          kind: "remember",
          cookie: `${COOKIE}=${sealed(token, String(now + COOKIE_S))}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${COOKIE_S}`,
          location: `${path}${url.search}`,
        };
      }
      if (isSame(header.replace(/^Bearer +/i, "Bearer "), `Bearer ${token}`)) return { kind: "welcome" };
      const cookie = cookieOf(request);
      const [end = ""] = cookie.split(".");
      if (isSame(cookie, sealed(token, end)) && Number(end) > now) return { kind: "welcome" };
    }
    const basic = login && `Basic ${Buffer.from(`${login.user}:${login.password}`).toString("base64")}`;
    if (basic !== undefined && isSame(header.replace(/^Basic +/i, "Basic "), basic)) return { kind: "welcome" };
    const challenge = login === undefined ? "Bearer" : 'Basic realm="status", charset="UTF-8"';
    const headers = { "www-authenticate": challenge };
    return { kind: "stranger", status: 401, text: "401 Unauthorized\n", headers };
  }

  return {
    isWelcome: request => judge(request).kind === "welcome",
    admit(request, from) {
      const admission = judge(request);
      const isTry = request.headers.has("authorization") || new URL(request.url).searchParams.has("token");
      if (!isTry || admission.kind === "refused") return admission;
      // Right credentials are refused too, or guessing would not be slowed. Cookies are signed and cannot be guessed.
      const guesser = guesserOf(request, from);
      if (guesses.of(guesser) >= GUESSES) {
        const seconds = String(Math.ceil((MINUTE_MS - (clock.now() % MINUTE_MS)) / 1_000));
        const text = `Too many wrong tokens or logins came from your address; try again in ${seconds} s.\n`;
        return { kind: "refused", status: 429, text, headers: { "retry-after": seconds } };
      }
      if (admission.kind === "stranger")
        log.warn(pageMessages.wrong_login(), { from: guesser, guesses: guesses.count(guesser) });
      return admission;
    },
  };
}

/** Without token and login only requests from this machine are answered, and none that a proxy forwards. */
function withoutCredentials(request: Request, listen: Listen): Admission {
  const proxied = proxyHeader(request);
  const got = proxied === undefined ? undefined : `one that a proxy passes on (${proxied})`;
  const came = isLoopback(listen.host) ? got : "one at an address that other machines reach";
  if (came === undefined) return { kind: "welcome" };
  const text = `403 Forbidden: expected a request from this machine, got ${came}, and the status page has no token. Set server.token, or server.login, in the configuration.\n`;
  return { kind: "refused", status: 403, text };
}

const proxyHeader = (request: Request): string | undefined =>
  ["X-Forwarded-For", "Forwarded"].find(name => request.headers.has(name));

/** An IPv6 network (/64) counts as one guesser, and so do all visitors of a proxy, whose header can be forged. */
function guesserOf(request: Request, from: string): string {
  const network = from.includes(".") ? from : from.split(":").slice(0, 4).join(":");
  return proxyHeader(request) === undefined ? network : `${network} (proxy)`;
}

function guessCounter(clock: Clock): { of(guesser: string): number; count(guesser: string): number } {
  const counts = new Map<string, number>();
  let minute = 0;
  const of = (guesser: string): number => {
    const now = Math.floor(clock.now() / MINUTE_MS);
    if (now !== minute) counts.clear();
    minute = now;
    // More guessers than that are one attacker with many addresses.
    return counts.get(guesser) ?? (counts.size < MOST_GUESSERS ? 0 : GUESSES);
  };
  return {
    of,
    count(guesser) {
      counts.set(guesser, of(guesser) + 1);
      return of(guesser);
    },
  };
}

/** A signed cookie, valid until `end` (Unix time). Unlike the token it opens the page only. */
function sealed(token: string, end: string): string {
  return `${end}.${createHmac("sha256", token).update(`status page until ${end}`).digest("hex")}`;
}

function cookieOf(request: Request): string {
  const pairs = (request.headers.get("cookie") ?? "").split(";").map(pair => pair.trim().split("="));
  return pairs.find(([name]) => name === COOKIE)?.[1] ?? "";
}

export function isSame(given: string, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
