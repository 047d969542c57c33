import { afterAll, beforeAll, expect, test } from "vitest";
import { ANYWHERE, type Stream } from "../../src/catalog/stream.ts";
import { valueAt } from "../../src/rows/encode_value.ts";
import { isoUtc, readDate, readMoment } from "../../src/rows/moment.ts";
import { streams } from "../../streams/index.ts";
import { endpoints } from "../documented.ts";
import { type Simulator, type SimulatorOptions, startSimulator, VOCABULARIES } from "../simulator.ts";
import { type Json, stillClock } from "./reading.ts";
import { checkShape, unseen } from "./shape.ts";

const simulators: Simulator[] = [];
afterAll(() => Promise.all(simulators.map(simulator => simulator.close())));

async function start(options: SimulatorOptions = {}): Promise<Simulator> {
  const sizes = { orders: 60, invoices: 80, items: 30, findings: 60, ingested: 400 };
  const simulator = await startSimulator({ sizes, now: stillClock().now, ...options });
  simulators.push(simulator);
  return simulator;
}

/** The lists whose rows a parameter or a path names, and values of parameters that name none. */
const NAMED: Readonly<Record<string, string>> = {
  ...{ po_number: "purchase_orders", doc_id: "invoices", item_id: "items", finding_id: "findings" },
  ...{ "/documents": "documents", "/lineage/finding": "findings" },
};
const VALUES = ["VND-0001", "VND-0002", ...Array.from({ length: 12 }, (_, i) => `standard_${i}`)];
const ASKED: Readonly<Record<string, readonly string[]>> = {
  "/findings": ["limit=100", "category=contracts", "po_number=PO-1", "vendor_id=VND-0001", "doc_id=DOC-1"],
  "/ingested": ["limit=100&include_filed=true"],
  "/rfqs": ["limit=100", "limit=1"],
};

/** Paths of an endpoint: one for each row that its parameter names, or for some values. */
function pathsOf(simulator: Simulator, template: string): string[] {
  const [base = "", parameter = ""] = template.split(/\/?[{}]/);
  if (parameter === "") return (ASKED[template] ?? ["limit=100"]).map(query => `${template}?${query}`);
  const stream = simulator.streams.includes(base) ? base : (NAMED[base] ?? NAMED[parameter]);
  const rows = stream === undefined ? [] : [...simulator.truth.rows(stream)];
  const name = stream === "findings" ? "finding_id" : parameter;
  const keys = rows.filter(row => row[name] !== null).map(row => row[name] ?? row["id"] ?? Object.values(row)[0]);
  return (keys.length === 0 ? VALUES : keys).map(key =>
    template.replaceAll(/\{[^}]+\}/g, encodeURIComponent(String(key))),
  );
}

/** Every answer of a service: its endpoint, its path and its data. */
const answersOf = (simulator: Simulator, among = endpoints) =>
  among.flatMap(endpoint =>
    pathsOf(simulator, endpoint.path).map(path => ({ endpoint, path, data: simulator.truth.get(path) })),
  );

function checkAll(simulator: Simulator, among = endpoints): string[] {
  return answersOf(simulator, among).flatMap(({ endpoint, path, data }) =>
    data === undefined ? [`${path} answers 404`] : checkShape(data, endpoint.shape, endpoint.path),
  );
}

function change(simulator: Simulator): void {
  for (const stream of simulator.streams) {
    simulator.update(stream, 3);
    simulator.insert(stream, 2);
    if (simulator.truth.count(stream) > 4) simulator.delete(stream, 1);
  }
}

const wrong: string[] = [];

beforeAll(async () => {
  for (let seed = 1; seed < 6; seed += 1) {
    const simulator = await start({ seed });
    wrong.push(...checkAll(simulator));
    if (seed > 2) continue;
    change(simulator);
    wrong.push(...checkAll(simulator));
  }
  const without = endpoints.filter(({ path }) => !path.includes("{"));
  for (let seed = 10; seed < 70; seed += 1) {
    const sizes = { orders: 4, invoices: 4, items: 4, findings: 12, ingested: 4 };
    wrong.push(...checkAll(await start({ seed, sizes }), without));
  }
  const nothing = { orders: 0, invoices: 0, items: 0, findings: 0, ingested: 0 };
  wrong.push(...checkAll(await start({ sizes: nothing }), without));
});

test("every documented endpoint answers in its documented shape, after changes too", () => {
  expect(wrong).toEqual([]);
});

test("over all of it every nullable field is sometimes null, and every loose number comes as number and as string", () => {
  // No documented parameter sets this scope; the others repeat a row that always has them.
  const never = [
    "/findings.resolved_scope.contract_id is never s",
    "/erp/import/runs/{id}/rows.target_table is never null",
  ];
  const ofDocument = ["source", "doc_type"].map(name => `/documents/{doc_id}/workbook.workbook.${name} is never null`);
  expect(unseen().filter(place => ![...never, ...ofDocument].includes(place))).toEqual([]);
});

test("in the other vocabulary, every answer has the documented shape too", async () => {
  const simulator = await start({ vocabulary: "other" });
  expect(checkAll(simulator)).toEqual([]);
  change(simulator);
  expect(checkAll(simulator)).toEqual([]);
});

/** The rows that a stream takes from an answer. */
function rowsIn({ name, mode }: Stream, data: unknown): readonly unknown[] {
  if (mode.kind === "snapshot" || mode.rows === undefined || (mode.kind === "scan" && mode.lookup?.single === true))
    return [data];
  const paths =
    typeof mode.rows === "string" ? [mode.rows === ANYWHERE ? name : mode.rows] : Object.values(mode.rows.of);
  const scalar = mode.scalar;
  return paths.flatMap(path => {
    const rows = path === "" ? data : valueAt(path.split("."), data as Json);
    if (scalar === undefined) return rows as unknown[];
    return (rows as unknown[]).filter(row => typeof row !== "object").map(row => ({ [scalar]: row }));
  });
}

