import { afterEach, expect, test, vi } from "vitest";
import { noFaults } from "../faults.ts";
import { type Simulator, type SimulatorOptions, startSimulator } from "../simulator.ts";
import { ask, type ErrorEnvelope, type Json, read, readAll, rowsOf, stillClock } from "./reading.ts";

let simulator: Simulator | undefined;
afterEach(async () => {
  await simulator?.close();
  simulator = undefined;
});

async function start(faults: SimulatorOptions["faults"], more: SimulatorOptions = {}): Promise<Simulator> {
  simulator = await startSimulator({ now: stillClock().now, faults: faults ?? {}, ...more });
  return simulator;
}

async function statuses(service: Simulator, count: number, path = "/po?limit=1"): Promise<number[]> {
  const seen: number[] = [];
  for (let i = 0; i < count; i += 1) seen.push((await ask(service, path)).status);
  return seen;
}

/** Waits for what comes by itself, however busy the machine is. */
const eventually = (look: () => void): Promise<void> => vi.waitFor(look, { timeout: 60_000, interval: 10 });

test("nothing goes wrong unless asked for", async () => {
  const service = await start({});
  expect(service.faults).toEqual(noFaults());
  expect(await statuses(service, 5)).toEqual([200, 200, 200, 200, 200]);
});

test("latency delays every answer by at least that much", async () => {
  const service = await start({ latencyMs: 60, latencyJitterMs: 20 });
  const before = performance.now();
  await ask(service, "/po/stats");
  expect(performance.now() - before).toBeGreaterThanOrEqual(59);
});

test.each([
  ["seconds", "7"],
  ["date", "Sun, 15 Mar 2026 12:00:07 GMT"],
  ["absent", null],
] as const)("a rate limit answers 429 with Retry-After as %s", async (retryAfter, header) => {
  const service = await start({ rateLimit: { perSecond: 2, retryAfter, retryAfterSeconds: 7 } });
  const responses = await Promise.all(Array.from({ length: 5 }, () => ask(service, "/po/stats")));
  const refused = responses.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(3);
  expect(refused[0]?.headers.get("retry-after")).toBe(header);
  const [body] = (await Promise.all(refused.map(response => response.json()))) as ErrorEnvelope[];
  expect(body?.error.code).toBe("RATE_LIMITED");
});

test("next429 hits the next requests only, a plan limit all once it is used up", async () => {
  const service = await start({ next429: 2 });
  expect(await statuses(service, 3)).toEqual([429, 429, 200]);
  service.faults.planLimit = { remaining: 2 };
  expect(await statuses(service, 4)).toEqual([200, 200, 429, 429]);
  expect((await ask(service, "/po")).headers.get("retry-after")).toBeNull();
  service.faults.planLimit = { remaining: 0, retryAfterSeconds: 86_400 };
  expect((await ask(service, "/po")).headers.get("retry-after")).toBe("86400");
});

test("500s come as a share drawn from the seed, or for the next few; only touches the paths it names", async () => {
  const service = await start({ error500: 0.5 });
  const seen = await statuses(service, 40);
  expect(seen.filter(status => status === 500).length).toBeGreaterThan(8);
  expect(seen.filter(status => status === 200).length).toBeGreaterThan(8);
  await service.close();
  expect(await statuses(await start({ error500: 0.5 }), 40)).toEqual(seen);

  const few = simulator as Simulator;
  few.faults.error500 = { next: 2 };
  expect(await statuses(few, 3)).toEqual([500, 500, 200]);
  few.faults.error500 = 3;
  expect(await statuses(few, 4)).toEqual([500, 500, 500, 200]);
  few.faults.error500 = 1;
  few.faults.only = "/items";
  expect([...(await statuses(few, 1)), ...(await statuses(few, 2, "/items/stats"))]).toEqual([200, 500, 500]);
});

test("a bad gateway answers with HTML", async () => {
  const response = await ask(await start({ badGateway: { next: 1 } }), "/po");
  expect([response.status, response.headers.get("content-type")]).toEqual([502, "text/html"]);
  expect(await response.text()).toContain("<html>");
});

