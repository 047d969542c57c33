import { createServer, type Socket } from "node:net";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { client, failure, type Handler, json, serve } from "../source/service.ts";
import { endlessly } from "./endless.ts";

const MEGABYTE = 1024 * 1024;
const zeros = Buffer.alloc(32 * MEGABYTE, "0");
const quick = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
const gzipped = gzipSync(zeros, { level: 1 });

/** A server that speaks no HTTP but what the test writes. */
async function speaking(say: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer(socket => {
    sockets.add(socket.on("error", () => undefined));
    socket.once("data", () => say(socket));
  });
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
}

const ok = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";

describe("a body that would be too large is given up at the ceiling, and asked for once", () => {
  const answered =
    (encoding: string, body: Buffer): Handler =>
    response =>
      void response.writeHead(200, { "content-encoding": encoding }).end(body);
  test.each<[string, Handler]>([
    ["gzip in gzip", answered("gzip, gzip", gzipSync(gzipped))],
    ["gzip in brotli, the outer one small", answered("gzip, br", brotliCompressSync(gzipped, quick))],
    [
      "a length that is announced",
      response => void response.writeHead(200, { "content-length": "500000000" }).write("{"),
    ],
    ["a refusal that never ends", response => endlessly(response.writeHead(500), Buffer.alloc(64 * 1024, " "))],
  ])("%s", async (_name, handler) => {
    await using service = await serve(handler);
    await using api = client(service.url, { maxBodyBytes: 20 * MEGABYTE });
    await expect(api.get("/po", {})).rejects.toMatchObject({ failure: "too_large", attempts: 1, exitCode: 1 });
  });

  test("many encodings around one another are refused before the first is undone", async () => {
    await using service = await serve(answered(Array(2_000).fill("gzip").join(","), gzipped));
    await using api = client(service.url);
    await expect(api.get("/po", {})).rejects.toThrow(/a body in 2000 encodings at once/);
  });

  test("a body of single bytes is put together as it was sent", async () => {
    const text = `{"data":"${"x".repeat(3_000)}"}`;
    const url = await speaking(socket => {
      socket.write(`${ok}transfer-encoding: chunked\r\n\r\n`);
      socket.end(`${[...text].map(byte => `1\r\n${byte}\r\n`).join("")}0\r\n\r\n`);
    });
    await using api = client(url);
    expect((await api.get("/po", {})).data).toBe("x".repeat(3_000));
  });
});

describe("an answer that does not come to its end is given up in time", () => {
  const drip = (socket: Socket, text: string) => {
    let at = 0;
    const timer = setInterval(() => socket.write(text[at++ % text.length]!), 5);
    socket.on("close", () => clearInterval(timer));
  };
  const expectGivenUp = (api: ReturnType<typeof client>, told: RegExp) =>
    expect(api.get("/po", {})).rejects.toMatchObject({
      ...{ failure: "unavailable", attempts: 6, exitCode: 1 },
      message: expect.stringMatching(told),
    });
  // Where the machine is busy even what came may come too late: headers are then what was lacking.
  test.each<[string, RegExp, (socket: Socket) => void]>([
    ["headers byte by byte", /no (headers|connection) within 40 ms/, socket => drip(socket, ok)],
    [
      "interim answers for ever",
      /no (headers|connection) within 40 ms|no complete answer/,
      socket => endlessly(socket, "HTTP/1.1 103 Early Hints\r\n\r\n"),
    ],
    [
      "a body in chunks of a byte",
      /no ((end|further piece) of the body|headers|connection) within/,
      socket => {
        socket.write(`${ok}transfer-encoding: chunked\r\n\r\n`);
        drip(socket, "1\r\n \r\n");
      },
    ],
    [
      "a chunk's size for ever",
      /no (further piece of the body|headers|connection) within 40 ms|no complete answer/,
      socket => {
        socket.write(`${ok}transfer-encoding: chunked\r\n\r\n1;`);
        endlessly(socket, "a".repeat(1_000));
      },
    ],
    [
      "trailers for ever",
      /no (further piece of the body|headers|connection) within 40 ms|no complete answer/,
      socket => {
        socket.write(`${ok}transfer-encoding: chunked\r\n\r\n0\r\n`);
        endlessly(socket, "a: b\r\n");
      },
    ],
    [
      "100 MB of headers",
      /no complete answer: Headers Overflow|no (headers|connection) within/,
      socket => {
        socket.write(ok);
        endlessly(socket, `x: ${"y".repeat(10_000)}\r\n`);
      },
    ],
  ])("%s", async (_name, told, say) => {
    const url = await speaking(say);
    await using api = client(url, { timeoutMs: 40 });
    await expectGivenUp(api, told);
  });

  // These end by themselves, so nothing is waited for.
  test.each<[string, (socket: Socket) => void]>([
    ["no HTTP", socket => socket.end("SSH-2.0-OpenSSH_9.6\r\n")],
    ["the end in the middle of the headers", socket => socket.end("HTTP/1.1 200 OK\r\ncontent-")],
    ["two lengths that differ", socket => socket.end(`${ok}content-length: 1\r\ncontent-length: 2\r\n\r\n{}`)],
    ["a length below zero", socket => socket.end(`${ok}content-length: -1\r\n\r\n{}`)],
  ])("%s", async (_name, say) => {
    await using api = client(await speaking(say));
    await expectGivenUp(api, /no complete answer/);
  });
});

