import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { ApiError } from "../../src/errors.ts";
import type { Unanswered } from "../../src/source/api.ts";
import { createLimiter } from "../../src/source/limit.ts";
import { hastyClock } from "./clocks.ts";
import { client, failure, json, key, lastPage, serve } from "./service.ts";

const rejection = async (promise: Promise<unknown>): Promise<ApiError> => {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ApiError);
  return error as ApiError;
};

/** Everything an error shows to somebody who prints it. */
const shown = (error: ApiError) =>
  [error.message, error.stack, JSON.stringify(error), String(error.cause), JSON.stringify(error.cause)].join("\n");

describe("an answer", () => {
  test("carries data, pagination, meta, Date and what it cost; the request carries the key", async () => {
    const said = new Date(Math.floor(Date.now() / 1_000 - 120) * 1_000);
    await using service = await serve(response => {
      response.setHeader("date", said.toUTCString());
      json(response, 200, {
        data: { rows: [1] },
        pagination: { next_cursor: "abc", has_more: true, limit: 5 },
        meta: { a: 1 },
      });
    });
    await using api = client(`${service.url}/tenant/`, { serviceClock: "check" });
    const answer = await api.get("/po", { limit: 5, q: "a b" }, { paged: true });
    expect(answer).toMatchObject({
      data: { rows: [1] },
      pagination: { nextCursor: "abc", hasMore: true, limit: 5 },
      around: { meta: { a: 1 } },
      date: said,
      requests: 1,
      retries: 0,
      status: 200,
    });
    expect(service.requests[0]).toMatchObject({
      url: "/tenant/api/v1/po?limit=5&q=a%20b",
      headers: { authorization: `Bearer ${key}`, "user-agent": "tributary/test", accept: "application/json" },
    });
    expect(api.stats).toMatchObject({ requests: 1, retries: 0, bytes: answer.bytes, failures: {} });
  });

  test("null data is data, and a complete list needs no pagination block", async () => {
    await using service = await serve(response => json(response, 200, { data: null, pagination: null }));
    await using api = client(service.url);
    expect(await api.get("/x", {})).toMatchObject({ data: null, pagination: undefined });
  });

  test("with undocumented fields around its data is named once, with a few of them", async () => {
    const fields = Object.fromEntries(["warnings", "a\nb", "c", "d", "e", "f"].map(name => [name, 1]));
    await using service = await serve(response => json(response, 200, { data: null, meta: {}, ...fields }));
    const named: unknown[] = [];
    await using api = client(service.url, { onUndocumented: (path, names) => named.push([path, names]) });
    for (const path of ["/x", "/y"]) await api.get(path, {});
    expect(named).toEqual([["/x", ["warnings", "a b", "c", "d", "e"]]]);
  });

  test("connections are kept alive", async () => {
    const ports = new Set<number | undefined>();
    await using service = await serve((response, request) => {
      ports.add(request.socket.remotePort);
      json(response, 200, { data: [] });
    });
    await using api = client(service.url);
    for (let index = 0; index < 20; index += 1) await api.get("/x", {});
    expect(ports.size).toBeLessThanOrEqual(2);
  });

  test("compressed bodies are counted decompressed", async () => {
    const text = JSON.stringify({ data: "x".repeat(5000) });
    await using service = await serve((response, request) => {
      expect(request.headers["accept-encoding"]).toBe("gzip, br, deflate");
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(text));
    });
    await using api = client(service.url);
    expect((await api.get("/x", {})).bytes).toBe(text.length);
  });
});