test.each(["cutConnection", "truncatedBody"] as const)(
  "%s: the head promises what the body doesn't keep",
  async fault => {
    const service = await start({ [fault]: { next: 1 } });
    await expect(ask(service, "/po").then(response => response.text())).rejects.toThrow();
    expect((await read(service, "/po?limit=1")).data["purchase_orders"]).toHaveLength(1);
  },
);

test("a hanging request gets no answer and doesn't keep the simulator from closing", async () => {
  const service = await start({ hang: { next: 1 } });
  const hanging = ask(service, "/po").then(
    () => "answered",
    () => "dropped",
  );
  expect(await statuses(service, 1)).toEqual([200]);
  await service.close();
  simulator = undefined;
  expect(await hanging).toBe("dropped");
});

test("closing ends waiting and trickling requests at once", async () => {
  const service = await start({ latencyMs: 600_000, only: "/items" });
  const dropped = (): string => "dropped";
  const waiting = ask(service, "/items")
    .then(response => response.text())
    .catch(dropped);
  await eventually(() => expect(service.requests.total).toBe(1));
  Object.assign(service.faults, { latencyMs: 0, slowBody: 20 });
  const trickling = (await ask(service, "/items")).text().catch(dropped);
  await service.close();
  simulator = undefined;
  expect([await waiting, await trickling]).toEqual(["dropped", "dropped"]);
});

test("the log tells how many requests were in flight together", async () => {
  const service = await start({ hang: 1 });
  const all = Array.from({ length: 4 }, () => ask(service, "/po").catch(() => undefined));
  await eventually(() => expect(service.requests.maxInFlight).toBe(4));
  expect(service.requests.entries).toEqual([]);
  await service.close();
  simulator = undefined;
  await Promise.all(all);
  await eventually(() => expect(service.requests.entries.map(({ status }) => status)).toEqual([0, 0, 0, 0]));
});

test("the log tells how long answers were waited for, whoever reads them late", async () => {
  const service = await start({ latencyMs: 40 });
  for (let nth = 0; nth < 3; nth++) await (await ask(service, "/po")).text();
  // Timers are set half a millisecond short; and a reader has the last answer before the service knows that it went out.
  await eventually(() => expect(service.requests.spentMs()["/po"]).toBeGreaterThanOrEqual(3 * 39));
  service.requests.clear();
  expect(service.requests.spentMs()).toEqual({});
});

test("a slow body comes in pieces and is whole", async () => {
  const service = await start({ slowBody: 20_000 });
  const response = await ask(service, "/items?limit=2");
  let pieces = 0;
  let text = "";
  const decoder = new TextDecoder();
  for await (const piece of response.body ?? []) {
    pieces += 1;
    text += decoder.decode(piece, { stream: true });
  }
  expect(pieces).toBeGreaterThan(1);
  expect((JSON.parse(text) as { data: Json }).data["items"]).toHaveLength(2);
});

test("a redirect points at the same path of another origin", async () => {
  const service = await start({ redirectTo: "http://127.0.0.1:1" });
  const response = await ask(service, "/po?limit=3");
  expect([response.status, response.headers.get("location")]).toEqual([302, "http://127.0.0.1:1/api/v1/po?limit=3"]);
});

test.each(["keyset", "offset"] as const)(
  "rows of the page before stand again at the head of the next (%s)",
  async paging => {
    const service = await start({ repeatRows: 3 }, { paging });
    const rows = (await readAll(service, "/po", 50)).map(row => row["po_number"]);
    expect(rows).toHaveLength(209);
    expect(rows.slice(50, 53)).toEqual(rows.slice(47, 50));
    expect(new Set(rows).size).toBe(200);
  },
);

test("a repeated cursor is the one that was asked with", async () => {
  const service = await start({});
  const { pagination } = await read(service, "/po");
  service.faults.repeatCursor = { next: 1 };
  const again = await read(service, `/po?cursor=${pagination?.next_cursor}`);
  expect(again.pagination?.next_cursor).toBe(pagination?.next_cursor);
});