describe("what is no answer of the service is told in few words", () => {
  test.each<[string, Handler, string, RegExp]>([
    [
      "a compression that is none",
      response => void response.writeHead(200, { "content-encoding": "br" }).end("{}"),
      "unavailable",
      /a br body of 2 bytes that cannot be decompressed/,
    ],
    ["two documents", response => void response.end('{"data":1}{"data":2}'), "unavailable", /not JSON/],
    [
      "a cursor of a megabyte",
      response => json(response, 200, { data: [], pagination: { has_more: true, next_cursor: "c".repeat(MEGABYTE) } }),
      "malformed",
      /a next_cursor of 1048576 characters/,
    ],
    [
      "a cursor with a NUL",
      response => json(response, 200, { data: [], pagination: { has_more: true, next_cursor: "a\0b" } }),
      "malformed",
      /a next_cursor with a NUL/,
    ],
    [
      "a cursor with half a character",
      response => json(response, 200, { data: [], pagination: { has_more: true, next_cursor: "\ud800" } }),
      "malformed",
      /half a character/,
    ],
    [
      "more to come that is a text",
      response => json(response, 200, { data: [], pagination: { has_more: "yes", next_cursor: "a" } }),
      "malformed",
      /readable "pagination"/,
    ],
  ])("%s", async (_name, handler, kind, told) => {
    await using service = await serve(handler);
    await using api = client(service.url);
    const failed = await api.get("/po", {}, { paged: true }).catch((error: unknown) => error);
    expect(failed).toMatchObject({ failure: kind, exitCode: 1, message: expect.stringMatching(told) });
    expect(String(failed).length).toBeLessThan(600);
  });

  test("an error's own words are cut short and hold nothing that a terminal or a database obeys", async () => {
    const words = `\u001b[2J\u0000\ud800\u202e\r\n${"w".repeat(10 * MEGABYTE)}`;
    await using service = await serve(response =>
      json(response, 422, {
        error: { code: words.slice(0, 9_000), message: words, request_id: words.slice(0, 9_000) },
      }),
    );
    await using api = client(service.url);
    const failed = (await api.get("/po", {}).catch((error: unknown) => error)) as Error & { code: string };
    for (const text of [failed.message, failed.code]) {
      expect(text.length).toBeLessThan(900);
      expect(text).toMatch(/^[^\p{Cc}\p{Cs}\u202e]*$/u);
    }
  });

  test.each([[{ message: { toString: 1 } }], [{ code: [[[[]]]], message: [1, 2] }], [{ message: null }], [{}]])(
    "an error envelope of %j is read for what it is",
    async error => {
      await using service = await serve(response => json(response, 400, { error }));
      await using api = client(service.url);
      await expect(api.get("/po", {})).rejects.toMatchObject({ failure: "invalid", status: 400, attempts: 1 });
    },
  );
});

test.each([["text"], [null], [[]]])(
  "%j for an error is no envelope of the service's: it is asked again",
  async error => {
    await using service = await serve(response => json(response, 400, { error }));
    await using api = client(service.url);
    await expect(api.get("/po", {})).rejects.toMatchObject({ failure: "unavailable", status: 400, attempts: 6 });
  },
);

describe("times that cannot be", () => {
  test.each([
    "Fri, 31 Dec 9999 23:59:59 GMT",
    "Fri, 31 Dec 275759 23:59:59 GMT",
    "garbage",
    "0",
    "",
    "Sun, 99 Nov 1994 08:49:37 GMT",
  ])("an answer of %s is dated by our clock", async date => {
    await using service = await serve(response => json(response, 200, { data: [] }, { date }));
    await using api = client(service.url);
    const before = Date.now();
    expect((await api.get("/po", {})).date.getTime() - before).toBeLessThan(60_000);
  });

  test.each(["-5", "-1e9", "soon", "1e3", "NaN", "Sun, 06 Nov 1994 08:49:37 GMT"])(
    "a pause of %s is one of our own",
    async pause => {
      await using service = await serve((response, _request, count) =>
        count < 3 ? failure(response, 429, "SLOW", { "retry-after": pause }) : json(response, 200, { data: 1 }),
      );
      await using api = client(service.url);
      expect(await api.get("/po", {})).toMatchObject({ data: 1, requests: 3 });
      expect(api.waits.filter(wait => wait >= 1_000 && wait <= 3_000)).toHaveLength(2);
    },
  );

  test("a broken service that wants ten years is asked again within the longest pause", async () => {
    await using service = await serve(response => failure(response, 503, "BUSY", { "retry-after": "315360000" }));
    await using api = client(service.url, { maxWaitMs: 60_000 });
    await expect(api.get("/po", {})).rejects.toMatchObject({ failure: "unavailable", attempts: 6 });
    expect(Math.max(...api.waits)).toBe(60_000);
  });
});
