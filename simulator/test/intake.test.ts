import { afterAll, beforeAll, expect, test } from "vitest";
import { type Simulator, startSimulator } from "../simulator.ts";
import { ask, type Json, read, stillClock } from "./reading.ts";
import { checkShape, facts, type Shape, seen, shapeAt } from "./shape.ts";

const AREA =
  /^\/(communications|documents|search|import-review|entities|identity|measures|filter-facets|as-of|lineage\/(fact|vendor-credential|aggregation))(\/|$)/;
const area = facts.filter(({ path }) => AREA.test(path));
const VENDORS = ["VND-0001", "VND-0002", "VND-0003", "VND-0004", "VND-0005"];
const AT = "2026-01-31T00:00:00Z";

const simulators: Simulator[] = [];
const asked = new Set<string>();
const wrong: string[] = [];
let first: Simulator;

/** What a path answers over HTTP, held against the template's documented shape. */
async function check(simulator: Simulator, template: string, path: string): Promise<Json> {
  asked.add(template);
  const { data } = await read(simulator, path);
  wrong.push(...checkShape(data, shapeAt(template), template));
  return data;
}

const fill = (template: string, values: Json) =>
  template.replace(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])));

/** The details of a list's rows: one in seven over HTTP, the others without its costs. */
async function checkDetails(simulator: Simulator, templates: readonly string[], ids: readonly Json[]): Promise<void> {
  for (const [i, values] of ids.entries())
    for (const template of templates) {
      const path = fill(template, values);
      if (i % 7 === 0) await check(simulator, template, path);
      else wrong.push(...checkShape(simulator.truth.get(path), shapeAt(template), template));
    }
}

async function listed(simulator: Simulator, template: string, field: string, query = "", path = template) {
  const rows: Json[] = [];
  for (let cursor = ""; ; ) {
    const { data, pagination } = await read(simulator, `${path}?limit=100${query}${cursor}`);
    asked.add(template);
    wrong.push(...checkShape(data, shapeAt(template), template));
    rows.push(...(data[field] as Json[]));
    const next = pagination?.next_cursor ?? null;
    if (next === null) return rows;
    cursor = `&cursor=${next}`;
  }
}

async function checkAll(simulator: Simulator): Promise<void> {
  const mails = await listed(simulator, "/communications", "communications", "&include_filed=true");
  expect(mails).toEqual([...simulator.truth.rows("communications")]);
  const below = ["", "/actions", "/facts", "/link-suggestions", "/thread", "/threads"];
  await checkDetails(
    simulator,
    below.map(path => `/communications/{id}${path}`),
    mails,
  );
  const known = mails.flatMap(mail => (simulator.truth.get(fill("/communications/{id}/facts", mail)) as Json)["facts"]);
  await checkDetails(
    simulator,
    ["/lineage/fact/{id}"],
    (known as Json[]).map(fact => ({ id: fact["fact_id"] })),
  );
  const documents = await listed(simulator, "/documents", "documents");
  expect(documents).toEqual([...simulator.truth.rows("documents")]);
  await checkDetails(simulator, ["/documents/{doc_id}", "/documents/{doc_id}/threads"], documents);
  await checkDetails(simulator, ["/documents/{doc_id}/workbook"], documents);
  const census = await check(simulator, "/import-review/census", "/import-review/census");
  const parked: Json[] = [];
  for (const sink of Object.keys(census["by_sink"] as Json))
    parked.push(
      ...(await listed(simulator, "/import-review/parked/{sink}", "items", "", `/import-review/parked/${sink}`)),
    );
  expect(parked.length).toBe(simulator.truth.count("parked_imports"));
  for (const path of ["/communications/stats", "/import-review/parked", "/lineage/aggregation"])
    await check(simulator, path, path);
  await checkLookups(simulator);
}

