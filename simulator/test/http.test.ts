import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterEach, expect, test, vi } from "vitest";
import { type Simulator, type SimulatorOptions, startSimulator } from "../simulator.ts";
import { ask, type ErrorEnvelope, type Json, read, stillClock } from "./reading.ts";

let simulator: Simulator | undefined;
afterEach(async () => {
  await simulator?.close();
  simulator = undefined;
});

async function start(options: SimulatorOptions = {}): Promise<Simulator> {
  simulator = await startSimulator({ now: stillClock().now, ...options });
  return simulator;
}

/** The bytes as they came, without the decompression that fetch does. */
async function bytes(service: Simulator, path: string, encoding: string): Promise<{ encoding: string; body: Buffer }> {
  const message = httpRequest(`${service.url}/api/v1${path}`, {
    headers: { "x-api-key": service.key, "accept-encoding": encoding },
  });
  message.end();
  const [response] = await once(message, "response");
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { encoding: String(response.headers["content-encoding"]), body: Buffer.concat(chunks) };
}

test("the key is taken from either header, and without it every path answers 401 with the error envelope", async () => {
  const service = await start({ key: "sesam" });
  const url = `${service.url}/api/v1/auth/company-settings`;
  for (const headers of [{ authorization: "Bearer sesam" }, { "x-api-key": "sesam" }]) {
    expect((await fetch(url, { headers })).status).toBe(200);
  }
  const refused: Record<string, string>[] = [
    {},
    { "x-api-key": "wrong" },
    { authorization: "Bearer wrong" },
    { authorization: "sesam" },
  ];
  for (const headers of refused) {
    const response = await fetch(url, { headers });
    expect(response.status).toBe(401);
    const { error } = (await response.json()) as ErrorEnvelope;
    expect(Object.keys(error)).toEqual(["code", "message", "details", "request_id"]);
    expect(error.request_id).toBe(response.headers.get("x-request-id"));
  }
  expect((await fetch(`${service.url}/api/v1/nowhere`)).status).toBe(401);
});

test("a renewed key is the only one taken, and with a seed of its own it is another company's", async () => {
  const service = await start({ key: "sesam" });
  const status = async (key: string) =>
    (await fetch(`${service.url}/api/v1/items`, { headers: { "x-api-key": key } })).status;
  service.renewKey("mohn");
  expect([service.key, await status("sesam"), await status("mohn")]).toEqual(["mohn", 401, 200]);
  const companyOf = async () => (await read(service, "/auth/company-settings")).data["company_id"];
  const own = await companyOf();
  service.renewKey("mohn", 9);
  expect(await companyOf()).not.toBe(own);
  service.renewKey("mohn");
  expect(await companyOf()).toBe(own);
});

test("unknown paths, unknown keys and other methods answer 404 and name what is missing", async () => {
  const service = await start();
  const key = { "x-api-key": service.key };
  const paths = ["/nowhere", "/po/PO-999999", "/po/", "/po/PO-1/x", "/reconciliation/DOC-0/line-items", "/po/%E0%A4%A"];
  for (const path of paths) {
    const response = await ask(service, path);
    expect([path, response.status]).toEqual([path, 404]);
    expect(((await response.json()) as ErrorEnvelope).error.code).toBe("RESOURCE_NOT_FOUND");
  }
  expect((await fetch(`${service.url}/po`, { headers: key })).status).toBe(404);
  expect((await fetch(`${service.url}/api/v1/po`, { method: "POST", headers: key, body: "{}" })).status).toBe(404);
  expect(((await (await ask(service, "/po/PO-999999")).json()) as ErrorEnvelope).error.message).toContain("PO-999999");
});

test("an order whose number holds a slash, a space and an umlaut is found by its encoded path", async () => {
  const service = await start();
  const key = "PO/41 Süd";
  expect((await read(service, `/po/${encodeURIComponent(key)}`)).data["po_number"]).toBe(key);
  expect(service.truth.get(`/po/${encodeURIComponent(key)}`)).toMatchObject({ po_number: key });
  expect((await ask(service, "/po/PO/41%20S%C3%BCd")).status).toBe(404);
  expect((await ask(service, "/po/PO-41")).status).toBe(404);
});

