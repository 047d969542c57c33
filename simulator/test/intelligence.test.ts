import { afterAll, beforeAll, expect, test } from "vitest";
import { type Simulator, startSimulator, type VocabularyName } from "../simulator.ts";
import { ask, type Json, read, stillClock } from "./reading.ts";
import { checkShape, type Shape, seen, shapeAt } from "./shape.ts";

/** Where the rows of each paged list stand, and what tells them apart. */
const PAGED = {
  "/issues": ["issues", "id"],
  "/anomalies": ["anomalies", "id"],
  "/insights": ["insights", "insight_id"],
  "/insights/history": ["insights", undefined],
  "/ops/open-items": ["items", undefined],
} as const;

const WHOLE = [
  "/insights/stats",
  "/insights/trends",
  "/findings/stats",
  "/procurement-intel/runs",
  "/procurement-intel/summary",
  "/negotiations/stats",
];

/** The details, each with the stream whose rows lead to it and their column. */
const DETAILS: readonly (readonly [template: string, stream: string, column: string])[] = [
  ["/insights/runs/{run_id}", "insights", "run_id"],
  ["/lineage/finding/{id}", "findings", "finding_id"],
  ["/findings/{finding_id}/draft", "findings", "finding_id"],
  ["/procurement-intel/{finding_id}", "findings", "finding_id"],
  ["/reconciliation/{doc_id}/gl-coding", "invoices", "doc_id"],
  ["/reconciliation/{doc_id}/history", "invoices", "doc_id"],
  ["/reconciliation/{doc_id}/timeline", "invoices", "doc_id"],
  ["/invoices/{doc_id}/intelligence", "invoices", "doc_id"],
  ["/invoices/{invoice_number}/amendments", "invoices", "document_number"],
  ["/po/{po_number}/change-orders", "purchase_orders", "po_number"],
  ["/po/{po_number}/blanket-releases", "purchase_orders", "po_number"],
  ["/orders/{po_number}/landed-cost", "purchase_orders", "po_number"],
  ["/lineage/promise/{po_number}", "purchase_orders", "po_number"],
  ["/po/{po_number}/as-of", "purchase_orders", "po_number"],
  ["/items/{item_id}/vendors", "items", "item_id"],
  ["/items/{item_id}/price-history", "items", "item_id"],
  ["/items/{item_id}/transactions", "items", "item_id"],
  ["/items/{item_id}/linked-documents", "items", "item_id"],
  ["/items/{item_id}/intelligence", "items", "item_id"],
];
const LOOKUPS = ["/negotiations/{id}", "/negotiations/{id}/brief-v2"];
const SOURCES = ["issues", "anomalies", "insights", "insight_history", "procurement_intel_runs", "open_items"];
const AT = "?at=2026-03-01T00:00:00Z";

const simulators: Simulator[] = [];
afterAll(async () => {
  for (const simulator of simulators) await simulator.close();
});

async function start(seed: number, sizes = {}, vocabulary?: VocabularyName): Promise<Simulator> {
  const simulator = await startSimulator({ seed, sizes, vocabulary, now: stillClock().now });
  simulators.push(simulator);
  return simulator;
}

const filled = (template: string, value: unknown): string =>
  template.replace(/\{\w+\}/, encodeURIComponent(String(value))) + (template.endsWith("/as-of") ? AT : "");

/** The values that lead to a detail, each once. */
function asked(simulator: Simulator, stream: string, column: string): unknown[] {
  return [...new Set(Array.from(simulator.truth.rows(stream), row => row[column]))].filter(
    value => value !== null && value !== "",
  );
}

async function pages(simulator: Simulator, path: string, field: string, limit: number): Promise<Json[]> {
  const rows: Json[] = [];
  for (let cursor = ""; ; ) {
    const page = await read(simulator, `${path}${path.includes("?") ? "&" : "?"}limit=${limit}${cursor}`);
    rows.push(...(page.data[field] as Json[]));
    const next = page.pagination?.next_cursor ?? null;
    if (next === null) return rows;
    cursor = `&cursor=${next}`;
  }
}

async function checkAll(simulator: Simulator): Promise<string[]> {
  const wrong: string[] = [];
  for (const [path, [field]] of Object.entries(PAGED)) {
    const { data } = await read(simulator, path);
    const rows = await pages(simulator, path, field, 100);
    wrong.push(...checkShape({ ...data, [field]: rows }, shapeAt(path), path));
  }
  for (const path of WHOLE) wrong.push(...checkShape((await read(simulator, path)).data, shapeAt(path), path));
  for (const [template, stream, column] of DETAILS)
    for (const value of asked(simulator, stream, column))
      wrong.push(...checkShape(simulator.truth.get(filled(template, value)), shapeAt(template), template));
  const { total } = (await read(simulator, "/negotiations/stats")).data;
  for (const template of LOOKUPS)
    for (let number = 1; number <= Number(total); number += 1)
      wrong.push(...checkShape(simulator.truth.get(filled(template, `NEG-${number}`)), shapeAt(template), template));
  return wrong;
}

