import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, expect, test } from "vitest";
import { type Simulator, type SimulatorOptions, startSimulator, VOCABULARIES } from "../simulator.ts";
import { ask, type Json, LISTS, read, readAll, rowsOf, STREAMS, stillClock } from "./reading.ts";

let simulator: Simulator | undefined;
afterEach(async () => {
  await simulator?.close();
  simulator = undefined;
});

async function start(options: SimulatorOptions = {}): Promise<Simulator> {
  simulator = await startSimulator({ now: stillClock().now, ...options });
  return simulator;
}

const MODES = ["keyset", "offset"] as const;
const keysOf = (rows: Iterable<Json>, field: string): unknown[] => Array.from(rows, row => row[field]);

test.each(MODES.flatMap(paging => VOCABULARIES.map(vocabulary => ({ paging, vocabulary }))))(
  "all pages of a list are the truth, whatever the page size and the changes before ($paging, $vocabulary)",
  async options => {
    const service = await start(options);
    for (const stream of STREAMS) {
      service.insert(stream, 7);
      service.delete(stream, 9);
      service.update(stream, 11);
      const truth = JSON.stringify([...service.truth.rows(stream)]);
      for (const limit of [7, 100]) expect(JSON.stringify(await readAll(service, LISTS[stream], limit))).toBe(truth);
      expect(service.truth.count(stream)).toBe((JSON.parse(truth) as unknown[]).length);
    }
  },
);

test("a page holds 25 rows unless asked otherwise, 100 at most; other limits and foreign cursors are refused", async () => {
  const service = await start();
  const first = await read(service, "/po");
  expect(rowsOf("/po", first)).toHaveLength(25);
  expect(first.pagination).toMatchObject({ has_more: true, limit: 25 });
  expect(first.pagination?.next_cursor).toMatch(/^[A-Za-z0-9_-]+$/);
  const cursor = first.pagination?.next_cursor;
  const refused = [
    "/po?limit=101",
    "/po?limit=0",
    "/po?limit=ten",
    "/po?limit=-1",
    "/po?cursor=nonsense",
    `/items?cursor=${cursor}`,
    `/findings?status=open&cursor=${(await read(service, "/findings")).pagination?.next_cursor}`,
  ];
  for (const path of refused) expect([path, (await ask(service, path)).status]).toEqual([path, 422]);
  expect(rowsOf("/po", await read(service, `/po?limit=100&cursor=${cursor}`))).toHaveLength(100);
});

test("the last page says so, also when the rows fill it exactly, and an empty list is one page", async () => {
  const service = await start({ sizes: { items: 50, findings: 0 } });
  const { pagination } = await read(service, "/items?limit=50");
  expect(pagination).toEqual({ next_cursor: null, has_more: false, limit: 50 });
  expect(rowsOf("/findings", await read(service, "/findings"))).toEqual([]);
});

test("keyset cursors lose no row while others come and go", async () => {
  const service = await start({ paging: "keyset" });
  const before = keysOf(service.truth.rows("purchase_orders"), "po_number");
  const gone = new Set<string>();
  const rows = await readAll(service, "/po", 20, () => {
    for (const key of service.delete("purchase_orders", 5)) gone.add(key);
    service.insert("purchase_orders", 3);
  });
  const seen = keysOf(rows, "po_number");
  expect(new Set(seen).size).toBe(seen.length);
  expect(before.filter(key => !seen.includes(key)).every(key => gone.has(String(key)))).toBe(true);
});

test("offset cursors hide a row after a deletion on an earlier page, and repeat one after an insert at the head", async () => {
  const service = await start({ paging: "offset", sizes: { items: 60 } });
  const before = keysOf(service.truth.rows("items"), "item_id");
  const hidden = await readAll(service, "/items", 20, page => {
    if (page === 1) service.delete("items", [String(before[3])]);
  });
  const live = keysOf(service.truth.rows("items"), "item_id");
  expect(live.filter(key => !keysOf(hidden, "item_id").includes(key))).toEqual([before[20]]);

  const repeated = keysOf(
    await readAll(service, "/items", 20, page => {
      if (page === 1) service.insert("items", 2);
    }),
    "item_id",
  );
  expect(repeated.length - new Set(repeated).size).toBe(2);
});

test("the list's own total counts its live rows", async () => {
  const service = await start();
  const total = async (): Promise<unknown> => ((await read(service, "/po?limit=1")).data["stats"] as Json)["total"];
  expect(await total()).toBe(200);
  service.insert("purchase_orders", 4);
  service.delete("purchase_orders", 1);
  expect(await total()).toBe(203);
  expect((await read(service, "/po/stats")).data["total"]).toBe(203);
});

test.each(MODES)("a million rows are read anywhere without being held (%s)", async paging => {
  const million = 1_000_000;
  const sizes = { orders: million, invoices: million, items: million, findings: million, ingested: million };
  const service = await start({ paging, sizes });
  for (const stream of STREAMS) service.delete(stream, 100);
  const before = heapInUse();
  for (const stream of STREAMS) {
    expect(service.truth.count(stream)).toBe(million - 100);
    const deep = [...take(service.truth.rows(stream, 900_000), 30)];
    expect(deep).toHaveLength(30);
    expect(new Set(deep.map(row => JSON.stringify(row))).size).toBe(30);
  }
  for (const path of ["/po", "/reconciliation", "/items", "/ingested"]) {
    const envelope = await read(service, `${path}?limit=100`);
    expect(rowsOf(path, envelope)).toHaveLength(100);
  }
  expect(heapInUse() - before).toBeLessThan(8 * 1024 * 1024);
});

test("the feed's window is found in a million rows without reading up to it", async () => {
  const service = await start({ sizes: { ingested: 1_000_000 } });
  const path = "/ingested?include_filed=true&date_from=2024-06-01&date_to=2024-06-02&limit=100";
  const rows = await readAll(service, path, 100);
  expect(rows.length).toBeGreaterThan(1000);
  for (const row of rows) expect(new Date(String(row["ts"])).toISOString()).toMatch(/^2024-06-0[12]/);
});

function* take<T>(rows: Iterable<T>, count: number): Generator<T> {
  let left = count;
  for (const row of rows) {
    if (left-- === 0) return;
    yield row;
  }
}

/** Bytes that are still held after a collection. */
function heapInUse(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  return process.memoryUsage().heapUsed;
}
