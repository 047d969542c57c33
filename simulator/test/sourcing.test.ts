import { afterAll, beforeAll, expect, test } from "vitest";
import { type Simulator, startSimulator, type VocabularyName } from "../simulator.ts";
import { ask, type Json, read, stillClock } from "./reading.ts";
import { checkShape, facts, type Shape, seen, shapeAt } from "./shape.ts";

interface List {
  readonly stream: string;
  readonly path: string;
  readonly rows: string;
  readonly key: string;
  readonly paged: boolean;
  readonly detail: string | undefined;
}

const paged = (path: string, rows: string, key: string): List => ({
  stream: path.slice(1).replace("-", "_"),
  path,
  rows,
  key,
  paged: true,
  detail: path === "/contracts" ? undefined : `${path}/{id}`,
});
const complete = (stream: string, path: string, rows: string, key = "id"): List => ({
  stream,
  path,
  rows,
  key,
  paged: false,
  detail: undefined,
});

const LISTS: readonly List[] = [
  paged("/contracts", "contracts", "contract_id"),
  paged("/budgets", "budgets", "id"),
  paged("/rate-cards", "rate_cards", "rate_card_id"),
  paged("/freight-claims", "items", "id"),
  paged("/requisitions", "requisitions", "id"),
  paged("/rfqs", "data", "id"),
  complete("delivery_sites", "/po/delivery-sites/list", "sites", "site_id"),
  complete("dock_appointments", "/dock-appointments", "appointments"),
  complete("dock_doors", "/dock-doors", "doors"),
  complete("diesel_prices", "/doe-diesel-prices", "rows"),
  complete("accessorial_authorizations", "/accessorial-authorizations", "authorizations"),
];

const OBJECTS = ["/rate-cards/stats", "/freight-claims/stats", "/requisitions/stats", "/dock-appointments/stats"];
const CARRIER = "/carriers/{vendorId}/profile";
const PRICING = "/requisitions/contract-pricing";
const PATHS = [
  ...LISTS.flatMap(({ path, detail }) => (detail === undefined ? [path] : [path, detail])),
  ...OBJECTS,
  CARRIER,
  PRICING,
];

const simulators: Simulator[] = [];
afterAll(() => Promise.all(simulators.map(simulator => simulator.close())));

async function start(seed: number, orders = 200, vocabulary?: VocabularyName): Promise<Simulator> {
  const simulator = await startSimulator({ seed, sizes: { orders }, vocabulary, now: stillClock().now });
  simulators.push(simulator);
  return simulator;
}

async function rowsOf(simulator: Simulator, { path, rows, paged }: List, limit = 100): Promise<Json[]> {
  const all: Json[] = [];
  let cursor = "";
  for (;;) {
    const { data, pagination } = await read(simulator, paged ? `${path}?limit=${limit}${cursor}` : path);
    all.push(...(data[rows] as Json[]));
    const next = pagination?.next_cursor ?? null;
    if (next === null) return all;
    cursor = `&cursor=${next}`;
  }
}

const filled = (template: string, id: unknown): string => template.replace(/\{[^}]+\}/, encodeURIComponent(String(id)));

async function checkAll(simulator: Simulator): Promise<string[]> {
  const wrong: string[] = [];
  const look = async (path: string, template = path.replace(/\?.*$/, "")): Promise<void> => {
    wrong.push(...checkShape((await read(simulator, path)).data, shapeAt(template), template));
  };
  for (const list of LISTS) {
    await look(list.paged ? `${list.path}?limit=100` : list.path);
    for (const row of await rowsOf(simulator, list))
      if (list.detail !== undefined) await look(filled(list.detail, row[list.key]), list.detail);
  }
  for (const path of [...OBJECTS, "/rfqs?limit=2"]) await look(path);
  for (let vendor = 1; vendor <= 12; vendor += 1)
    await look(filled(CARRIER, `VND-${String(vendor).padStart(4, "0")}`), CARRIER);
  for (let asked = 0; asked < 40; asked += 1) await look(`${PRICING}?item_id=ITM-${asked}&quantity=10`);
  return wrong;
}

const untouched: string[] = [];
const changed: string[] = [];
let service: Simulator;

beforeAll(async () => {
  for (const seed of [1, 2, 3, 4]) {
    const simulator = await start(seed, 600);
    untouched.push(...(await checkAll(simulator)));
    for (const { stream } of LISTS) {
      simulator.update(stream, 3);
      simulator.insert(stream, 2);
      simulator.delete(stream, 1);
    }
    changed.push(...(await checkAll(simulator)));
  }
  service = await start(7);
});

test("every answer has the documented fields and types, after changes too", () => {
  expect(untouched).toEqual([]);
  expect(changed).toEqual([]);
});

test("companies of every kind have answers of the documented shape, and one without orders has none of the rows", async () => {
  const wrong: string[] = [];
  for (let seed = 10; seed < 22; seed += 1) wrong.push(...(await checkAll(await start(seed, 4))));
  const empty = await start(5, 0);
  wrong.push(...(await checkAll(empty)));
  for (const list of LISTS) expect(await rowsOf(empty, list)).toEqual([]);
  expect(wrong).toEqual([]);
});

test("every nullable field is sometimes null, and every loose number comes as number and as string", () => {
  const missing: string[] = [];
  const visit = (shape: Shape, place: string): void => {
    if (shape.kind === "array") visit(shape.items, `${place}[]`);
    if (shape.kind !== "object") return;
    for (const { name, types, nullable, node } of shape.fields) {
      const at = `${place}.${name}`;
      const kinds = types.includes("any") ? [] : types.map(type => (type === "i" ? "n" : type));
      for (const kind of nullable ? [...kinds, "null"] : kinds)
        if (seen.get(at)?.has(kind) !== true) missing.push(`${at} is never ${kind}`);
      if (node !== undefined) visit(node, at);
    }
  };
  for (const { path, shape } of facts) if (shape !== null && PATHS.includes(path)) visit(shape, path);
  expect(missing).toEqual([]);
});

