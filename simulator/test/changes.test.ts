import { afterEach, expect, test } from "vitest";
import { type Simulator, type SimulatorOptions, startSimulator, VOCABULARIES } from "../simulator.ts";
import { ask, type Json, LISTS, read, readAll, STREAMS, stillClock } from "./reading.ts";

/** Two pages of each list. */
const sizes = { orders: 120, invoices: 120, items: 120, findings: 120, ingested: 120 };
const running: Simulator[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map(simulator => simulator.close()));
});

async function start(options: SimulatorOptions = {}): Promise<Simulator> {
  const simulator = await startSimulator({ now: stillClock().now, sizes, ...options });
  running.push(simulator);
  return simulator;
}

const KEYS = {
  purchase_orders: "po_number",
  invoices: "doc_id",
  items: "item_id",
  findings: "item_id",
  ingested: "id",
} as const;

function byKey(service: Simulator, stream: (typeof STREAMS)[number]): Map<string, string> {
  return new Map(Array.from(service.truth.rows(stream), row => [String(row[KEYS[stream]]), JSON.stringify(row)]));
}

function detailPath(stream: "purchase_orders" | "invoices", key: string): string {
  const id = encodeURIComponent(key);
  return stream === "purchase_orders" ? `/po/${id}` : `/reconciliation/${id}/line-items`;
}

function details(service: Simulator): Map<string, string> {
  const all = new Map<string, string>();
  for (const stream of ["purchase_orders", "invoices"] as const) {
    for (const key of byKey(service, stream).keys()) {
      all.set(key, JSON.stringify(service.truth.get(detailPath(stream, key))));
    }
  }
  return all;
}

function differing(before: Map<string, string>, after: Map<string, string>): string[] {
  return [...after].filter(([key, text]) => before.get(key) !== text).map(([key]) => key);
}

test.each(VOCABULARIES)("one seed, one day: the same bytes; another seed: others (%s)", async vocabulary => {
  const [one, same] = [await start({ seed: 7, vocabulary }), await start({ seed: 7, vocabulary })];
  const other = await start({ seed: 8, vocabulary });
  for (const service of [one, same, other]) {
    for (const stream of STREAMS) {
      service.update(stream, 5);
      service.insert(stream, 3);
      service.delete(stream, 2);
    }
  }
  const text = async (service: Simulator): Promise<string> => {
    const lists = await Promise.all(STREAMS.map(stream => readAll(service, LISTS[stream], 100)));
    const others = ["/po/PO-5", "/reconciliation/DOC-5/line-items", "/findings?limit=1", "/auth/company-settings"];
    return JSON.stringify([lists, await Promise.all(others.map(async path => (await ask(service, path)).text()))]);
  };
  expect(await text(same)).toBe(await text(one));
  expect(await text(other)).not.toBe(await text(one));
});

test("a list and its details stay as they are between two requests on one day", async () => {
  const service = await start();
  const [rows, all] = [byKey(service, "purchase_orders"), details(service)];
  expect(differing(rows, byKey(service, "purchase_orders"))).toEqual([]);
  expect(differing(all, details(service))).toEqual([]);
});

test("another day moves only the fields that count days", async () => {
  const clock = stillClock("2026-03-15T23:59:00Z");
  const service = await start({ now: clock.now, sizes: { ...sizes, invoices: 1500 } });
  const before = STREAMS.map(stream => [...service.truth.rows(stream)]);
  const whole = details(service);
  clock.move("2026-03-17T00:01:00Z");
  const moved = new Set<string>();
  for (const [i, stream] of STREAMS.entries()) {
    for (const [k, row] of Array.from(service.truth.rows(stream)).entries()) {
      for (const name of Object.keys(row)) {
        if (JSON.stringify(row[name]) !== JSON.stringify(before[i]?.[k]?.[name])) moved.add(name);
      }
    }
  }
  const expected = ["delivery_days_late", "delivery_days_past_requested", "discount_days_left", "due_in_days"];
  expect([...moved].sort()).toEqual([...expected, "intelligence_age_days", "pay_urgency"]);
  expect(differing(whole, details(service))).toEqual([]);
});

test.each(STREAMS.flatMap(stream => VOCABULARIES.map(vocabulary => ({ stream, vocabulary }))))(
  "an update of $stream changes exactly the rows it names, time after time, and nothing else anywhere ($vocabulary)",
  async ({ stream, vocabulary }) => {
    const service = await start({ vocabulary });
    for (let round = 0; round < 2; round += 1) {
      const others = STREAMS.filter(name => name !== stream).map(name => [name, byKey(service, name)] as const);
      const [rows, all] = [byKey(service, stream), details(service)];
      const keys = service.update(stream, 60);
      expect(new Set(keys).size).toBe(60);
      expect(differing(rows, byKey(service, stream)).sort()).toEqual([...keys].sort());
      for (const [name, untouched] of others) expect(differing(untouched, byKey(service, name))).toEqual([]);
      const hasDetails = stream === "purchase_orders" || stream === "invoices";
      expect(differing(all, details(service)).sort()).toEqual(hasDetails ? [...keys].sort() : []);
    }
  },
);