const untouched: string[] = [];
const changed: string[] = [];

beforeAll(async () => {
  for (const seed of [1, 2, 3]) {
    const simulator = await start(seed);
    untouched.push(...(await checkAll(simulator)));
    for (const stream of ["purchase_orders", "invoices", "items", "findings", ...SOURCES]) {
      simulator.update(stream, 20);
      simulator.insert(stream, 5);
      simulator.delete(stream, 3);
    }
    changed.push(...(await checkAll(simulator)));
  }
  for (let seed = 4; seed < 44; seed += 1) {
    const simulator = await startSimulator({ seed, sizes: { orders: 40, invoices: 4, items: 4, findings: 12 } });
    for (const path of [...Object.keys(PAGED), ...WHOLE])
      untouched.push(...checkShape(simulator.truth.get(path), shapeAt(path), path));
    for (const path of LOOKUPS)
      untouched.push(...checkShape(simulator.truth.get(filled(path, "NEG-1")), shapeAt(path), path));
    await simulator.close();
  }
});

test("every list, figure and detail has the documented fields and types", () => {
  expect([...new Set(untouched)]).toEqual([]);
});

test("so have they after updates, inserts and deletes", () => {
  expect([...new Set(changed)]).toEqual([]);
});

test("over all of it every nullable field is sometimes null, and every field comes in each of its types", () => {
  const missing: string[] = [];
  const visit = (shape: Shape, place: string): void => {
    if (shape.kind === "array") visit(shape.items, `${place}[]`);
    if (shape.kind !== "object") return;
    for (const field of shape.fields) {
      const at = `${place}.${field.name}`;
      const kinds = field.types.includes("any") ? [] : field.types.map(type => (type === "i" ? "n" : type));
      for (const kind of field.nullable ? [...kinds, "null"] : kinds)
        if (seen.get(at)?.has(kind) !== true) missing.push(`${at} is never ${kind}`);
      if (field.node !== undefined) visit(field.node, at);
    }
  };
  for (const path of [...Object.keys(PAGED), ...WHOLE, ...LOOKUPS, ...DETAILS.map(([template]) => template)]) {
    const shape = shapeAt(path);
    if (shape !== null) visit(shape, path);
  }
  expect(missing).toEqual([]);
});

test("told in the other vocabulary, every answer has the documented shape too", async () => {
  for (const seed of [1, 2]) {
    const simulator = await start(seed, {}, "other");
    expect([...new Set(await checkAll(simulator))]).toEqual([]);
    for (const stream of ["purchase_orders", "invoices", "items", "findings", ...SOURCES]) {
      simulator.update(stream, 20);
      simulator.insert(stream, 5);
      simulator.delete(stream, 3);
    }
    expect([...new Set(await checkAll(simulator))]).toEqual([]);
  }
});

test("pages of any size bring each row once", async () => {
  const simulator = await start(7);
  for (const [path, [field, key]] of Object.entries(PAGED)) {
    const whole = await pages(simulator, path, field, 100);
    expect(whole.length).toBeGreaterThan(5);
    expect(await pages(simulator, path, field, 7)).toEqual(whole);
    if (key !== undefined) expect(new Set(whole.map(row => String(row[key]))).size).toBe(whole.length);
  }
});

test("an unknown id answers 404, the same request twice the same", async () => {
  const simulator = await start(8);
  const known = DETAILS.map(([template, stream, column]) => filled(template, asked(simulator, stream, column)[0]));
  for (const path of [...Object.keys(PAGED), ...WHOLE, ...known, filled("/negotiations/{id}", "NEG-1")])
    expect((await read(simulator, path)).data).toEqual((await read(simulator, path)).data);
  for (const template of [...DETAILS.map(([path]) => path), ...LOOKUPS])
    for (const id of ["nothing", "RUN-0", "NEG-99999", "RE-1/x"])
      expect((await ask(simulator, filled(template, id))).status).toBe(404);
});

