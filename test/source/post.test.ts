import { createHash } from "node:crypto";
import { mkdtemp, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { ApiError } from "../../src/errors.ts";
import { type Content, putFile } from "../../src/source/presigned.ts";
import { client, json, key, serve } from "./service.ts";

const failureOf = async (sent: Promise<unknown> | undefined): Promise<ApiError> => {
  const error = await sent?.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ApiError);
  return error as ApiError;
};

test("a post carries JSON and the key, and is retried where it is not said to be sent once", async () => {
  const bodies: string[] = [];
  await using service = await serve(async (response, request, count) => {
    bodies.push(`${request.method} ${request.headers["content-type"]} ${await text(request)}`);
    if (count === 1) json(response, 500, { error: { code: "X", message: "x" } });
    else json(response, 200, { data: { ok: true } });
  });
  await using api = client(service.url);
  expect(await api.post?.("/start", { a: "ä" })).toMatchObject({ data: { ok: true }, requests: 2 });
  expect(bodies).toEqual(Array(2).fill('POST application/json {"a":"ä"}'));
  expect(service.requests[0]?.headers["authorization"]).toBe(`Bearer ${key}`);
});

test("neither what privacy treats nor the archive sees a post's answer: it may be an address that opens something", async () => {
  await using service = await serve((response, _, count) =>
    json(response, count === 1 ? 200 : 404, count === 1 ? { data: 1 } : { error: { code: "N", message: "n" } }),
  );
  const seen: unknown[] = [];
  const treat = (path: string) => void seen.push(path);
  await using api = client(service.url, { onAnswer: answer => seen.push(answer), treat });
  await api.post?.("/start", {});
  await failureOf(api.post?.("/start", {}));
  expect(seen).toEqual([]);
});

type Answers = (response: Parameters<Parameters<typeof serve>[0]>[0], request: IncomingMessage) => void;

test.each<[string, Answers]>([
  ["a 500", response => json(response, 500, { error: { code: "X", message: "x" } })],
  ["a lost answer", (response, request) => request.resume().on("end", () => response.socket?.destroy())],
  [
    "half an answer",
    response => response.writeHead(200, { "content-length": "10" }).write("{", () => response.destroy()),
  ],
  ["an answer that is not the service's", response => response.writeHead(200).end("<html>")],
  ["success without data", response => json(response, 200, {})],
  ["a redirect", response => response.writeHead(303, { location: "/elsewhere" }).end()],
  ["404 from something else", response => response.writeHead(404).end("not here")],
])("what is sent once is not sent again after %s, and nobody claims to know", async (_, answer) => {
  await using service = await serve((response, request) => answer(response, request));
  await using api = client(service.url);
  const error = await failureOf(api.post?.("/finish", {}, { once: true }));
  expect(error).toMatchObject({ failure: "unconfirmed", exitCode: 5, attempts: 1 });
  expect(error.message).toContain("Expected data from POST /finish, got ");
  expect(error.message).not.toContain(key);
  expect(service.requests).toHaveLength(1);
});

test("what is sent once is asked again where it was refused for now, or never left this machine", async () => {
  await using service = await serve((response, _, count) => {
    if (count === 1) json(response, 429, { error: { code: "LIMITED", message: "l" } });
    else json(response, 200, { data: 1 });
  });
  await using api = client(service.url);
  expect(await api.post?.("/finish", {}, { once: true })).toMatchObject({ requests: 2 });
  await using nobody = client("http://127.0.0.1:1");
  expect(await failureOf(nobody.post?.("/finish", {}, { once: true }))).toMatchObject({
    failure: "unavailable",
    attempts: 6,
  });
  await using strict = await serve(response => json(response, 422, { error: { code: "V", message: "v" } }));
  await using other = client(strict.url);
  expect(await failureOf(other.post?.("/finish", {}, { once: true }))).toMatchObject({
    failure: "invalid",
    status: 422,
  });
});

async function contentOf(body: string, claimed = body): Promise<Content> {
  const path = join(await mkdtemp(join(tmpdir(), "put-")), "file.pdf");
  await writeFile(path, body);
  return { path, bytes: Buffer.byteLength(claimed), sha256: createHash("sha256").update(claimed).digest("hex") };
}

const how = { isPlainAllowed: true, timeoutMs: 30_000, signal: new AbortController().signal };

test("a file goes to its address with its type and length, and nothing that is secret", async () => {
  const got: string[] = [];
  await using service = await serve(async (response, request) => {
    got.push(`${request.method} ${request.url} ${await text(request)}`);
    response.end();
  });
  const outcome = await putFile(
    `${service.url}/a%20b?sig=1`,
    await contentOf("x".repeat(200_000)),
    "application/pdf",
    how,
  );
  expect(outcome.kind).toBe("stored");
  expect(got).toEqual([`PUT /a%20b?sig=1 ${"x".repeat(200_000)}`]);
  const { host: _, connection: __, ...headers } = service.requests[0]!.headers;
  expect(headers).toEqual({ "content-type": "application/pdf", "content-length": "200000" });
});

test.each([
  [403, "expired"],
  [400, "expired"],
  [413, "refused"],
  [404, "refused"],
  [302, "refused"],
  [503, "again"],
  [429, "again"],
] as const)("status %i of an upload means %s", async (status, kind) => {
  await using service = await serve((response, request) =>
    request.resume().on("end", () => response.writeHead(status, { location: "http://127.0.0.1:1/x" }).end()),
  );
  expect(await putFile(service.url, await contentOf("x"), "text/plain", how)).toMatchObject({ kind, status });
  expect(service.requests).toHaveLength(1);
});

test("a file that changed since it was hashed is not taken for what it was", async () => {
  await using service = await serve((response, request) => request.resume().on("end", () => response.end()));
  for (const body of ["other", "longer than it was", "x"])
    expect(await putFile(service.url, await contentOf(body, "three"), "text/plain", how)).toMatchObject({
      kind: "refused",
      what: expect.stringContaining("changed"),
    });
});

test("an address in plain http is taken only where the service is spoken to so, and a lost answer may be tried again", async () => {
  await using service = await serve(response => void response.socket?.destroy());
  const content = await contentOf("x");
  expect(await putFile(service.url, content, "text/plain", how)).toMatchObject({ kind: "again", status: undefined });
  const strict = { ...how, isPlainAllowed: false };
  for (const address of [service.url, "file:///etc/passwd", "nothing"])
    expect(await putFile(address, content, "text/plain", strict)).toMatchObject({ kind: "refused" });
  expect(service.requests).toHaveLength(1);
});

test("an upload ends with the signal's reason", async () => {
  await using service = await serve(() => undefined);
  const stop = new AbortController();
  const sent = putFile(service.url, await contentOf("x"), "text/plain", { ...how, signal: stop.signal });
  setTimeout(() => stop.abort(new Error("stopped")), 20);
  await expect(sent).rejects.toThrow("stopped");
});