async function checkLookups(simulator: Simulator): Promise<void> {
  const things = [
    ...VENDORS.map(id => ({ type: "vendor", id })),
    ...[...simulator.truth.rows("purchase_orders")].map(row => ({ type: "purchase_order", id: row["po_number"] })),
    ...[...simulator.truth.rows("invoices")].map(row => ({ type: "invoice", id: row["doc_id"] })),
    ...[...simulator.truth.rows("items")].map(row => ({ type: "item", id: row["item_id"] })),
  ];
  const below = ["", "/graph", "/timeline"].map(path => `/entities/{type}/{id}${path}`);
  await checkDetails(
    simulator,
    [...below, "/identity/{type}/{id}"],
    things.filter((_, i) => i < 5 || i % 4 === 0),
  );
  for (const { type, id } of things.slice(0, 60)) {
    const path = `/as-of/${type}/${encodeURIComponent(String(id))}?at=${AT}`;
    await check(simulator, "/as-of/{entity_type}/{entity_id}", path);
  }
  for (const id of VENDORS) {
    await check(simulator, "/as-of/vendor/{vendor_id}/orders", `/as-of/vendor/${id}/orders?at=${AT}`);
    for (const label of ["w9", "insurance", "iso_9001"])
      await check(
        simulator,
        "/lineage/vendor-credential/{vendor_id}/{label}",
        `/lineage/vendor-credential/${id}/${label}`,
      );
  }
  for (const id of ["otif", "match_rate", "spend_under_contract"])
    await check(simulator, "/measures/{id}", `/measures/${id}`);
  await check(simulator, "/filter-facets/{table}", "/filter-facets/purchase_orders");
  await check(simulator, "/search", "/search?q=gmbh");
}

beforeAll(async () => {
  for (const seed of [1, 2, 4]) {
    const simulator = await startSimulator({ seed, now: stillClock().now });
    simulators.push(simulator);
    await checkAll(simulator);
    for (const stream of ["communications", "documents", "parked_imports"]) {
      simulator.update(stream, 10);
      simulator.insert(stream, 5);
      simulator.delete(stream, 5);
    }
    await checkAll(simulator);
  }
  first = simulators[0]!;
  // What is null or a text for a company as a whole shows in many companies only.
  for (let seed = 5; seed < 40; seed += 1) {
    const sizes = { orders: 4, invoices: 4, items: 4, findings: 4, ingested: seed % 6 === 0 ? 0 : 30 };
    const simulator = await startSimulator({ seed, sizes, now: stillClock().now });
    simulators.push(simulator);
    for (const path of ["/communications", "/import-review/census", "/lineage/aggregation", "/measures/otif"])
      await check(simulator, path.replace("/otif", "/{id}"), path);
    for (const id of VENDORS)
      await check(
        simulator,
        "/lineage/vendor-credential/{vendor_id}/{label}",
        `/lineage/vendor-credential/${id}/iso_9001`,
      );
  }
});

afterAll(async () => {
  for (const simulator of simulators) await simulator.close();
});

test("every endpoint answers as documented", () => {
  expect([...asked].sort()).toEqual(area.map(({ path }) => path).sort());
  expect([...new Set(wrong)]).toEqual([]);
});

test("every nullable field is sometimes null, and every loose number comes as number and as string", () => {
  const missing: string[] = [];
  const visit = (shape: Shape, place: string): void => {
    if (shape.kind === "array") visit(shape.items, `${place}[]`);
    if (shape.kind !== "object") return;
    for (const { name, types, nullable, node } of shape.fields) {
      const at = `${place}.${name}`;
      const wanted = [...(nullable ? ["null"] : []), ...types.filter(type => type !== "any")];
      for (const kind of wanted)
        if (seen.get(at)?.has(kind === "i" ? "n" : kind) !== true) missing.push(`${at} is never ${kind}`);
      if (node !== undefined) visit(node, at);
    }
  };
  for (const { path, shape } of area) if (shape !== null) visit(shape, path);
  expect(missing).toEqual([]);
});