describe("what is never sent again", () => {
  test.each([
    [400, "invalid"],
    [403, "forbidden"],
    [404, "not_found"],
    [422, "invalid"],
  ] as const)("%i with the error envelope is %s", async (status, kind) => {
    await using service = await serve(response => failure(response, status, "SOME_CODE"));
    await using api = client(service.url);
    const error = await rejection(api.get("/po/7", {}));
    const sent = { status, path: "/po/7", attempts: 1 };
    expect(error).toMatchObject({ ...sent, failure: kind, serviceCode: "SOME_CODE", requestId: "req-1", exitCode: 1 });
    expect({ code: error.code, fields: error.fields }).toEqual({
      code: `source.${kind}`,
      fields: {
        ...sent,
        method: "GET",
        service_code: "SOME_CODE",
        request_id: "req-1",
        got: `status ${status} SOME_CODE: about SOME_CODE`,
        advice: undefined,
      },
    });
    expect(error.message).toContain("about SOME_CODE (request_id req-1). ");
    expect(service.requests).toHaveLength(1);
    expect(api.stats.failures).toEqual({ [kind]: 1 });
  });

  test("a redirect: the other server never sees a request, the error names only its origin", async () => {
    await using other = await serve(response => json(response, 200, { data: "stolen" }));
    await using service = await serve(response =>
      response.writeHead(302, { location: `${other.url}/take?token=${encodeURIComponent(key)}` }).end(),
    );
    await using api = client(service.url);
    const error = await rejection(api.get("/po", {}));
    expect(error).toMatchObject({ failure: "redirected", status: 302, attempts: 1 });
    expect(error.message).toContain(other.url);
    expect(error.message).not.toContain("/take");
    expect(other.requests).toHaveLength(0);
    expect(service.requests).toHaveLength(1);
  });

  test("a redirect inside the origin is refused too", async () => {
    await using service = await serve(response => response.writeHead(308, { location: "/login" }).end());
    await using api = client(service.url);
    expect(await rejection(api.get("/po", {}))).toMatchObject({ failure: "redirected", status: 308 });
    expect(service.requests).toHaveLength(1);
  });
});

