import { request } from "node:http";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import type { Route } from "../../../src/daemon/page/route.ts";
import { servePage } from "../../../src/daemon/page/server.ts";
import { ConfigError, DestinationError } from "../../../src/errors.ts";
import { createRedactor } from "../../../src/secrets.ts";
import { stillClock } from "../../support/clock.ts";
import { sentence, silentLog } from "../../support/log.ts";
import { served, stream, telling, warehouseStatus } from "./warehouse_status.ts";

const quiet = telling(() => warehouseStatus([stream()]));
const page = async (url: string): Promise<string> => (await fetch(url)).text();

/** An answer to a request that says by which name it asks. */
async function askedAs(url: string, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    request(url, { headers: { host } }, response => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .once("error", reject)
      .end();
  });
}

test.each(["/", "/status.json", "/page.css", "/page.js", "/icon-good.svg", "/nothing", "/events"])(
  "%s allows nothing from elsewhere and is not kept",
  async path => {
    const { url } = await served(quiet);
    const { headers, body, status } = await fetch(url + path);
    expect(status).toBe(path === "/nothing" ? 404 : 200);
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("unsafe");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    await body?.cancel();
  },
);

test("nothing on the page needs an inline style or script, or another host", async () => {
  const { url } = await served(quiet);
  const markup = await page(url);
  expect(markup).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc="\/)/);
  const addresses = [...markup.matchAll(/(?:src|href)="([^"]*)"/g)].map(match => match[1]);
  expect(addresses.length).toBeGreaterThan(2);
  for (const address of addresses) expect(address).toMatch(/^\/([a-z]|$)/);
  expect(await page(`${url}/page.css`)).not.toMatch(/url\(|@import/);
});

test("on this machine it answers to this machine's names only", async () => {
  const { url } = await served(quiet);
  const port = new URL(url).port;
  for (const host of [`localhost:${port}`, "localhost", `127.0.0.1:${port}`, `[::1]:${port}`, "LOCALHOST:9000"])
    expect(await askedAs(url, host), host).toBe(200);
  for (const host of [
    "evil.example",
    `evil.example:${port}`,
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "[::2]",
  ])
    expect(await askedAs(url, host), host).toBe(421);
});

test("an address that others can reach is refused without a token or a login", async () => {
  const open = served(quiet, { listen: { host: "0.0.0.0", port: 0 } });
  await expect(open).rejects.toThrow(ConfigError);
  await expect(open).rejects.toThrow(/Set server\.token, or server\.login.*127\.0\.0\.1/s);
  for (const host of ["::", "192.0.2.1", "status.example"])
    await expect(served(quiet, { listen: { host, port: 0 } }), host).rejects.toThrow(/server\.token/);
  const { url } = await served(quiet, {
    listen: { host: "0.0.0.0", port: 0 },
    access: () => ({ token: "t-0123456789-abcdef", login: undefined }),
  });
  const there = `http://127.0.0.1:${new URL(url).port}`;
  expect((await fetch(there)).status).toBe(401);
  expect(await askedAs(there, "status.example")).toBe(401);
});

test("a port that is taken is named, with what to do", async () => {
  const { url } = await served(quiet);
  const port = Number(new URL(url).port);
  const second = served(quiet, { listen: { host: "127.0.0.1", port } });
  const expected = { exitCode: 2, code: "page.port_taken", fields: { host: "127.0.0.1", port } };
  await expect(second).rejects.toMatchObject(expected);
});

const token = "t-neverShown/+=73";
const login = { user: "anna", password: "pa:ss wörd" };
const basic = (user: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`,
});

test("without token and login every path answers 401 and reveals nothing", async () => {
  const { url } = await served(quiet, { access: () => ({ token, login }) });
  for (const path of ["/", "/status.json", "/events", "/page.js", "/nothing", `/?token=${token}x`, "/?token="]) {
    const answer = await fetch(url + path);
    expect(answer.status, path).toBe(401);
    expect(await answer.text()).toBe("401 Unauthorized\n");
    expect(answer.headers.get("set-cookie")).toBeNull();
  }
});

test("a token is taken as a bearer's, or once in the address, which leaves a cookie and no trace", async () => {
  const { url } = await served(quiet, { access: () => ({ token, login: undefined }) });
  const bearer = (value: string) => fetch(url, { headers: { authorization: `Bearer ${value}` } });
  expect((await bearer(token)).status).toBe(200);
  expect((await bearer(`${token}x`)).status).toBe(401);
  expect((await bearer("")).status).toBe(401);
  expect((await fetch(url)).headers.get("www-authenticate")).toBe("Bearer");

  const given = await fetch(`${url}/?a=1&token=${encodeURIComponent(token)}`, { redirect: "manual" });
  expect(given.status).toBe(303);
  expect(given.headers.get("location")).toBe("/?a=1");
  const cookie = given.headers.get("set-cookie") ?? "";
  expect(cookie).toMatch(/; HttpOnly/);
  expect(cookie).toMatch(/; SameSite=Strict/);
  expect(cookie).not.toContain(token);
  const pair = cookie.split(";")[0] ?? "";
  expect((await fetch(url, { headers: { cookie: `other=1; ${pair}` } })).status).toBe(200);
  expect((await fetch(url, { headers: { cookie: `${pair}x` } })).status).toBe(401);
  expect((await fetch(url, { headers: { cookie: `tributary=${token}` } })).status).toBe(401);

  // A browser that follows another site's link sends no strict cookie along a redirect.
  const link = { "sec-fetch-site": "cross-site" };
  const led = await fetch(`${url}/?token=${encodeURIComponent(token)}`, { headers: link, redirect: "manual" });
  expect(led.status).toBe(200);
  expect(led.headers.get("refresh")).toBe("0;url=/");
  expect(led.headers.get("set-cookie")).toBe(cookie);
  expect(await led.text()).not.toContain(token);
  // Nobody is led away to another host.
  const away = await fetch(`${url}//evil.example/?token=${encodeURIComponent(token)}`, { redirect: "manual" });
  expect(away.headers.get("location") ?? "/").toMatch(/^\/(?!\/)/);
});

