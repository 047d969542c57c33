import { afterAll, beforeAll, expect, test } from "vitest";
import { type Simulator, startSimulator, type VocabularyName } from "../simulator.ts";
import { LISTS, read, readAll, rowsOf, STREAMS, stillClock } from "./reading.ts";
import { checkShape as check, facts as everyFact, type Shape, seen, shapeAt as shapeOf } from "./shape.ts";

// The other domains have tests of their own.
const CORE = [
  "/auth/company-settings",
  "/po",
  "/po/{po_number}",
  "/po/stats",
  "/reconciliation",
  "/reconciliation/{doc_id}/line-items",
  "/items",
  "/items/stats",
  "/findings",
  "/ingested",
];
const facts = everyFact.filter(({ path }) => CORE.includes(path));
const simulators: Simulator[] = [];
afterAll(async () => {
  for (const simulator of simulators) await simulator.close();
});

async function start(seed: number, vocabulary?: VocabularyName): Promise<Simulator> {
  const simulator = await startSimulator({ seed, vocabulary, now: stillClock().now });
  simulators.push(simulator);
  return simulator;
}

async function checkAll(simulator: Simulator): Promise<string[]> {
  const wrong: string[] = [];
  for (const stream of STREAMS) {
    const path = LISTS[stream].split("?")[0] ?? "";
    const page = await read(simulator, `${LISTS[stream]}${LISTS[stream].includes("?") ? "&" : "?"}limit=1`);
    const rows = await readAll(simulator, LISTS[stream], 100);
    const data = { ...page.data };
    const field = Object.entries(data).find(([, value]) => value === rowsOf(path, page))?.[0] ?? "";
    wrong.push(...check({ ...data, [field]: rows }, shapeOf(path), path));
  }
  for (const path of ["/po/stats", "/items/stats", "/auth/company-settings"]) {
    wrong.push(...check((await read(simulator, path)).data, shapeOf(path), path));
  }
  for (const scope of ["category=contracts", "po_number=PO-1", "vendor_id=VND-0001", "doc_id=DOC-1"]) {
    wrong.push(...check((await read(simulator, `/findings?${scope}`)).data, shapeOf("/findings"), "/findings"));
  }
  for (const row of simulator.truth.rows("purchase_orders")) {
    const { data } = await read(simulator, `/po/${encodeURIComponent(String(row["po_number"]))}`);
    wrong.push(...check(data, shapeOf("/po/{po_number}"), "/po/{po_number}"));
  }
  for (const row of simulator.truth.rows("invoices")) {
    const { data } = await read(simulator, `/reconciliation/${row["doc_id"]}/line-items`);
    wrong.push(...check(data, shapeOf("/reconciliation/{doc_id}/line-items"), "/reconciliation/{doc_id}/line-items"));
  }
  return wrong;
}

const untouched: string[] = [];
const changed: string[] = [];
const manyCompanies: string[] = [];

beforeAll(async () => {
  for (const seed of [1, 2, 3]) {
    const simulator = await start(seed);
    untouched.push(...(await checkAll(simulator)));
    for (const stream of STREAMS) {
      simulator.update(stream, 40);
      simulator.insert(stream, 20);
      simulator.delete(stream, 10);
    }
    changed.push(...(await checkAll(simulator)));
  }
  for (let seed = 4; seed < 64; seed += 1) {
    const simulator = await startSimulator({
      seed,
      sizes: { orders: 12, invoices: 4, items: 4, findings: 12, ingested: 4 },
    });
    for (const { path } of facts.filter(fact => !fact.path.includes("{"))) {
      manyCompanies.push(...check((await read(simulator, path)).data, shapeOf(path), path));
    }
    await simulator.close();
  }
});

test("every row and every detail has the documented fields and types", () => {
  expect(untouched).toEqual([]);
});

test("so have they after updates, inserts and deletes", () => {
  expect(changed).toEqual([]);
});

test("list-level objects and the settings have the documented shape for sixty companies", () => {
  expect(manyCompanies).toEqual([]);
});

test("over all of it every nullable field is sometimes null, and every loose number comes as number and as string", () => {
  const missing: string[] = [];
  const need = (place: string, kinds: readonly string[]): void => {
    for (const kind of kinds) if (seen.get(place)?.has(kind) !== true) missing.push(`${place} is never ${kind}`);
  };
  const visit = (shape: Shape, place: string): void => {
    if (shape.kind === "array") visit(shape.items, `${place}[]`);
    if (shape.kind !== "object") return;
    for (const field of shape.fields) {
      const at = `${place}.${field.name}`;
      if (field.nullable) need(at, ["null"]);
      // No documented parameter sets this scope.
      if (at === "/findings.resolved_scope.contract_id") continue;
      if (!field.types.includes("any"))
        need(
          at,
          field.types.map(type => (type === "i" ? "n" : type)),
        );
      if (field.node !== undefined) visit(field.node, at);
    }
  };
  for (const { path, shape } of facts) if (shape !== null) visit(shape, path);
  expect(missing).toEqual([]);
});

test("told in the other vocabulary, every answer has the documented shape too", async () => {
  for (const seed of [1, 2, 3]) {
    const simulator = await start(seed, "other");
    expect(await checkAll(simulator)).toEqual([]);
    for (const stream of STREAMS) {
      simulator.update(stream, 40);
      simulator.insert(stream, 20);
      simulator.delete(stream, 10);
    }
    expect(await checkAll(simulator)).toEqual([]);
  }
});

test("lists take the documented query parameters and answer with a pagination block", async () => {
  const simulator = await start(9);
  for (const { path, paged, query } of facts.filter(fact => fact.paged)) {
    expect(paged && query.includes("cursor") && query.includes("limit")).toBe(true);
    const { pagination } = await read(simulator, path);
    expect(Object.keys(pagination ?? {})).toEqual(["next_cursor", "has_more", "limit"]);
  }
});