describe("the key", () => {
  test("a 401 is exit code 3, after one try with a fresh key", async () => {
    await using service = await serve(response => failure(response, 401, "UNAUTHORIZED"));
    await using api = client(service.url);
    expect(await rejection(api.get("/po", {}))).toMatchObject({ failure: "unauthorized", exitCode: 3, attempts: 1 });
    let refreshed = 0;
    await using fresh = client(service.url, {
      refreshKey: async () => {
        refreshed += 1;
        return key;
      },
    });
    expect(await rejection(fresh.get("/po", {}))).toMatchObject({ failure: "unauthorized", attempts: 2 });
    expect(refreshed).toBe(1);
  });

  test("is refused by the second 401 without the service's envelope, for a proxy may have sent the first", async () => {
    const unsigned = (times: number) =>
      serve((response, _request, count) =>
        count <= times ? response.writeHead(401).end("who?") : json(response, 200, { data: 1 }),
      );
    await using passing = await unsigned(1);
    await using api = client(passing.url);
    expect(await api.get("/po", {})).toMatchObject({ data: 1, requests: 2 });
    expect(api.waits).toEqual([500]);
    await using lasting = await unsigned(9);
    await using refused = client(lasting.url);
    const error = { failure: "unauthorized", exitCode: 3, attempts: 2 };
    expect(await rejection(refused.get("/po", {}))).toMatchObject(error);
    let refreshed = 0;
    await using fresh = client(lasting.url, { refreshKey: async () => `new${refreshed++}` });
    expect(await rejection(fresh.get("/po", {}))).toMatchObject({ ...error, attempts: 3 });
    expect(refreshed).toBe(1);
  });

  test("is replaced once by many 401s at once, and only after it was admitted", async () => {
    let refreshed = 0;
    const admitted: unknown[] = [];
    await using service = await serve((response, request) => {
      if (request.headers.authorization === "Bearer new") json(response, 200, { data: 1 });
      else failure(response, 401, "UNAUTHORIZED");
    });
    const limit = createLimiter({ maxConcurrency: 8, clock: hastyClock() });
    for (let index = 0; index < 40; index += 1) limit.observe({ ok: true, limited: false, latencyMs: 1 });
    await using api = client(service.url, {
      limit,
      key: "old",
      refreshKey: async () => {
        refreshed += 1;
        return "new";
      },
      admit: async ask => {
        admitted.push((await ask.get("/whose", {})).data);
        const early = service.requests.filter(({ headers }) => headers.authorization === "Bearer new");
        expect(early.map(({ url }) => url)).toEqual(["/api/v1/whose"]);
      },
    });
    const answers = await Promise.all(Array.from({ length: 8 }, () => api.get("/x", {})));
    expect(answers.map(answer => answer.data)).toEqual(Array(8).fill(1));
    expect([refreshed, admitted]).toEqual([1, [1]]);
  });

  test("that is not admitted is not used, also when the same request is sent again", async () => {
    await using service = await serve((response, request) =>
      request.headers.authorization === "Bearer old" ? failure(response, 401, "UNAUTHORIZED") : json(response, 200, {}),
    );
    await using api = client(service.url, {
      key: "old",
      refreshKey: async () => "new",
      admit: () => Promise.reject(new Error("not ours")),
    });
    for (const _ of [1, 2]) await expect(api.get("/x", {})).rejects.toThrow("not ours");
    expect(service.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer old", "Bearer old"]);
  });

  test("a service that echoes it cannot spread it", async () => {
    const base64 = Buffer.from(key).toString("base64");
    const echo = `bad key ${key} ${encodeURIComponent(key)} ${base64}`;
    await using service = await serve((response, _request, count) =>
      json(response, count === 1 ? 500 : 422, { error: { code: key, message: echo, details: echo, request_id: key } }),
    );
    await using api = client(service.url);
    const error = await rejection(api.get("/po", {}));
    const everything = shown(error) + JSON.stringify(api.events) + JSON.stringify(api.stats);
    for (const form of [key, encodeURIComponent(key), base64]) expect(everything).not.toContain(form);
    expect(error.message).toContain("bad key ***");
  });

  test("one that is no header value does not show in the error", async () => {
    await using service = await serve(response => json(response, 200, { data: 1 }));
    await using api = client(service.url, { key: "two\nlines-secret" });
    const error = await rejection(api.get("/po", {}));
    expect(error).toMatchObject({ failure: "unauthorized", exitCode: 3, attempts: 1 });
    expect(shown(error)).not.toContain("lines-secret");
    expect(service.requests).toHaveLength(0);
  });
});

test("max requests: the one too many is not sent, exit code 5", async () => {
  await using service = await serve((response, _request, count) =>
    count === 2 ? failure(response, 500, "OOPS") : json(response, 200, { data: 1, pagination: lastPage }),
  );
  await using api = client(service.url, { maxRequests: 3 });
  await api.get("/x", {});
  expect((await api.get("/x", {})).requests).toBe(2);
  expect(await rejection(api.get("/x", {}))).toMatchObject({ failure: "budget", exitCode: 5, attempts: 0 });
  expect(service.requests).toHaveLength(3);
});

test("a request without an answer is told while it waits, with its attempt and how many others wait", async () => {
  const held: ServerResponse[] = [];
  await using service = await serve(response => void held.push(response));
  const clock = hastyClock();
  const slow: Unanswered[] = [];
  await using api = client(service.url, {
    slowMs: 20,
    onSlow: each => slow.push(each),
    clock: { ...clock, now: Date.now },
  });
  const asked = [api.get("/po", { limit: 5 }), api.get("/items", {})];
  while (slow.length === 0) await new Promise(resolve => setTimeout(resolve, 5));
  expect(slow[0]).toEqual({ method: "GET", path: "/po", attempt: 1, sinceMs: expect.any(Number), others: 1 });
  expect(slow[0]!.sinceMs).toBeGreaterThanOrEqual(20);
  expect(api.unanswered?.()).toMatchObject({ path: "/po" });
  for (const response of held) json(response, 200, { data: [] });
  await Promise.all(asked);
  expect(api.unanswered?.()).toBeUndefined();
});
