import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, connect, createServer } from "node:net";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { failureKinds, passingAdvice } from "../../src/errors.ts";
import { lastingFault } from "../../src/source/lasting_fault.ts";
import { maxAttempts } from "../../src/source/retry.ts";
import { certificateAuthority } from "../support/certificates.ts";
import { client, failure, type Handler, json, lastPage, serve } from "./service.ts";

const good = { data: [1], pagination: lastPage };

describe("a fault goes away after it was sent again", () => {
  const faults: [string, Handler][] = [
    ["500", response => failure(response, 500, "OOPS")],
    ["503 without envelope", response => response.writeHead(503).end("busy")],
    [
      "502 page of a proxy",
      response => response.writeHead(502, { "content-type": "text/html" }).end("<html>Bad Gateway"),
    ],
    [
      "404 page of a proxy",
      response => response.writeHead(404, { "content-type": "text/html" }).end("<html>Not Found"),
    ],
    ["2xx that is not JSON", response => response.writeHead(200, { "content-type": "text/html" }).end("<html>Log in")],
    ["2xx without a body", response => response.writeHead(204).end()],
    ["2xx without data", response => json(response, 200, { rows: [] })],
    ["2xx without pagination", response => json(response, 200, { data: [] })],
    [
      "2xx with half a pagination block",
      response => json(response, 200, { data: [], pagination: { next_cursor: "a" } }),
    ],
    ...[206, 207].map((status): [string, Handler] => [
      `${status}, a part of an answer`,
      response => json(response, status, good),
    ]),
    ["an error beside the data", response => json(response, 200, { ...good, error: { code: "SHARD_DOWN" } })],
    ["errors beside the data", response => json(response, 200, { ...good, errors: ["one of two shards is down"] })],
    ...[408, 409, 421, 423, 425, 430].map((status): [string, Handler] => [
      `${status} with the envelope`,
      response => failure(response, status, "BUSY"),
    ]),
    ...[400, 403, 418, 422].map((status): [string, Handler] => [
      `${status} without the envelope`,
      response => response.writeHead(status, { "content-type": "text/plain" }).end("no"),
    ]),
    [
      "403 with the envelope and a Retry-After",
      response => {
        response.setHeader("retry-after", "0.01");
        failure(response, 403, "RATE_LIMITED");
      },
    ],
    ["a cut connection", response => response.destroy()],
    [
      "a body cut off (content-length)",
      response => {
        response.writeHead(200, { "content-length": "1000" }).write('{"data":[');
        setTimeout(() => response.destroy(), 10);
      },
    ],
    [
      "a body cut off (chunked)",
      response => {
        response.writeHead(200).write('{"data":[');
        setTimeout(() => response.destroy(), 10);
      },
    ],
    ["JSON cut off in good order", response => response.writeHead(200).end('{"data":[1,2')],
    [
      "gzip cut off in good order",
      response =>
        response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(JSON.stringify(good)).subarray(0, 25)),
    ],
  ];
  test.each(faults)("%s", async (_name, fault) => {
    await using service = await serve((response, request, count) =>
      count === 2 || count === 3 ? fault(response, request, count) : json(response, 200, good),
    );
    await using api = client(service.url);
    await api.get("/first", {});
    const answer = await api.get("/po", {}, { paged: true });
    expect(answer).toMatchObject({ data: [1], requests: 3, retries: 2 });
    expect(api.waits).toEqual([500, 1000]);
    expect(api.stats).toMatchObject({ requests: 4, retries: 2, retryWaitMs: 1500, failures: {} });
    expect(api.events.map(event => [event.path, event.attempt, event.waitMs])).toEqual([
      ["/po", 1, 500],
      ["/po", 2, 1000],
    ]);
  });
});

