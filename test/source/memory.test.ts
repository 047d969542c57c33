import { expect, test } from "vitest";
import { ByteBudget } from "../../src/byte_budget.ts";
import { createLimiter } from "../../src/source/limit.ts";
import { readPages } from "../../src/source/pages.ts";
import { hastyClock } from "./clocks.ts";
import { client, json, lastPage, serve } from "./service.ts";

const MEGABYTE = 1024 * 1024;

const sharing = (url: string, memory: ByteBudget) =>
  client(url, { limit: createLimiter({ maxConcurrency: 8, clock: hastyClock(), memory }) });

test("large bodies wait for room until the ones before are given back; small ones don't", async () => {
  await using service = await serve((response, { url = "" }) =>
    json(response, 200, { data: "x".repeat(url.endsWith("/small") ? 10 : MEGABYTE) }),
  );
  await using api = sharing(service.url, new ByteBudget(4 * MEGABYTE));
  const first = await api.get("/large", {}, { holds: true });
  let came = false;
  const second = api.get("/large", {}).then(() => {
    came = true;
  });
  await api.get("/small", {});
  await new Promise(resolve => setTimeout(resolve, 100));
  expect(came).toBe(false);
  first.release?.();
  await second;
  expect(came).toBe(true);
});

test("a body that is larger than all the room there is goes alone", async () => {
  await using service = await serve(response => json(response, 200, { data: "x".repeat(4 * MEGABYTE) }));
  await using api = sharing(service.url, new ByteBudget(MEGABYTE));
  const answers = await Promise.all([1, 2, 3].map(() => api.get("/large", {})));
  expect(answers.map(({ data }) => (data as string).length)).toEqual(Array(3).fill(4 * MEGABYTE));
});

test("whoever no longer waits for a body gives back what it was going to take", async () => {
  await using service = await serve(response => json(response, 200, { data: "x".repeat(MEGABYTE) }));
  await using api = sharing(service.url, new ByteBudget(4 * MEGABYTE));
  const first = await api.get("/large", {}, { holds: true });
  const own = new AbortController();
  const second = api.get("/large", {}, { signal: own.signal });
  await new Promise(resolve => setTimeout(resolve, 50));
  own.abort("enough");
  await expect(second).rejects.toBe("enough");
  first.release?.();
  expect((await api.get("/large", {})).status).toBe(200);
});

test("an answer that cannot be kept gives back what it took", async () => {
  await using service = await serve(response => json(response, 200, { data: "x".repeat(MEGABYTE) }));
  const memory = new ByteBudget(4 * MEGABYTE);
  const full = () => {
    throw new Error("the archive's disk is full");
  };
  await using api = client(service.url, {
    limit: createLimiter({ maxConcurrency: 8, clock: hastyClock(), memory }),
    onAnswer: full,
  });
  for (let nth = 0; nth < 3; nth++)
    await expect(api.get("/large", {}, { holds: true })).rejects.toThrow("the archive's disk is full");
});

test("a page that is too large is asked for again with fewer rows, and the ones after it with as many as fit", async () => {
  const limits: number[] = [];
  const rows = 60;
  await using service = await serve((response, { url }) => {
    const query = new URL(url ?? "", "http://service").searchParams;
    const [from, limit] = [Number(query.get("cursor") ?? 0), Number(query.get("limit"))];
    limits.push(limit);
    const to = Math.min(rows, from + limit);
    const data = Array.from({ length: to - from }, () => "x".repeat(100_000));
    const more = { next_cursor: String(to), has_more: true, limit };
    json(response, 200, { data, pagination: to < rows ? more : lastPage });
  });
  await using api = sharing(service.url, new ByteBudget(16 * 3_000_000));
  let read = 0;
  for await (const page of readPages(api, { path: "/po", query: {}, limit: 100, paged: true }))
    read += (page.data as string[]).length;
  expect(read).toBe(rows);
  // 100 are too large, 25 fit, of which the size of a row is known then.
  expect(limits.slice(0, 3)).toEqual([100, 25, 17]);
});

test("where the service refuses fewer rows the large page is read", async () => {
  await using service = await serve((response, { url }) => {
    const limit = new URL(url ?? "", "http://service").searchParams.get("limit");
    if (limit === "100") json(response, 200, { data: ["x".repeat(MEGABYTE)], pagination: lastPage });
    else json(response, 422, { error: { code: "VALIDATION", message: "no", request_id: "r" } });
  });
  await using api = sharing(service.url, new ByteBudget(2 * MEGABYTE));
  const pages = readPages(api, { path: "/po", query: {}, limit: 100, paged: true });
  const { value } = await pages.next();
  expect(value).toMatchObject({ requests: 3, nextCursor: undefined });
});