test("issues are narrowed by day and status; anomalies are flagged unless another status is asked for", async () => {
  const simulator = await start(9);
  const all = await pages(simulator, "/issues", "issues", 100);
  const day = String(all[30]?.["created_at"] ?? all[31]?.["created_at"]).slice(0, 10);
  const from = Date.parse(`${day}T00:00:00Z`);
  const at = (row: Json): number => (row["created_at"] === null ? Number.NaN : Date.parse(String(row["created_at"])));
  expect(await pages(simulator, `/issues?date_from=${day}`, "issues", 10)).toEqual(all.filter(row => at(row) >= from));
  expect(await pages(simulator, `/issues?date_to=${day}`, "issues", 10)).toEqual(
    all.filter(row => at(row) < from + 86_400_000),
  );
  expect(await pages(simulator, "/issues?status=resolved", "issues", 10)).toEqual(
    all.filter(row => row["status"] === "resolved"),
  );
  const flagged = await pages(simulator, "/anomalies", "anomalies", 100);
  const dismissed = await pages(simulator, "/anomalies?status=dismissed", "anomalies", 100);
  expect(new Set(flagged.map(row => row["status"]))).toEqual(new Set(["flagged"]));
  expect(dismissed.length).toBeGreaterThan(0);
  expect(flagged.length + dismissed.length).toBe(simulator.truth.count("anomalies"));
});

test("runs of the agent come in one answer of as many as asked for, a hundred at most", async () => {
  const simulator = await start(10, { findings: 400 });
  const runs = async (query: string): Promise<unknown[]> =>
    (await read(simulator, `/procurement-intel/runs${query}`)).data["runs"] as unknown[];
  expect((await runs("")).length).toBe(25);
  expect((await runs("?limit=100")).length).toBe(100);
  expect((await ask(simulator, "/procurement-intel/runs?limit=101")).status).toBe(422);
});

test("details agree with what they hang on", async () => {
  const simulator = await start(11);
  for (const row of simulator.truth.rows("findings")) {
    if (row["finding_id"] === null) continue;
    const lineage = simulator.truth.get(`/lineage/finding/${row["finding_id"]}`) as Json;
    expect([lineage["finding_id"], lineage["status"], lineage["po_number"], lineage["doc_id"]]).toEqual([
      row["finding_id"],
      row["status"],
      row["po_number"],
      row["doc_id"],
    ]);
  }
  for (const row of simulator.truth.rows("purchase_orders")) {
    const key = encodeURIComponent(String(row["po_number"]));
    const promise = simulator.truth.get(`/lineage/promise/${key}`) as { active: Json | null; history: Json[] };
    const last = promise.history.at(-1);
    expect(promise.active?.["value"]).toBe(last?.["value"]);
    if (last !== undefined && row["delivery_vendor_promise_date"] !== null)
      expect(last["value"]).toBe(String(row["delivery_vendor_promise_date"]).slice(0, 10));
  }
  const orders = new Set(Array.from(simulator.truth.rows("purchase_orders"), row => row["po_number"]));
  const documents = new Set(Array.from(simulator.truth.rows("invoices"), row => row["doc_id"]));
  for (const { po_number } of simulator.truth.rows("open_items")) expect(orders).toContain(po_number);
  for (const { doc_id } of simulator.truth.rows("issues")) if (doc_id !== null) expect(documents).toContain(doc_id);
  for (const { item_id } of simulator.truth.rows("items")) {
    const bought = simulator.truth.get(`/items/${item_id}/transactions`) as { po_invoice_rollup: Json[] };
    const numbers = bought.po_invoice_rollup.map(row => row["po_number"]);
    expect(new Set(numbers).size).toBe(numbers.length);
    for (const number of numbers) expect(orders).toContain(number);
  }
});

test("a change of a row shows in it", async () => {
  const simulator = await start(12);
  for (const stream of SOURCES) {
    const before = new Set(Array.from(simulator.truth.rows(stream), row => JSON.stringify(row)));
    simulator.update(stream, 5);
    const after = Array.from(simulator.truth.rows(stream), row => JSON.stringify(row));
    expect([stream, after.filter(row => !before.has(row)).length]).toEqual([stream, 5]);
  }
});

test("a company without rows has none here either", async () => {
  const simulator = await start(13, { orders: 0, invoices: 0, items: 0, findings: 0, ingested: 0 });
  expect(await checkAll(simulator)).toEqual([]);
  for (const [path, [field]] of Object.entries(PAGED)) expect(await pages(simulator, path, field, 100)).toEqual([]);
});

test("an order as of a time needs the time, and knows nothing before its day", async () => {
  const simulator = await start(14);
  expect((await ask(simulator, "/po/PO-1/as-of")).status).toBe(422);
  const { data } = await read(simulator, "/po/PO-1/as-of?at=2001-01-01T00:00:00Z");
  expect(data).toMatchObject({ no_data_as_of: true, lines: [], changes: [], as_of: "2001-01-01T00:00:00.000Z" });
});