test("told in the other vocabulary, every answer has the documented shape too", async () => {
  wrong.length = 0;
  const simulator = await startSimulator({ seed: 3, vocabulary: "other", now: stillClock().now });
  simulators.push(simulator);
  await checkAll(simulator);
  expect([...new Set(wrong)]).toEqual([]);
});

test("keys are unique within their list", () => {
  for (const [stream, key] of [
    ["communications", "id"],
    ["documents", "doc_id"],
    ["parked_imports", "item_id"],
  ] as const) {
    const keys = [...first.truth.rows(stream)].map(row => row[key]);
    expect(new Set(keys).size).toBe(keys.length);
  }
});

test("messages and documents are rows of the intake feed", () => {
  const feed = new Set([...first.truth.rows("ingested")].map(row => row["id"]));
  const untouched = [...first.truth.rows("documents")].map(row => row["doc_id"]).filter(id => feed.has(id));
  expect(untouched.length).toBeGreaterThan(100);
  const mails = [...first.truth.rows("communications")].map(row => row["email_ingest_id"]).filter(id => feed.has(id));
  expect(mails.length).toBeGreaterThan(100);
});

test("the message list is narrowed by dates and leaves filed mail out unless asked", async () => {
  const all = await listed(first, "/communications", "communications", "&include_filed=true");
  const unfiled = await listed(first, "/communications", "communications");
  expect(unfiled.length).toBeLessThan(all.length);
  const days = all.map(row => row["received_at"]).filter(at => typeof at === "string");
  const day = new Date(days[Math.floor(days.length / 2)]!).toISOString().slice(0, 10);
  const of = (query: string) => listed(first, "/communications", "communications", `&include_filed=true${query}`);
  const since = await of(`&date_from=${day}`);
  const until = await of(`&date_to=${day}`);
  const on = await of(`&date_from=${day}&date_to=${day}`);
  expect(on.length).toBeGreaterThan(0);
  expect(since.length + until.length - on.length).toBe(days.length);
  expect((await ask(first, "/communications?date_from=soon")).status).toBe(422);
});

test("a change of a message changes its row and what hangs on it", () => {
  const [id = ""] = first.update("communications", 1);
  const at = (below: string) => JSON.stringify(first.truth.get(`/communications/${id}${below}`));
  const before = ["", "/actions", "/thread"].map(at);
  const row = () => JSON.stringify([...first.truth.rows("communications")].find(candidate => candidate["id"] === id));
  const listedBefore = row();
  first.update("communications", [id]);
  expect(row()).not.toBe(listedBefore);
  for (const [i, below] of ["", "/actions", "/thread"].entries()) expect(at(below)).not.toBe(before[i]);
});

test.each([
  "/communications/COM-999999",
  "/communications/nothing/facts",
  "/lineage/fact/FCT-1-99",
  "/documents/DOC-F999999",
  "/documents/EML-2/threads",
  "/import-review/parked/nowhere",
  "/entities/vendor/VND-9999",
  "/entities/planet/earth/graph",
  "/identity/item/none",
  `/as-of/vendor/VND-9999/orders?at=${AT}`,
  `/as-of/purchase_order/none?at=${AT}`,
  "/measures/nothing",
  "/filter-facets/nothing",
  "/lineage/vendor-credential/VND-0001/nothing",
])("%s is not found", async path => {
  expect((await ask(first, path)).status).toBe(404);
});

test("a moment is wanted where a past state is asked for", async () => {
  expect((await ask(first, "/as-of/vendor/VND-0001/orders")).status).toBe(422);
  expect((await ask(first, "/as-of/vendor/VND-0001?at=yesterday")).status).toBe(422);
});

test("deleted messages and documents take their details along", async () => {
  const [mail] = first.delete("communications", 1);
  const [document] = first.delete("documents", 1);
  expect((await ask(first, `/communications/${mail}/facts`)).status).toBe(404);
  expect((await ask(first, `/documents/${document}/workbook`)).status).toBe(404);
});
