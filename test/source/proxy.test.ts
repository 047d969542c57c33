import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { client, json, serve } from "./service.ts";

const names = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy"];
let saved: Record<string, string | undefined> = {};
beforeEach(() => {
  saved = Object.fromEntries(names.map(name => [name, process.env[name]]));
  for (const name of names) delete process.env[name];
});
afterEach(() => {
  for (const name of names) {
    if (saved[name] === undefined) delete process.env[name];
    else process.env[name] = saved[name];
  }
});

/** A proxy that notes what it should connect to, with which headers, and refuses. */
async function refusingProxy() {
  const asked: { target: string | undefined; authorization: string | undefined }[] = [];
  const server = createServer((_request, response) => response.writeHead(500).end());
  server.on("connect", (request, socket) => {
    asked.push({ target: request.url, authorization: request.headers.authorization });
    socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
  });
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, asked, [Symbol.asyncDispose]: () => new Promise<void>(resolve => server.close(() => resolve())) };
}

test("HTTPS_PROXY is asked for a tunnel to the service, and never sees the key", async () => {
  await using proxy = await refusingProxy();
  process.env["HTTPS_PROXY"] = proxy.url;
  await using api = client("https://service.invalid");
  await expect(api.get("/po", {})).rejects.toMatchObject({ failure: "unavailable" });
  expect(proxy.asked[0]).toEqual({ target: "service.invalid:443", authorization: undefined });
});

test("NO_PROXY goes around it, and so does a service without TLS", async () => {
  await using proxy = await refusingProxy();
  process.env["HTTPS_PROXY"] = proxy.url;
  process.env["NO_PROXY"] = "service.invalid";
  await using direct = client("https://service.invalid", { timeoutMs: 300 });
  await expect(direct.get("/po", {})).rejects.toMatchObject({ failure: "unavailable" });
  await using service = await serve(response => json(response, 200, { data: 1 }));
  await using plain = client(service.url);
  expect(await plain.get("/po", {})).toMatchObject({ data: 1 });
  expect(proxy.asked).toEqual([]);
});