test.each(["first", "last"] as const)("pages never end: each cursor leads to the %s page", async endless => {
  const service = await start({ endless });
  const pages = [await read(service, "/po?limit=100")];
  for (let nth = 1; nth < 5; nth++)
    pages.push(await read(service, `/po?limit=100&cursor=${pages.at(-1)?.pagination?.next_cursor}`));
  expect(new Set(pages.map(page => page.pagination?.next_cursor)).size).toBe(5);
  const [repeated] = rowsOf("/po", pages[endless === "first" ? 0 : 1]!);
  for (const page of pages.slice(1)) expect(rowsOf("/po", page)[0]).toEqual(repeated);
});

test("cursors expire after so many pages, always or so many times", async () => {
  const service = await start({ expireCursorAfterPages: 2 });
  await expect(readAll(service, "/po", 50)).rejects.toThrow(/got 422/);
  service.faults.expireCursorAfterPages = { pages: 2, times: 1 };
  await expect(readAll(service, "/po", 50)).rejects.toThrow(/got 422/);
  expect(await readAll(service, "/po", 50)).toHaveLength(200);
  service.faults.expireCursorAfterPages = { pages: 1, times: 1, status: 410 };
  await expect(readAll(service, "/po", 50)).rejects.toThrow(/got 410/);
});

test("pagination is missing, or promises more without a cursor", async () => {
  const service = await start({ missingPagination: { next: 1 } });
  expect(await read(service, "/po")).not.toHaveProperty("pagination");
  service.faults.hasMoreWithoutCursor = { next: 1 };
  expect((await read(service, "/po")).pagination).toEqual({ next_cursor: null, has_more: true, limit: 25 });
});

test.each(["keyset", "offset"] as const)("an empty page says has_more and loses nothing (%s)", async paging => {
  const service = await start({ emptyPage: { next: 1 } }, { paging });
  for (const path of ["/po", "/ingested?include_filed=true&date_to=2025-12-31"]) {
    const whole = await readAll(service, path, 30);
    service.faults.emptyPage = { next: 1 };
    expect(rowsOf(path, await read(service, `${path}${path.includes("?") ? "&" : "?"}limit=30`))).toEqual([]);
    service.faults.emptyPage = { next: 1 };
    expect(await readAll(service, path, 30)).toEqual(whole);
    service.faults.emptyPage = { next: 0 };
    expect(await readAll(service, path, 30)).toEqual(whole);
  }
});

test("a share of the rows is spoilt, the same ones each time, and truth knows them", async () => {
  const clean = await start({});
  const usual = await readAll(clean, "/items", 100);
  Object.assign(clean.faults, { unknownFields: 0.3, wrongTypes: 0.3, nullKeys: 0.2 });
  const rows = await readAll(clean, "/items", 100);
  expect(await readAll(clean, "/items", 7)).toEqual(rows);
  expect([...clean.truth.rows("items")]).toEqual(rows);

  const share = (test: (row: Json, i: number) => boolean): number => rows.filter(test).length / rows.length;
  const unknown = share(row => "x_future_note" in row);
  const keyless = share(row => row["item_id"] === null);
  const wrong = share((row, i) =>
    Object.entries(usual[i] ?? {}).some(
      ([name, value]) => name !== "item_id" && JSON.stringify(row[name]) !== JSON.stringify(value),
    ),
  );
  for (const found of [unknown, wrong, keyless]) {
    expect(found).toBeGreaterThan(0.05);
    expect(found).toBeLessThan(0.6);
  }
  clean.faults.only = "/po";
  expect(await readAll(clean, "/items", 100)).toEqual(usual);
});

test("the answer to a request without a key is 401 even while another fault lasts only elsewhere", async () => {
  const service = await start({ error500: 1, only: "/findings" });
  expect((await fetch(`${service.url}/api/v1/po`)).status).toBe(401);
  expect((await fetch(`${service.url}/api/v1/findings`)).status).toBe(500);
});
