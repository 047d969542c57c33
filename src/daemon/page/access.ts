import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { Access } from "../../config/listen.ts";
import { isLoopback } from "../../config/listen.ts";

/** What a request is told about who sent it. */
export type Admission =
  | { readonly kind: "welcome" }
  /** It brought the token in its address: a cookie takes its place there. */
  | { readonly kind: "remember"; readonly cookie: string; readonly location: string }
  | { readonly kind: "stranger"; readonly challenge: string };

const COOKIE = "tributary";

/**
 * Whether a Host header is one under which a page on `host` is asked for. A page of this machine answers to the machine's own
 * names only: else a stranger's website could make its name mean 127.0.0.1 and read the page through a visitor's browser.
 */
export function isOwnName(host: string, header: string | undefined): boolean {
  if (!isLoopback(host)) return true;
  const name = /^(?<name>\[[^\]]*\]|[^:]*)(?::\d*)?$/.exec(header ?? "")?.groups?.["name"]?.toLowerCase();
  return name !== undefined && isLoopback(name.replace(/^\[|\]$/g, ""));
}

/** Decides about requests. Every comparison is of two digests and takes as long whatever was sent. */
export function doorkeeper({ token, login }: Access): (request: Request) => Admission {
  // The cookie is no token: who finds one can look at the page and at nothing else the token opens.
  const cookie = token === undefined ? undefined : createHmac("sha256", token).update("status page").digest("hex");
  const basic = login && `Basic ${Buffer.from(`${login.user}:${login.password}`).toString("base64")}`;
  const challenge = login === undefined ? "Bearer" : 'Basic realm="status", charset="UTF-8"';
  return request => {
    if (token === undefined && login === undefined) return { kind: "welcome" };
    const header = request.headers.get("authorization") ?? "";
    const url = new URL(request.url);
    const given = url.searchParams.get("token");
    if (token !== undefined && cookie !== undefined) {
      if (given !== null && isSame(given, token)) {
        url.searchParams.delete("token");
        const path = url.pathname.replace(/^\/+/, "/");
        return {
          kind: "remember",
          cookie: `${COOKIE}=${cookie}; Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000`,
          location: `${path}${url.search}`,
        };
      }
      if (isSame(header.replace(/^Bearer +/i, "Bearer "), `Bearer ${token}`)) return { kind: "welcome" };
      if (isSame(cookieOf(request), cookie)) return { kind: "welcome" };
    }
    if (basic !== undefined && isSame(header.replace(/^Basic +/i, "Basic "), basic)) return { kind: "welcome" };
    return { kind: "stranger", challenge };
  };
}

function cookieOf(request: Request): string {
  const pairs = (request.headers.get("cookie") ?? "").split(";").map(pair => pair.trim().split("="));
  return pairs.find(([name]) => name === COOKIE)?.[1] ?? "";
}

function isSame(given: string, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
