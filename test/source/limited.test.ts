import { setImmediate, setTimeout } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createApi } from "../../src/source/client.ts";
import { createLimiter } from "../../src/source/limit.ts";
import { readPages } from "../../src/source/pages.ts";
import { hastyClock, manualClock } from "./clocks.ts";
import { collect, numbers, request } from "./listing.ts";
import { client, failure, json, key, serve } from "./service.ts";

describe("429", () => {
  test("waits what Retry-After says and goes on, beyond six times and without using up the attempts", async () => {
    await using service = await serve((response, _request, count) => {
      if (count <= 9) failure(response, 429, "RATE_LIMIT", { "retry-after": "7" });
      else json(response, 200, { data: 1 });
    });
    await using api = client(service.url);
    expect(await api.get("/po", {})).toMatchObject({ data: 1, requests: 10, retries: 9 });
    expect(api.waits).toEqual(Array(9).fill(7000));
    expect(api.stats).toMatchObject({ limited: 9, limitedWaitMs: 63_000, retryWaitMs: 0, failures: {} });
    expect(api.events[0]).toMatchObject({ status: 429, waitMs: 7000 });
  });

  test("an HTTP date counts from the answer's own Date", async () => {
    await using service = await serve((response, _request, count) => {
      response.setHeader("date", "Sun, 06 Nov 1994 08:49:37 GMT");
      if (count === 1) failure(response, 429, "RATE_LIMIT", { "retry-after": "Sun, 06 Nov 1994 08:50:07 GMT" });
      else json(response, 200, { data: 1 });
    });
    await using api = client(service.url);
    await api.get("/po", {});
    expect(api.waits).toEqual([30_000]);
  });

  test("without Retry-After the waits double from one second, with jitter", async () => {
    await using service = await serve((response, _request, count) => {
      if (count <= 3) response.writeHead(429).end();
      else json(response, 200, { data: 1 });
    });
    await using api = client(service.url);
    await api.get("/po", {});
    expect(api.waits).toEqual([1500, 3000, 6000]);
  });

  test("a wait longer than max_wait ends at once: exit code 5, nothing slept", async () => {
    await using service = await serve(response => failure(response, 429, "PLAN_LIMIT", { "retry-after": "86400" }));
    await using api = client(service.url, { maxWaitMs: 600_000 });
    await expect(api.get("/po", {})).rejects.toMatchObject({
      failure: "limited",
      exitCode: 5,
      status: 429,
      serviceCode: "PLAN_LIMIT",
      attempts: 1,
      message: expect.stringMatching(/24 h 00 min, .*max_wait \(10 min 00 s\)/),
    });
    expect(api.waits).toEqual([]);
    expect(api.stats).toMatchObject({ limited: 1, failures: { limited: 1 } });
  });

  test("after one longer than max_wait nothing else is sent, whoever waits for its turn: all of them end with 5", async () => {
    await using service = await serve(response => failure(response, 429, "PLAN_LIMIT", { "retry-after": "86400" }));
    const clock = hastyClock();
    const limit = createLimiter({ maxConcurrency: 2, clock });
    await using api = client(service.url, { clock, limit });
    const all = await Promise.allSettled(Array.from({ length: 20 }, (_, index) => api.get(`/po/${index}`, {})));
    await expect(api.get("/late", {})).rejects.toMatchObject({ failure: "limited", exitCode: 5, attempts: 0 });
    expect(service.requests.length).toBeLessThanOrEqual(2);
    for (const each of all) expect(each).toMatchObject({ reason: { failure: "limited", exitCode: 5 } });
  });

  test("waits in a row that add up to more than max_wait end too", async () => {
    await using service = await serve(response => failure(response, 429, "RATE_LIMIT", { "retry-after": "100" }));
    await using api = client(service.url, { maxWaitMs: 350_000 });
    await expect(api.get("/po", {})).rejects.toMatchObject({ failure: "limited", exitCode: 5, attempts: 4 });
    expect(api.waits).toEqual([100_000, 100_000, 100_000]);
  });

  test("500s in between keep their own count of attempts", async () => {
    await using service = await serve((response, _request, count) => failure(response, count % 2 ? 429 : 500, "OOPS"));
    await using api = client(service.url);
    await expect(api.get("/po", {})).rejects.toMatchObject({ failure: "unavailable", status: 500, attempts: 12 });
  });

  test("pauses every stream: nothing at all is sent until it is over, then with half as many in flight", async () => {
    let inFlight = 0;
    let most = 0;
    let refuse = false;
    const [full, half] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await using service = await serve(async (response, _request) => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      if (most === 8) full.resolve();
      if (!refuse && most === 4) half.resolve();
      // However busy the machine is, all that may be in flight are there before the first is refused or answered.
      await Promise.race([(refuse ? full : half).promise, setTimeout(60_000, undefined, { ref: false })]);
      await setTimeout(5);
      inFlight -= 1;
      if (refuse) failure(response, 429, "RATE_LIMIT", { "retry-after": "60" });
      else json(response, 200, { data: 1 });
    });
    const clock = manualClock();
    const limit = createLimiter({ maxConcurrency: 8, clock });
    for (let index = 0; index < 40; index += 1) limit.observe({ ok: true, limited: false, latencyMs: 5 });
    const api = createApi({
      baseUrl: service.url,
      key,
      limits: { timeoutMs: 120_000, maxWaitMs: 600_000 },
      limit,
      clock,
      serviceClock: "ignore",
      random: () => 1,
      userAgent: "t",
    });
    refuse = true;
    const answers = Promise.all(Array.from({ length: 30 }, (_, index) => api.get(`/po/${index}`, {})));
    while (limit.state.inFlight > 0 || service.requests.length === 0) await setTimeout(2);
    expect(service.requests).toHaveLength(8);
    expect(most).toBe(8);
    expect(limit.state).toMatchObject({ ceiling: 4, waiting: 30, limitedBy: "429" });
    refuse = false;
    most = 0;
    await clock.advance(59_000);
    await setTimeout(20);
    expect(service.requests).toHaveLength(8);
    await clock.advance(1_000);
    await answers;
    expect(service.requests).toHaveLength(38);
    expect(most).toBeGreaterThanOrEqual(4);
    expect(most).toBeLessThanOrEqual(8);
    expect(api.stats).toMatchObject({ requests: 38, retries: 8, limited: 8 });
    await api.close();
  });

  test("when a pause ends, requests with a cursor are sent first: a cursor does not live for ever", async () => {
    const pages = numbers(20, { size: 10 });
    await using service = await serve((response, incoming, count) => {
      if (count === 2) failure(response, 429, "RATE_LIMIT", { "retry-after": "60" });
      else pages(response, incoming, count);
    });
    const clock = manualClock();
    const limit = createLimiter({ maxConcurrency: 1, clock });
    await using api = client(service.url, { limit, clock });
    const lists = ["/a", "/b", "/c"].map(path => collect(readPages(api, { ...request, path })));
    while (limit.state.pausedUntil === undefined || limit.state.waiting < 3) await setTimeout(1);
    await clock.advance(60_000);
    await Promise.all(lists);
    const sent = service.requests.map(({ url }) => url.replace(/^.*v1|\?.*(?=&cursor)|\?.*/g, ""));
    expect(sent.slice(0, 4)).toEqual(["/a", "/b", "/a&cursor=10", "/b"]);
  });

  test("nothing starts between a 429 and its pause, although others wait for the place", async () => {
    await using service = await serve(response => failure(response, 429, "RATE_LIMIT", { "retry-after": "60" }));
    const clock = manualClock();
    const limit = createLimiter({ maxConcurrency: 1, clock });
    await using api = client(service.url, { limit, clock });
    const controller = new AbortController();
    const all = [1, 2, 3].map(id => api.get(`/po/${id}`, {}, { signal: controller.signal }));
    const settled = Promise.allSettled(all);
    while (limit.state.pausedUntil === undefined) await setTimeout(1);
    for (let index = 0; index < 20; index += 1) await setImmediate();
    expect(service.requests).toHaveLength(1);
    controller.abort(new Error("enough"));
    expect((await settled).map(result => result.status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(clock.sleepers).toBe(0);
  });
});

test("a slot is held while a request is in flight, not while it waits to be sent again", async () => {
  await using service = await serve((response, request) => {
    if (request.url?.endsWith("/bad")) failure(response, 500, "OOPS");
    else json(response, 200, { data: 1 });
  });
  const clock = manualClock();
  const limit = createLimiter({ maxConcurrency: 1, clock });
  await using api = client(service.url, { limit, clock });
  const controller = new AbortController();
  const bad = api.get("/bad", {}, { signal: controller.signal });
  bad.catch(() => {});
  while (clock.sleepers === 0) await setTimeout(1);
  expect(limit.state.inFlight).toBe(0);
  expect(await api.get("/good", {})).toMatchObject({ data: 1 });
  controller.abort(new Error("enough"));
  await expect(bad).rejects.toThrow("enough");
});

test("the ceiling rises to its maximum over real requests", async () => {
  await using service = await serve(async response => {
    await setTimeout(10);
    json(response, 200, { data: 1 });
  });
  const limit = createLimiter({ maxConcurrency: 8, clock: hastyClock() });
  await using api = client(service.url, { limit });
  await Promise.all(Array.from({ length: 40 }, () => api.get("/x", {})));
  expect(limit.state.ceiling).toBe(8);
});
