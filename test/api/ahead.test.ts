import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { setImmediate, setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { readPages } from "../../src/api/pages.ts";
import { systemClock } from "../../src/clock.ts";
import { numbers, request } from "./listing.ts";
import { client, failure, serve } from "./service.ts";

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
    await expect(pages.next()).rejects.toMatchObject({ failure: "invalid", code: "EXPIRED_CURSOR" });
    const others = readPages(api, { ...request, cursor: "1" });
    await expect(others.next()).rejects.toMatchObject({ failure: "invalid" });
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