test("a login is asked for by the browser's own means", async () => {
  const { url } = await served(quiet, { access: () => ({ token: undefined, login }) });
  expect((await fetch(url)).headers.get("www-authenticate")).toMatch(/^Basic realm=/);
  expect((await fetch(url, { headers: basic(login.user, login.password) })).status).toBe(200);
  expect((await fetch(url, { headers: basic(login.user, "wrong") })).status).toBe(401);
  expect((await fetch(url, { headers: basic("anna:pa", "ss wörd") })).status).toBe(200);
  expect((await fetch(url, { headers: basic("", "") })).status).toBe(401);
  expect((await fetch(`${url}/?token=undefined`)).status).toBe(401);
});

test("further routes answer, open ones without a login", async () => {
  const answer: Route["answer"] = async (asked, params) =>
    Response.json({ params, sent: await asked.text() }, { status: 202 });
  const routes: readonly Route[] = [
    { method: "POST", path: "/open/:secret", open: true, answer },
    { method: "GET", path: "/closed", open: false, answer },
  ];
  const { url } = await served(quiet, { access: () => ({ token, login: undefined }), routes });
  const open = await fetch(`${url}/open/a%20b`, { method: "POST", body: "hello" });
  expect(open.status).toBe(202);
  expect(await open.json()).toEqual({ params: { secret: "a b" }, sent: "hello" });
  expect(open.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect((await fetch(`${url}/open/a`)).status).toBe(401);
  expect((await fetch(`${url}/closed`)).status).toBe(401);
  expect((await fetch(`${url}/closed`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(202);
});

test("status.json is the status; without a warehouse it says why, without a secret", async () => {
  const status = warehouseStatus([stream()]);
  let broken: Error | undefined;
  const source = telling(() => {
    if (broken !== undefined) throw broken;
    return status;
  });
  const clock = stillClock();
  const { url } = await served(source, { clock, redact: createRedactor(["pw-hidden"]) });
  expect(await (await fetch(`${url}/status.json`)).json()).toEqual(status);
  broken = new DestinationError(sentence("Expected a database, got pw-hidden refused. Check destination.url."));
  clock.advance(60_000);
  const refused = await fetch(`${url}/status.json`);
  expect(refused.status).toBe(503);
  expect(await refused.json()).toEqual({ error: "Expected a database, got ••• refused. Check destination.url." });
  const shown = await page(url);
  expect(shown).toContain("cannot be read any more");
  expect(shown).toContain('<p class="advice">Check destination.url.</p>');
  expect(shown).toContain("items");
  expect(shown).not.toContain("pw-hidden");
});

test("a failure of the page itself is logged and tells visitors nothing", async () => {
  const answer: Route["answer"] = () => {
    throw new Error("inside");
  };
  const { url, warned } = await served(quiet, { routes: [{ method: "GET", path: "/broken", open: false, answer }] });
  const broken = await fetch(`${url}/broken`);
  expect(broken.status).toBe(500);
  expect(await broken.text()).toBe("500 Internal Server Error\n");
  expect(warned).toMatchObject([{ path: "/broken" }]);
});

test("closing ends everything at once, and the address is free again", async () => {
  const { url, close } = await served(quiet);
  const events = await fetch(`${url}/events`);
  const heard = text(events.body as unknown as AsyncIterable<string>);
  await close();
  await heard;
  await expect(fetch(url)).rejects.toThrow();
  const again = await servePage({
    listen: { host: "127.0.0.1", port: Number(new URL(url).port) },
    access: () => ({ token: undefined, login: undefined }),
    source: quiet,
    routes: [],
    log: silentLog,
    clock: stillClock(),
    redact: each => each,
  });
  await again.close();
});