describe("a fault that stays", () => {
  test.each([
    ["unavailable", 500, (response => failure(response, 500, "OOPS")) as Handler],
    ["unavailable", 404, (response => response.writeHead(404).end("gone?")) as Handler],
    ["unavailable", 200, (response => response.writeHead(200).end("<html>")) as Handler],
    ["malformed", 200, (response => json(response, 200, { data: [] })) as Handler],
    ["unavailable", undefined, (response => response.destroy()) as Handler],
  ] as const)("is %s (status %s) after all attempts", async (kind, status, fault) => {
    await using service = await serve(fault);
    await using api = client(service.url);
    await expect(api.get("/po", {}, { paged: true })).rejects.toMatchObject({
      failure: kind,
      status,
      attempts: maxAttempts,
      exitCode: 1,
    });
    expect(service.requests).toHaveLength(6);
    expect(api.waits).toEqual([500, 1000, 2000, 4000, 8000]);
    expect(api.stats.failures).toEqual({ [kind]: 1 });
  });

  const shard = { code: "SHARD_DOWN", message: "one of two shards is down" };
  test.each([
    ["an error beside the data", 200, { error: shard }],
    ["errors beside the data", 200, { errors: [shard, { code: "LATER" }] }],
    ["206", 206, { error: shard }],
    ["207", 207, { errors: [shard] }],
  ] as const)("%s is malformed, with the service's code and message", async (_name, status, beside) => {
    await using service = await serve(response => json(response, status, { ...good, ...beside }));
    await using api = client(service.url);
    const ended = { failure: "malformed", status, attempts: maxAttempts, serviceCode: shard.code };
    const error = await api.get("/po", {}, { paged: true }).catch((failed: Error) => failed);
    expect(error).toMatchObject(ended);
    expect(String(error)).toContain(shard.message);
    expect(service.requests).toHaveLength(maxAttempts);
  });

  test("has an advice by its status", async () => {
    const adviceOf = async (status: number) => {
      await using service = await serve(response => failure(response, status, "BUSY"));
      await using api = client(service.url);
      const error = await api.get("/po", {}).catch((failed: Error) => failed);
      expect(error).toMatchObject({ failure: "unavailable", status, attempts: maxAttempts });
      return /after 6 requests\. (.+)$/.exec(String(error))?.[1];
    };
    const advice = await Promise.all([408, 409, 421, 423, 425, 430].map(adviceOf));
    expect(advice).toEqual([408, 409, 421, 423, 425, 430].map(status => passingAdvice.get(status)));
    expect(await adviceOf(503)).toBe(failureKinds.unavailable.advice);
    expect(new Set(advice).size).toBe(6);
  });

  test("a host that refuses connections says so, and what to check", async () => {
    const service = await serve(() => {});
    await service[Symbol.asyncDispose]();
    await using api = client(service.url);
    await expect(api.get("/po", {})).rejects.toThrow(/ECONNREFUSED.*api\.base_url/);
  });

  test("a 503 that names a wait is given it", async () => {
    await using service = await serve((response, _request, count) =>
      count === 1 ? failure(response, 503, "BUSY", { "retry-after": "20" }) : json(response, 200, good),
    );
    await using api = client(service.url);
    await api.get("/po", {});
    expect(api.waits).toEqual([20_000]);
  });
});

describe("before anything was accepted, what no attempt mends is told after one", () => {
  const told = async (url: string) => {
    await using api = client(url);
    const failed = await api.get("/po", {}, { paged: true }).catch((error: unknown) => error);
    expect(failed).toMatchObject({ attempts: 1 });
    expect(api.waits).toEqual([]);
    expect(String(failed)).toContain(`api.base_url is ${url}/`);
    expect(String(failed)).not.toMatch(/OpenSSL|SSL routines|:error:/);
    return String(failed);
  };

  test.each([200, 400, 401, 403, 404])("a web page with status %i", async status => {
    await using service = await serve(response =>
      response.writeHead(status, { "content-type": "text/html; charset=utf-8" }).end("<html>Welcome"),
    );
    expect(await told(service.url)).toMatch(/got status \d+ and a web page \(HTML\)\. .*without \/api\/v1/);
    expect(service.requests).toHaveLength(1);
  });

  test("plain http where https is configured", async () => {
    await using service = await serve(response => json(response, 200, good));
    expect(await told(service.url.replace("http:", "https:"))).toMatch(/got no TLS from 127\.0\.0\.1:\d+/);
  });

  test("a certificate that does not verify", async () => {
    const server = createSecureServer(certificateAuthority("localhost"), (_request, response) => response.end("{}"));
    await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    expect(await told(`https://127.0.0.1:${port}`)).toMatch(
      /a certificate .* is signed by itself.*NODE_EXTRA_CA_CERTS/,
    );
    await new Promise(resolve => server.close(resolve));
  });

  test("a host that no name server knows, but not a name server that is away", () => {
    const base = new URL("https://procurment.example.com");
    const fault = (code: string) => lastingFault(Object.assign(new Error("getaddrinfo"), { code }), base);
    expect(fault("ENOTFOUND")).toEqual({
      what: expect.stringContaining("no address for the host procurment.example.com"),
      lasting: expect.stringContaining("check its spelling"),
    });
    expect(fault("EAI_AGAIN")).toBeUndefined();
    expect(fault("ECONNREFUSED")).toBeUndefined();
  });
});