test.each(STREAMS)("inserted rows of %s are new, deleted ones are gone, restored ones are as before", async stream => {
  const service = await start();
  const before = byKey(service, stream);
  const inserted = service.insert(stream, 5);
  expect(inserted.some(key => before.has(key))).toBe(false);
  expect(differing(before, byKey(service, stream)).sort()).toEqual([...inserted].sort());
  if (stream !== "findings") expect([...byKey(service, stream).keys()].slice(0, 5)).toEqual([...inserted].reverse());

  const whole = byKey(service, stream);
  const gone = [...service.delete(stream, 10), ...service.delete(stream, inserted.slice(0, 1))];
  const left = byKey(service, stream);
  for (const key of gone) expect(left.has(key)).toBe(false);
  expect(left.size).toBe(whole.size - new Set(gone).size);
  service.restore(stream, gone);
  expect([...byKey(service, stream)]).toEqual([...whole]);
});

test("a deleted row's details answer 404, also in truth, and come back with it", async () => {
  const service = await start();
  for (const stream of ["purchase_orders", "invoices"] as const) {
    const [key = ""] = service.delete(stream, 1);
    const path = detailPath(stream, key);
    expect([(await ask(service, path)).status, service.truth.get(path)]).toEqual([404, undefined]);
    service.restore(stream, [key]);
    expect(service.truth.get(path)).toEqual((await read(service, path)).data);
  }
});

test("patches reach the row as given: exact numerals, wrong types, new fields, a null key", async () => {
  const service = await start();
  const raw = JSON.rawJSON("12345678901234567.123456789");
  service.patch("purchase_orders", "PO-7", { total_amount: raw, is_open: "perhaps", brand_new: { a: 1 } });
  service.patch("purchase_orders", "PO-8", { po_number: null });
  const { pagination } = await read(service, "/po?limit=100");
  const wire = await (await ask(service, `/po?limit=100&cursor=${pagination?.next_cursor}`)).text();
  const rest = await readAll(service, "/po", 100);
  const row = rest.find(candidate => candidate["po_number"] === "PO-7");
  expect(row).toMatchObject({ is_open: "perhaps", brand_new: { a: 1 } });
  expect(rest.filter(candidate => candidate["po_number"] === null)).toHaveLength(1);
  expect(wire).toContain('"total_amount":12345678901234567.123456789');
  const truth = [...service.truth.rows("purchase_orders")].find(candidate => candidate["po_number"] === "PO-7");
  expect(JSON.stringify(truth)).toContain('"total_amount":12345678901234567.123456789');
  expect(() => service.patch("items", "PO-7", {})).toThrow(/expected a key of items/);
});

test("a detail and a list's own fields can be overridden by path", async () => {
  const service = await start();
  service.patchDetail("/po/PO-3", { po_date: "2020-02-02", surprise: [1] });
  service.patchDetail("/po", { stats: { total: 7 } });
  expect((await read(service, "/po/PO-3")).data).toMatchObject({ po_date: "2020-02-02", surprise: [1] });
  expect(service.truth.get("/po/PO-3")).toMatchObject({ po_date: "2020-02-02" });
  expect((await read(service, "/po?limit=1")).data["stats"]).toEqual({ total: 7 });
  expect(() => service.patchDetail("/nowhere", {})).toThrow(/expected a path/);
});

test("orders, lines, invoices, findings and the feed belong together", async () => {
  const service = await start({ seed: 11, sizes: { invoices: 300, ingested: 900 } });
  const orders = new Map(Array.from(service.truth.rows("purchase_orders"), row => [row["po_number"], row]));
  const invoices = new Map(Array.from(service.truth.rows("invoices"), row => [row["doc_id"], row]));
  let cited = 0;
  for (const [key, row] of orders) {
    const detail = service.truth.get(detailPath("purchase_orders", String(key))) as Json;
    for (const name of ["po_number", "po_date", "is_open", "fulfillment_state", "match_status"]) {
      expect(detail[name]).toBe(row[name]);
    }
    const lines = detail["line_items"] as Json[];
    if (row["total_amount"] !== null && lines.every(line => line["amount"] !== null)) {
      expect(lines.reduce((sum, line) => sum + Number(line["amount"]), 0)).toBeCloseTo(Number(row["total_amount"]), 2);
    }
    for (const document of (detail["linked_documents"] as Json[]).filter(paper => paper["doc_type"] === "invoice")) {
      expect(invoices.get(document["doc_id"])?.["matched_po_number"]).toBe(key);
      cited += 1;
    }
  }
  expect(cited).toBeGreaterThan(150);
  const matched = [...invoices.values()].filter(row => row["matched_po_number"] !== null);
  expect(matched.every(row => orders.has(row["matched_po_number"]))).toBe(true);
  expect(new Set(matched.map(row => row["match_status"]))).toEqual(new Set(["matched", "discrepancy", null]));
  for (const row of service.truth.rows("findings")) {
    if (row["po_number"] !== null) expect(orders.has(row["po_number"])).toBe(true);
    if (row["doc_id"] !== null) expect(invoices.has(row["doc_id"])).toBe(true);
  }
  const fed = Array.from(service.truth.rows("ingested"), row => row["id"]).filter(id => invoices.has(id));
  expect(new Set(fed).size).toBe(invoices.size);
});

test("the newest rows stand first, and the fixed number of lines is kept", async () => {
  const service = await start({ linesPerOrder: 4 });
  const times = Array.from(service.truth.rows("ingested"), row => row["ts"])
    .filter(ts => ts !== null)
    .map(ts => Date.parse(String(ts)));
  expect(times).toEqual([...times].sort((a, b) => b - a));
  expect((service.truth.get("/po/PO-1") as Json)["line_items"]).toHaveLength(4);
});