test("the Date header is the given clock's", async () => {
  const clock = stillClock("2026-03-15T12:00:00Z");
  const service = await start({ now: clock.now });
  expect((await ask(service, "/po/stats")).headers.get("date")).toBe("Sun, 15 Mar 2026 12:00:00 GMT");
  clock.move("2031-01-01T00:00:00Z");
  expect((await ask(service, "/po/stats")).headers.get("date")).toBe("Wed, 01 Jan 2031 00:00:00 GMT");
});

test("answers are compressed only when that is switched on and asked for", async () => {
  const service = await start({ compression: true });
  const plain = await bytes(service, "/items?limit=100", "identity");
  const gzip = await bytes(service, "/items?limit=100", "gzip, deflate");
  const brotli = await bytes(service, "/items?limit=100", "gzip, br");
  expect([plain.encoding, gzip.encoding, brotli.encoding]).toEqual(["undefined", "gzip", "br"]);
  expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true);
  expect(brotliDecompressSync(brotli.body).equals(plain.body)).toBe(true);
  expect(gzip.body.length).toBeLessThan(plain.body.length / 3);
  await service.close();
  expect((await bytes(await start(), "/items", "gzip, br")).encoding).toBe("undefined");
});

test("every request is logged with its endpoint's template, query, status and headers", async () => {
  const service = await start();
  await Promise.all(
    ["/po?limit=5", "/po/PO-1", "/po/PO-2", "/po/none"].map(path => ask(service, path).then(r => r.text())),
  );
  const { requests } = service;
  expect([requests.total, requests.count("/po"), requests.count("/po/{po_number}")]).toEqual([4, 1, 3]);
  // A reader may have the last answer before the service knows that it went out.
  await vi.waitFor(() => expect(requests.entries).toHaveLength(4), { timeout: 60_000 });
  expect(requests.maxInFlight).toBeGreaterThanOrEqual(1);
  const list = requests.entries.find(({ path }) => path === "/po");
  expect(list).toMatchObject({ method: "GET", template: "/po", query: { limit: "5" }, status: 200 });
  expect(list?.headers["x-api-key"]).toBe(service.key);
  expect(requests.entries.map(({ status }) => status).sort()).toEqual([200, 200, 200, 404]);
  requests.clear();
  expect([requests.total, requests.count("/po"), requests.entries.length]).toEqual([0, 0, 0]);
});

test("a simulator in another process is steered over HTTP, where that is switched on", async () => {
  const service = await start({ control: true });
  const call = async (method: string, path: string, body?: unknown): Promise<Json> => {
    const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
    return (await (await fetch(`${service.url}/_simulator${path}`, init)).json()) as Json;
  };
  await read(service, "/po?limit=1");
  const said = await call("GET", "/requests");
  expect(said).toEqual({ total: 1, counts: { "/po": 1 }, spent_ms: { "/po": expect.any(Number) }, max_in_flight: 1 });
  await call("DELETE", "/requests");
  expect(service.requests.total).toBe(0);

  const keys = (await call("POST", "/change", { insert: { items: 2 }, delete: { purchase_orders: 3 } })) as {
    insert: { items: string[] };
    delete: { purchase_orders: string[] };
  };
  expect([keys.insert.items.length, keys.delete.purchase_orders.length]).toEqual([2, 3]);
  expect([service.truth.count("items"), service.truth.count("purchase_orders")]).toEqual([102, 197]);
  const truth = await call("GET", "/truth?stream=items&offset=1&limit=2");
  expect(truth["count"]).toBe(102);
  expect(JSON.stringify(truth["rows"])).toBe(JSON.stringify([...service.truth.rows("items")].slice(1, 3)));

  await call("PUT", "/faults", { badGateway: 1 });
  expect((await ask(service, "/po")).status).toBe(502);
  expect(await call("PUT", "/faults", { badGateways: 1 })).toMatchObject({ error: { code: "CONTROL" } });
  await service.close();
  expect((await fetch(`${(await start()).url}/_simulator/requests`)).status).toBe(401);
});

test("the settings name the company and hold a secret", async () => {
  const { data } = await read(await start({ seed: 1 }), "/auth/company-settings");
  expect(data["company_id"]).toMatch(/^cmp_/);
  expect(data["webhook_secret"]).toMatch(/^whsec_/);
});