test.each(VOCABULARIES)("every answer fits the schema of each stream that reads it (%s)", async vocabulary => {
  const answers = Map.groupBy(answersOf(await start({ vocabulary })), ({ endpoint }) => endpoint.path);
  const misfits = streams.flatMap(stream => {
    const times = stream.tables.main.columns.filter(({ kind, source }) => source === "row" && /date|moment/.test(kind));
    const isTime = (value: unknown): boolean =>
      typeof value !== "string" || readDate(value, isoUtc) !== undefined || readMoment(value, isoUtc) !== undefined;
    const rows = (answers.get(stream.path) ?? []).flatMap(({ data }) => rowsIn(stream, data)) as Json[];
    const issues = rows.flatMap(row => stream.row.safeParse({ data: row, ...row }).error?.issues ?? []);
    const late = times.filter(({ path }) => !rows.every(row => isTime(valueAt(path, row))));
    return [
      ...issues.map(({ path, message }) => `${stream.name}.${path.join(".")}: ${message}`),
      ...late.map(({ name }) => `${stream.name}.${name} is no time`),
    ];
  });
  expect(misfits).toEqual([]);
});

test("rows of generated lists have keys of their own, and come, change and go as those of the core", async () => {
  const simulator = await start({ seed: 5, sizes: { orders: 120, invoices: 120, items: 120, findings: 120 } });
  const lists = simulator.streams.filter(stream => stream.startsWith("/"));
  expect(lists.length).toBeGreaterThan(40);
  for (const path of lists) {
    const rows = () => new Set([...simulator.truth.rows(path)].map(row => JSON.stringify(row)));
    const before = rows();
    expect([path, before.size]).toEqual([path, simulator.truth.count(path)]);
    const added = simulator.insert(path, 2);
    expect([path, rows().difference(before).size, new Set(added).size]).toEqual([path, 2, 2]);
    const updated = simulator.update(path, added);
    expect([path, updated, rows().size, rows().difference(before).size]).toEqual([path, added, before.size + 2, 2]);
    simulator.delete(path, added);
    expect(rows(), path).toEqual(before);
    const [gone = ""] = simulator.delete(path, 1);
    expect([path, before.difference(rows()).size]).toEqual([path, 1]);
    simulator.restore(path, [gone]);
    expect(rows(), path).toEqual(before);
  }
});

test("a detail repeats what its row shows, and is gone with it; what hangs on a row of the core changes with it", async () => {
  const simulator = await start({ seed: 6 });
  const details = endpoints.filter(({ path }) => simulator.streams.includes(path.replace(/\/\{\w+\}$/, "")));
  expect(details.map(({ path }) => path)).toContain("/budgets/{id}");
  for (const { path, shape } of details.filter(({ path }) => path.endsWith("}"))) {
    const list = path.replace(/\/\{\w+\}$/, "");
    const names = new Set(shape?.kind === "object" ? shape.fields.map(({ name }) => name) : []);
    const [row = {}] = simulator.truth.rows(list);
    const [key = ""] = simulator.update(list, [String(row["id"] ?? Object.values(row)[0])]);
    const [changed = {}] = simulator.truth.rows(list);
    const shared = Object.entries(changed).filter(([name, value]) => names.has(name) && typeof value !== "object");
    expect(simulator.truth.get(`${list}/${key}`), path).toMatchObject(Object.fromEntries(shared));
    simulator.delete(list, [key]);
    expect(simulator.truth.get(`${list}/${key}`), path).toBeUndefined();
  }
  const before = simulator.truth.get("/po/PO-5/change-orders");
  simulator.update("purchase_orders", ["PO-5"]);
  expect(simulator.truth.get("/po/PO-5/change-orders")).not.toEqual(before);
});

test("generated lists are paged and filtered as the documents say", async () => {
  const simulator = await start({ seed: 5, sizes: { orders: 160 } });
  for (const { path, query } of endpoints.filter(({ path, paged }) => paged && simulator.streams.includes(path))) {
    const rows = [...simulator.truth.rows(path)];
    const read = (filter: string): Json[] => {
      const found: Json[] = [];
      for (let cursor: unknown = ""; typeof cursor === "string"; ) {
        const answer = simulator.truth.answer(`${path}?limit=7&${filter}&cursor=${cursor}`);
        const { data } = answer ?? {};
        found.push(...((Array.isArray(data) ? data : Object.values(data as Json).find(Array.isArray)) as Json[]));
        cursor = answer?.pagination?.next_cursor;
      }
      return found;
    };
    expect(read(""), path).toEqual(rows);
    for (const name of query.filter(name => typeof rows[0]?.[name] === "string")) {
      const value = String(rows[0]?.[name]);
      const kept = rows.filter(row => row[name] === value);
      expect(read(`${name}=${encodeURIComponent(value)}`), `${path} ${name}`).toEqual(kept);
    }
    if (!query.includes("date_from")) continue;
    const moment = rows[0]?.["received_at"] === undefined ? "created_at" : "received_at";
    const since = rows.filter(row => Date.parse(String(row[moment])) >= Date.parse("2026-01-01"));
    expect(since.length).toBeLessThan(rows.length);
    expect(read("date_from=2026-01-01"), path).toEqual(since);
  }
});

test("the same seed gives the same answers, another seed others", async () => {
  const text = async (seed: number) => JSON.stringify(answersOf(await start({ seed })));
  const [one, same, other] = [await text(7), await text(7), await text(8)];
  expect(one === same).toBe(true);
  expect(one === other).toBe(false);
});
