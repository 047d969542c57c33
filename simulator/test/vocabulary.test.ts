import { afterAll, beforeAll, expect, test } from "vitest";
import { type Simulator, startSimulator } from "../simulator.ts";
import { idSaid, idUnderstood } from "../vocabulary/ids.ts";
import { wordSaid, wordUnderstood } from "../vocabulary/words.ts";
import { ask, type Json, LISTS, read, readAll, STREAMS, stillClock } from "./reading.ts";

const sizes = { orders: 300, invoices: 600, items: 100, findings: 200, ingested: 1200 };
let plain: Simulator;
let other: Simulator;
beforeAll(async () => {
  plain = await startSimulator({ sizes, now: stillClock().now });
  other = await startSimulator({ sizes, now: stillClock().now, vocabulary: "other" });
});
afterAll(() => Promise.all([plain.close(), other.close()]));

const rowsOf = (simulator: Simulator, stream: string): Json[] => [...simulator.truth.rows(stream)];

test("every word and every identifier is understood as it was said, and none is said as it was", () => {
  const words = ["open", "past_due", "in_transit", "credit_memo", "purchase_order", "no_po", "q4_peak", "z_unknown_9"];
  const ids = ["DOC-12", "DOC-P7", "PO-3", "PO/41 Süd", "VND-0001", "ITM-000100", "EML-8-2", "fid-2f1c9a", "fact-1-2"];
  for (const word of words) {
    expect(wordSaid(word)).not.toBe(word);
    expect(wordUnderstood(wordSaid(word))).toBe(word);
  }
  for (const id of ids) {
    expect(idSaid(id)).not.toBe(id);
    expect(idUnderstood(idSaid(id))).toBe(id);
  }
  expect(idUnderstood(idSaid("DOC-12").replace("12", "13"))).not.toBe("DOC-13");
  for (const documented of ["billing", "inbound", "flagged", "auto_reply"])
    expect(wordSaid(documented)).toBe(documented);
});

test("both tell the same rows, under other keys and in another order unless one is promised", () => {
  for (const stream of STREAMS) {
    const field = { purchase_orders: "po_number", invoices: "doc_id", items: "item_id", findings: "item_id" };
    const keyField = field[stream as keyof typeof field] ?? "id";
    const said = rowsOf(plain, stream).map(row => idSaid(String(row[keyField])));
    const told = rowsOf(other, stream).map(row => String(row[keyField]));
    expect([...told].sort()).toEqual([...said].sort());
    if (stream === "findings") expect(told).toEqual(said);
    else expect(told).not.toEqual(said);
  }
});

test("nearly every invoice names another one of its order or itself; a credit is known by its kind or by its sign alone", () => {
  const invoices = rowsOf(other, "invoices");
  const linked = invoices.filter(
    row => row["linked_invoice_doc_id"] !== null && row["credit_memo_match_method"] !== null,
  );
  expect(linked.length).toBeGreaterThan(invoices.length * 0.98);
  expect(linked.some(row => row["linked_invoice_doc_id"] === row["doc_id"])).toBe(true);
  expect(linked.some(row => row["linked_invoice_doc_id"] !== row["doc_id"])).toBe(true);
  const negative = invoices.filter(row => Number(row["total_amount"]) < 0);
  const called = negative.filter(row => /credit/i.test(String(row["doc_type"])));
  expect(called.length).toBeGreaterThan(0);
  expect(negative.length).toBeGreaterThan(called.length);
  expect(rowsOf(plain, "invoices").filter(row => Number(row["total_amount"]) < 0)).toEqual([]);
});

test("an order costs what it did: quantities are halved where prices are doubled", async () => {
  for (const { po_number } of rowsOf(plain, "purchase_orders").slice(0, 40)) {
    const lines = async (simulator: Simulator, key: string) => {
      const { data } = await read(simulator, `/po/${encodeURIComponent(key)}`);
      return (data["line_items"] as Json[]).map(line => [line["quantity"], line["unit_price"]]);
    };
    const cost = (all: readonly unknown[][]) =>
      all
        .filter(pair => !pair.includes(null) && !pair.includes(""))
        .map(([quantity, price]) => (Number(quantity) * Number(price)).toFixed(3));
    const before = cost(await lines(plain, String(po_number)));
    for (const line of cost(await lines(other, idSaid(String(po_number))))) expect(before).toContain(line);
  }
});

test("currencies are many, and quantities have fractions", () => {
  const currencies = new Set(rowsOf(other, "ingested").map(row => row["currency_code"]));
  expect(currencies.size).toBeGreaterThan(4);
  expect(currencies.has("EUR") || currencies.has("USD")).toBe(false);
  expect(rowsOf(other, "items").some(row => Number(row["total_qty"]) % 1 !== 0)).toBe(true);
});

test("a filter takes the values that rows show, and lets through what shows them", async () => {
  for (const field of ["status", "category", "po_number", "vendor_id", "doc_id"]) {
    const rows = rowsOf(other, "findings");
    const value = rows.find(row => row[field] !== null)?.[field];
    const found = await readAll(other, `/findings?${field}=${encodeURIComponent(String(value))}`, 30);
    expect(found).toEqual(rows.filter(row => row[field] === value));
  }
  const feed = rowsOf(other, "ingested").filter(
    row => !["vendor_marketing", "auto_reply", "system_notification"].includes(String(row["email_class"])),
  );
  const document = feed.find(row => /DOC/.test(String(row["id"])));
  for (const field of ["type", "source"]) {
    const found = await readAll(other, `/ingested?${field}=${encodeURIComponent(String(document?.[field]))}`, 30);
    expect(found.length).toBeGreaterThan(0);
    expect(found.every(row => row[field] === document?.[field])).toBe(true);
  }
  const window = await readAll(other, "/ingested?date_from=2026-03-01&include_filed=true", 30);
  const since = rowsOf(other, "ingested").filter(row => Date.parse(String(row["ts"])) >= Date.parse("2026-03-01"));
  expect(window).toEqual(since);
});

test("keys that the handle returns and takes, and what it sets, are those of the answers", async () => {
  const own = await startSimulator({ vocabulary: "other", now: stillClock().now });
  const [key = ""] = own.update("purchase_orders", 1);
  expect((await ask(own, `/po/${encodeURIComponent(key)}`)).status).toBe(200);
  own.patch("purchase_orders", key, { match_status: "open", total_amount: 7 });
  const rows = await readAll(own, LISTS.purchase_orders, 100);
  expect(rows.find(row => row["po_number"] === key)).toMatchObject({ match_status: "open", total_amount: 7 });
  own.delete("purchase_orders", [key]);
  expect((await ask(own, `/po/${encodeURIComponent(key)}`)).status).toBe(404);
  own.restore("purchase_orders", [key]);
  own.patchDetail(`/po/${encodeURIComponent(key)}`, { status: "open" });
  expect((await read(own, `/po/${encodeURIComponent(key)}`)).data["status"]).toBe("open");
  await own.close();
});