test("told in the other vocabulary, every answer has the documented shape too", async () => {
  for (const seed of [1, 2]) expect(await checkAll(await start(seed, 200, "other"))).toEqual([]);
});

test.each(LISTS)("$stream: unique keys, the same whatever the page size, and equal to the truth", async list => {
  const rows = await rowsOf(service, list);
  const keys = rows.map(row => String(row[list.key]));
  expect(rows.length).toBeGreaterThan(2);
  expect(new Set(keys).size).toBe(keys.length);
  expect(rows).toEqual([...service.truth.rows(list.stream)]);
  expect(await rowsOf(service, list, 3)).toEqual(rows);
});

test.each(LISTS.filter(({ detail }) => detail !== undefined))(
  "$stream: a detail repeats its row, and an id that is none answers 404",
  async list => {
    const template = String(list.detail);
    for (const row of await rowsOf(service, list)) {
      const { filtered_total: _, ...expected } = row;
      expect((await read(service, filled(template, row[list.key]))).data).toMatchObject(expected);
    }
    for (const id of ["nobody", "0", "99999999"]) expect((await ask(service, filled(template, id))).status).toBe(404);
  },
);

test("a carrier that is no vendor of the company answers 404", async () => {
  expect((await ask(service, filled(CARRIER, "VND-9999"))).status).toBe(404);
});

test.each(LISTS)(
  "$stream: an update shows in the row and in its detail, an insert comes and a deletion goes",
  async list => {
    const simulator = await start(8);
    const before = await rowsOf(simulator, list);
    const [updated] = simulator.update(list.stream, 1);
    const [gone] = simulator.delete(
      list.stream,
      before
        .map(row => String(row[list.key]))
        .filter(key => key !== updated)
        .slice(0, 1),
    );
    const [added] = simulator.insert(list.stream, 1);
    const after = new Map((await rowsOf(simulator, list)).map(row => [String(row[list.key]), row]));
    const old = before.find(row => String(row[list.key]) === updated);
    const { filtered_total: was, ...oldRow } = old ?? {};
    const { filtered_total: is, ...newRow } = after.get(String(updated)) ?? {};
    expect(is).toEqual(was);
    expect(newRow).not.toEqual(oldRow);
    expect([...after.keys()]).toContain(added);
    expect([...after.keys()]).not.toContain(gone);
    if (list.detail !== undefined) {
      expect((await ask(simulator, filled(list.detail, gone))).status).toBe(404);
      expect((await ask(simulator, filled(list.detail, added))).status).toBe(200);
    }
  },
);

test("the counts of rows stand in the stats, and the RFQ list answers its rows twice", async () => {
  expect((await read(service, "/rate-cards/stats")).data["total"]).toBe(service.truth.count("rate_cards"));
  const claims = (await read(service, "/freight-claims/stats")).data;
  expect(claims["total_claims"]).toBe(service.truth.count("freight_claims"));
  const counts = (claims["by_status"] as { count: number }[]).map(({ count }) => count);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(claims["total_claims"]);
  const { data, pagination } = await read(service, "/rfqs?limit=2");
  expect(data["rfqs"]).toEqual(data["data"]);
  expect([data["next_cursor"], data["has_more"]]).toEqual([pagination?.next_cursor, true]);
});

test("what rows name exists: orders, vendors, sites, requisitions and contracts", async () => {
  const known = (stream: string, key: string) => new Set([...service.truth.rows(stream)].map(row => row[key]));
  const orders = known("purchase_orders", "po_number");
  const contracts = known("contracts", "contract_id");
  const sites = known("delivery_sites", "site_id");
  const requisitions = known("requisitions", "id");
  const lost: unknown[] = [];
  const need = (value: unknown, set: ReadonlySet<unknown>) => value === null || set.has(value) || lost.push(value);
  for (const row of service.truth.rows("requisitions")) {
    need(row["generated_po_number"], orders);
    need(row["delivery_site_id"], sites);
  }
  for (const row of service.truth.rows("rfqs")) {
    need(row["awarded_po_number"], orders);
    need(row["awarded_pr_id"], requisitions);
    need(row["awarded_contract_id"], contracts);
  }
  for (const row of service.truth.rows("rate_cards")) {
    need(row["contract_id"], contracts);
    const carrier = row["carrier_vendor_id"];
    if (carrier !== null) expect((await ask(service, filled(CARRIER, carrier))).status).toBe(200);
  }
  for (const row of service.truth.rows("dock_appointments")) need(row["po_numbers"], orders);
  expect(lost).toEqual([]);
});

test("filters narrow the lists", async () => {
  const of = async (path: string, field: string) => (await read(service, path)).data[field] as Json[];
  const open = await of("/freight-claims?status=open,denied&limit=100", "items");
  expect(new Set(open.map(row => row["status"]))).toEqual(new Set(["open", "denied"]));
  const contract = [...service.truth.rows("contracts")].find(row => row["status"] !== null)!;
  const alike = await of(`/contracts?status=${contract["status"]}&limit=100`, "contracts");
  expect(new Set(alike.map(row => row["status"]))).toEqual(new Set([contract["status"]]));
  const active = await of("/budgets?active=1&limit=100", "budgets");
  expect(active.length).toBeGreaterThan(0);
  expect(active.every(row => row["period_end"] === null || String(row["period_end"]) >= "2026-03-15")).toBe(true);
});
