import { expect, test } from "vitest";
import type { Access } from "../../../src/config/listen.ts";
import type { Route } from "../../../src/daemon/page/route.ts";
import { stillClock } from "../../support/clock.ts";
import { scriptedDaemon } from "./scripted.ts";
import { served, stream, telling, warehouseStatus } from "./warehouse_status.ts";

const quiet = telling(() => warehouseStatus([stream()]));
const token = "t-neverShown/+=73";
const login = { user: "anna", password: "pa:ss wörd" };
const open: Access = { token: undefined, login: undefined };
const bearer = (value: string) => ({ authorization: `Bearer ${value}` });
const basic = (password: string) => ({
  authorization: `Basic ${Buffer.from(`${login.user}:${password}`).toString("base64")}`,
});

async function cookieOf(url: string): Promise<string> {
  const given = await fetch(`${url}/?token=${encodeURIComponent(token)}`, { redirect: "manual" });
  return given.headers.get("set-cookie") ?? "";
}

test("a cookie lives for 30 days, whatever the browser keeps", async () => {
  const clock = stillClock();
  const { url } = await served(quiet, { access: () => ({ token, login: undefined }), clock });
  const set = await cookieOf(url);
  expect(set).toContain("; Max-Age=2592000");
  const cookie = set.split(";")[0] ?? "";
  const statusWith = async (value: string) => (await fetch(url, { headers: { cookie: value } })).status;
  clock.advance(30 * 86_400_000 - 1_000);
  expect(await statusWith(cookie)).toBe(200);
  clock.advance(1_000);
  expect(await statusWith(cookie)).toBe(401);
  // Its end is part of what is sealed.
  expect(await statusWith(cookie.replace(/=\d+/, "=99999999999"))).toBe(401);
});

test("a replaced token or login holds at once, and pages that were open under the old one end", async () => {
  const daemon = scriptedDaemon();
  let access: Access = { token, login };
  const { url } = await served({ ...quiet, daemon }, { access: () => access });
  const cookie = (await cookieOf(url)).split(";")[0] ?? "";
  const sessions = [{ cookie }, bearer(token), basic(login.password)];
  const streams = await Promise.all(sessions.map(headers => fetch(`${url}/events`, { headers })));
  for (const { status } of streams) expect(status).toBe(200);
  access = { token: `${token}-new`, login: { ...login, password: "another one" } };
  daemon.tell({ kind: "reloaded", changed: [] });
  const heard = await Promise.all(streams.map(each => each.text()));
  for (const text of heard) expect(text).not.toContain("changed");
  for (const headers of sessions) expect((await fetch(url, { headers })).status).toBe(401);
  for (const headers of [bearer(`${token}-new`), basic("another one")])
    expect((await fetch(url, { headers })).status).toBe(200);
});

test("a page that other machines reach stays closed when a reload leaves it without a token", async () => {
  let access: Access = { token, login: undefined };
  const { url } = await served(quiet, { listen: { host: "0.0.0.0", port: 0 }, access: () => access });
  access = open;
  const there = `http://127.0.0.1:${new URL(url).port}`;
  const answer = await fetch(there, { headers: bearer(token) });
  expect(answer.status).toBe(403);
  expect(await answer.text()).toMatch(
    /expected .*, got one at an address that other machines reach.*Set server\.token/,
  );
});

test("guesses are logged, and after ten a minute none is looked at", async () => {
  const clock = stillClock();
  const { url, warned } = await served(quiet, { access: () => ({ token, login }), clock });
  const cookie = (await cookieOf(url)).split(";")[0] ?? "";
  const statusOf = async (headers: Record<string, string>) => (await fetch(url, { headers })).status;
  // Who brings nothing has not guessed.
  for (let i = 0; i < 20; i++) expect(await statusOf({})).toBe(401);
  expect(warned).toEqual([]);
  for (let i = 0; i < 5; i++) {
    expect(await statusOf(basic(`wrong-${i}`))).toBe(401);
    expect((await fetch(`${url}/?token=wrong-${i}`)).status).toBe(401);
  }
  expect(warned).toHaveLength(10);
  expect(warned.at(-1)).toEqual({ from: "127.0.0.1", guesses: 10 });
  expect(JSON.stringify(warned)).not.toContain("wrong");
  const refused = await fetch(url, { headers: basic(login.password) });
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await refused.text()).toMatch(/try again in \d+ s/);
  expect(await statusOf(bearer(token))).toBe(429);
  // Pages that are open go on, and guesses through a proxy are counted apart, whatever they say of where they come from.
  expect(await statusOf({ cookie })).toBe(200);
  for (let i = 0; i < 10; i++) expect(await statusOf({ ...basic("x"), "x-forwarded-for": `192.0.2.${i}` })).toBe(401);
  expect(await statusOf({ ...basic(login.password), "x-forwarded-for": "192.0.2.99" })).toBe(429);
  expect(warned).toHaveLength(20);
  clock.advance(60_000);
  expect(await statusOf(basic(login.password))).toBe(200);
});

test("a page without a token is not for a proxy's visitors; what is open stays open", async () => {
  const routes: readonly Route[] = [{ method: "GET", path: "/open", open: true, answer: () => new Response("yes") }];
  const page = await served(quiet, { routes });
  for (const [name, value] of [
    ["X-Forwarded-For", "192.0.2.1"],
    ["Forwarded", "for=192.0.2.1"],
  ] as const) {
    const headers = { [name]: value };
    for (const path of ["/", "/status.json", "/events"]) {
      const answer = await fetch(page.url + path, { headers });
      expect(answer.status).toBe(403);
      expect(await answer.text()).toMatch(
        `that a proxy passes on (${name}), and the status page has no token. Set server.token`,
      );
    }
    expect((await fetch(`${page.url}/open`, { headers })).status).toBe(200);
    const guarded = await served(quiet, { access: () => ({ token, login: undefined }) });
    expect((await fetch(guarded.url, { headers: { ...headers, ...bearer(token) } })).status).toBe(200);
  }
  expect((await fetch(page.url)).status).toBe(200);
});