describe("a service that does not end", () => {
  /** Given up for that reason, and asked again; on a busy machine a good answer may be too late as well. */
  const expectRecovered = async (api: ReturnType<typeof client>, reason: string) => {
    const { data, requests } = await api.get("/po", {});
    expect(data).toEqual([1]);
    expect(requests).toBe(1 + api.events.length);
    expect(api.events[0]?.reason).toContain(reason);
  };

  test("hangs before its headers", async () => {
    await using service = await serve((response, _request, count) => {
      if (count > 1) json(response, 200, good);
    });
    await using api = client(service.url, { timeoutMs: 500 });
    await expectRecovered(api, "no headers within 500 ms");
  });

  test("hangs in the middle of its body", async () => {
    await using service = await serve((response, _request, count) => {
      if (count > 1) json(response, 200, good);
      else response.writeHead(200).write('{"data":');
    });
    await using api = client(service.url, { timeoutMs: 500 });
    await expectRecovered(api, "no further piece of the body within 500 ms");
  });

  test("sends a byte now and then, for ever: over at four times the timeout", async () => {
    let bytes = 0;
    await using service = await serve((response, _request, count) => {
      if (count > 1) return json(response, 200, good);
      response.writeHead(200);
      const drip = setInterval(() => {
        bytes += 1;
        response.write(" ");
      }, 20);
      response.on("close", () => clearInterval(drip));
    });
    await using api = client(service.url, { timeoutMs: 600 });
    await expectRecovered(api, "no end of the body within 2400 ms");
    expect(bytes).toBeGreaterThan(2);
  });

  test("accepts the connection and sends no byte of HTTP", async () => {
    const server = createServer(() => {});
    await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    // A connection of our own keeps the server's count honest.
    const probe = connect(port!, "127.0.0.1");
    await using api = client(`http://127.0.0.1:${port}`, { timeoutMs: 50 });
    await expect(api.get("/po", {})).rejects.toMatchObject({ failure: "unavailable", attempts: maxAttempts });
    probe.destroy();
    server.close();
  });
});

describe("a body above the ceiling is too_large, and not sent for again", () => {
  const large = Buffer.from(JSON.stringify({ data: "x".repeat(50_000) }));
  test.each<[string, Handler]>([
    ["content-length", response => response.writeHead(200, { "content-length": large.length }).end(large)],
    [
      "chunked",
      response => {
        response.writeHead(200);
        for (let at = 0; at < large.length; at += 1000) response.write(large.subarray(at, at + 1000));
        response.end();
      },
    ],
    ["a gzip bomb", response => response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(large))],
  ])("%s", async (_name, handler) => {
    await using service = await serve(handler);
    await using api = client(service.url, { maxBodyBytes: 10_000 });
    await expect(api.get("/po", {})).rejects.toMatchObject({ failure: "too_large", attempts: 1 });
    expect(service.requests).toHaveLength(1);
    await using roomy = client(service.url, { maxBodyBytes: large.length });
    expect((await roomy.get("/po", {})).bytes).toBe(large.length);
  });
});

describe("an abort rejects with the signal's reason", () => {
  const reason = new Error("stop now");

  test("before, while the request lasts, in its body, and while it waits to be sent again", async () => {
    const controller = { now: new AbortController() };
    const handlers: Handler[] = [
      () => controller.now.abort(reason),
      response => {
        response.writeHead(200).write("{");
        setTimeout(() => controller.now.abort(reason), 20);
      },
      response => {
        failure(response, 500, "OOPS");
        setTimeout(() => controller.now.abort(reason), 20);
      },
    ];
    for (const handler of handlers) {
      controller.now = new AbortController();
      await using service = await serve(handler);
      await using api = client(service.url, { clock: systemClock, random: () => 1 });
      const { signal } = controller.now;
      await expect(api.get("/po", {}, { signal })).rejects.toBe(reason);
      expect(service.requests).toHaveLength(1);
      await expect(api.get("/po", {}, { signal })).rejects.toBe(reason);
      expect(service.requests).toHaveLength(1);
      expect(api.stats.failures).toEqual({});
    }
  });

  test("a reason that is no Error passes through as well", async () => {
    const controller = new AbortController();
    await using service = await serve(() => controller.abort("SIGINT"));
    await using api = client(service.url);
    await expect(api.get("/po", {}, { signal: controller.signal })).rejects.toBe("SIGINT");
  });
});

test("closing the client ends what is under way, at once", async () => {
  const api = client("http://127.0.0.1:9");
  await using service = await serve(() => void waiting.close());
  const waiting = client(service.url);
  await expect(waiting.get("/po", {})).rejects.toMatchObject({ failure: "unavailable", attempts: 1 });
  await api.close();
  await expect(api.get("/po", {})).rejects.toThrow(/the client was closed/);
  expect(service.requests).toHaveLength(1);
});
