import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { setImmediate, setTimeout } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { cursorAhead, readPages } from "../../src/source/pages.ts";
import { collect, numbers, parameters, request } from "./listing.ts";
import { client, failure, json, lastPage, serve } from "./service.ts";

const unhandled: unknown[] = [];
const note = (reason: unknown) => unhandled.push(reason);
beforeEach(() => {
  unhandled.length = 0;
  process.on("unhandledRejection", note);
});
afterEach(async () => {
  await setImmediate();
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});

describe("reading ahead", () => {
  test("the next page is requested before this one is given out, and never more than one", async () => {
    await using service = await serve(numbers(1000));
    await using api = client(service.url);
    const pages = readPages(api, request);
    expect(service.requests).toHaveLength(0);
    await pages.next();
    while (service.requests.length < 2) await setTimeout(1);
    await setTimeout(30);
    expect(service.requests).toHaveLength(2);
    await pages.next();
    while (service.requests.length < 3) await setTimeout(1);
    await pages.return(undefined);
  });

  test("by the time a page is given out, the request for the next one has been written", async () => {
    let written = 0;
    const count = () => {
      written += 1;
    };
    await using service = await serve(numbers(1000));
    await using api = client(service.url);
    subscribe("undici:client:sendHeaders", count);
    onTestFinished(() => void unsubscribe("undici:client:sendHeaders", count));
    const seen: number[] = [];
    for await (const _ of readPages(api, request)) seen.push(written);
    // The first two have to connect, and after the last one nothing is asked for.
    expect(seen.slice(2)).toEqual([4, 5, 6, 7, 8, 9, 10, 10]);
  });

  test("leaving the loop cancels the request under way", async () => {
    const closed: Promise<unknown>[] = [];
    await using service = await serve((response, incoming, count) => {
      if (count === 1) numbers(1000)(response, incoming, count);
      else closed.push(once(response, "close"));
    });
    await using api = client(service.url);
    for await (const page of readPages(api, request)) {
      expect(page.cursor).toBeUndefined();
      while (closed.length === 0) await setTimeout(1);
      break;
    }
    await Promise.all(closed);
    expect(closed).toHaveLength(1);
  });

  test("a failure of the page ahead comes when its turn comes, and nowhere else", async () => {
    await using service = await serve((response, incoming, count) =>
      count === 1 ? numbers(1000)(response, incoming, count) : failure(response, 422, "EXPIRED_CURSOR"),
    );
    await using api = client(service.url);
    const pages = readPages(api, request);
    expect((await pages.next()).value).toMatchObject({ nextCursor: "100" });
    await setTimeout(30);
    await expect(pages.next()).rejects.toMatchObject({ failure: "invalid", serviceCode: "EXPIRED_CURSOR" });
    const others = readPages(api, { ...request, cursor: "1" });
    await expect(others.next()).rejects.toMatchObject({ failure: "invalid" });
  });

  test.each([true, false])("an abort while the next page is here already ends the listing, ahead %s", async ahead => {
    await using service = await serve(numbers(1000));
    await using api = client(service.url);
    const reason = new Error("the user stopped it");
    const controller = new AbortController();
    const pages = readPages(api, {
      ...{ ...request, signal: controller.signal },
      ...(ahead ? {} : { ahead: false as const }),
    });
    await pages.next();
    // The consumer is slower than the service.
    await vi.waitFor(() => expect(service.requests).toHaveLength(ahead ? 2 : 1));
    await setTimeout(50);
    controller.abort(reason);
    if (ahead) expect(await pages.next()).toMatchObject({ value: { cursor: "100" } });
    await expect(pages.next()).rejects.toBe(reason);
    expect(service.requests).toHaveLength(ahead ? 2 : 1);
  });

  test("an abort rejects with its reason: before the first page, between pages, and in a wait for a retry", async () => {
    const reason = new Error("stop");
    await using service = await serve((response, incoming, count) =>
      count === 1 ? numbers(1000)(response, incoming, count) : failure(response, 500, "OOPS"),
    );
    await using api = client(service.url, { clock: systemClock });
    const signal = AbortSignal.abort(reason);
    await expect(readPages(api, { ...request, signal }).next()).rejects.toBe(reason);
    expect(service.requests).toHaveLength(0);
    const controller = new AbortController();
    const pages = readPages(api, { ...request, signal: controller.signal });
    await pages.next();
    while (service.requests.length < 2) await setTimeout(1);
    controller.abort(reason);
    await expect(pages.next()).rejects.toBe(reason);
  });
});

describe("a page that is waited for", () => {
  const cursorOf = (url: string) => new URL(url, "http://h").searchParams.get("cursor");

  test.each(["as it is", "compressed"])("is not parsed before the next one has been asked for (%s)", async how => {
    await using service = await serve((response, incoming, count) => {
      if (count > 1) return numbers(300)(response, incoming, count);
      const broken = Buffer.from('{"data": [1, , 2], "pagination": {"next_cursor": "100", "has_more": true}}');
      const headers = how === "compressed" ? { "content-encoding": "gzip" } : {};
      return void response.writeHead(200, headers).end(how === "compressed" ? gzipSync(broken) : broken);
    });
    await using api = client(service.url);
    const pages = await collect(readPages(api, request));
    // The page that could not be parsed was asked for again, the one after it was not.
    expect(service.requests.map(({ url }) => cursorOf(url))).toEqual([null, "100", null, "200"]);
    expect(pages.map(page => page.nextCursor)).toEqual(["100", "200", undefined]);
    expect(pages.flatMap(page => page.data)).toEqual(Array.from({ length: 300 }, (_, at) => at));
  });

  test("a wrong guess is given up, and nothing of it is seen", async () => {
    const closed: string[] = [];
    await using service = await serve((response, incoming, count) => {
      const cursor = parameters(incoming).get("cursor");
      response.once("close", () => void (cursor === "no" && closed.push(response.writableEnded ? "answered" : "left")));
      if (cursor === "no") return;
      if (cursor !== null) return numbers(200)(response, incoming, count);
      const meta = { pagination: { next_cursor: "no", has_more: true } };
      const pagination = { next_cursor: "100", has_more: true, limit: 100 };
      json(response, 200, { data: [0], pagination, meta });
    });
    await using api = client(service.url);
    const pages = await collect(readPages(api, request));
    expect(pages.map(page => page.cursor)).toEqual([undefined, "100"]);
    while (closed.length === 0) await setTimeout(1);
    expect(closed).toEqual(["left"]);
    expect(service.requests.map(({ url }) => cursorOf(url))).toEqual([null, "no", "100"]);
  });

  test("is followed by nothing where its text promises nothing more", async () => {
    const pagination = { next_cursor: "100", has_more: false, limit: 100 };
    await using service = await serve(response => json(response, 200, { data: [0], pagination }));
    await using api = client(service.url);
    await collect(readPages(api, request));
    expect(service.requests).toHaveLength(1);
  });

  test("is not followed by a page that was there already", async () => {
    const pagination = { next_cursor: "0", has_more: true, limit: 100 };
    await using service = await serve(response => json(response, 200, { data: [0], pagination }));
    await using api = client(service.url);
    await expect(collect(readPages(api, { ...request, cursor: "0" }))).rejects.toThrow(
      "the same next_cursor came twice",
    );
    expect(service.requests).toHaveLength(1);
  });
});

describe("cursorAhead", () => {
  test("names the cursor of the pagination block, or none", () => {
    const cursor = fc.oneof(fc.base64String({ minLength: 1 }), fc.string({ unit: "binary" }), fc.constant(null));
    const told = fc.record({ next_cursor: cursor, has_more: fc.boolean(), limit: fc.constantFrom(25, null) });
    const bodies = fc.record({ data: fc.jsonValue(), pagination: told }, { requiredKeys: ["data", "pagination"] });
    fc.assert(
      fc.property(bodies, fc.constantFrom(0, 2), (body, indent) => {
        const { next_cursor, has_more } = body.pagination;
        const found = cursorAhead(Buffer.from(JSON.stringify(body, null, indent)));
        const isPlain = next_cursor !== null && /^[\w+/=-]+$/.test(next_cursor);
        if (has_more && isPlain) expect(found).toBe(next_cursor);
        else if (found !== undefined) expect([has_more, found]).toEqual([true, next_cursor]);
      }),
    );
  });

  test.each([
    ["a last page", { data: [], pagination: lastPage }],
    ["a complete list", { data: [{ next_cursor: "a", has_more: true }] }],
    ["counters beside the rows", { data: { rows: [], next_cursor: "a", has_more: true } }],
    ["a block far from the end", { pagination: { next_cursor: "a", has_more: true }, data: "x".repeat(2_048) }],
    ["a cursor that has to be read as JSON", { data: [], pagination: { next_cursor: 'a"b', has_more: true } }],
  ])("%s names none", (_, body) => {
    expect(cursorAhead(Buffer.from(JSON.stringify(body)))).toBeUndefined();
  });
});
