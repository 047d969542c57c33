import { afterAll, beforeAll, expect, test } from "vitest";
import { type Simulator, startSimulator, type VocabularyName } from "../simulator.ts";
import { ask, type Json, read, stillClock } from "./reading.ts";
import { checkShape, type Shape, seen, shapeAt } from "./shape.ts";

/** Where each list keeps its rows ("": the data itself), and the field that names a row. */
const LISTS: Readonly<Record<string, readonly [path: string, rows: string, key: string]>> = {
  automation_events: ["/automations/events", "events", "id"],
  automation_history: ["/automations/history", "", "id"],
  automation_executions: ["/automations/executions", "executions", "id"],
  automation_rules: ["/automations/rules", "rules", "id"],
  automation_templates: ["/automations/templates", "templates", "id"],
  automation_actions: ["/automations/actions", "actions", "name"],
  automation_triggers: ["/automations/triggers", "triggers", "name"],
  pending_agent_actions: ["/agent/pending-approvals", "actions", "id"],
  date_drift_alerts: ["/alerts/date-drift", "alerts", "alert_id"],
  pending_approvals: ["/approvals/pending", "pending_approvals", "doc_id"],
  approval_rules: ["/approvals/rules", "rules", "id"],
  billing_usage_history: ["/billing/usage-history", "items", "id"],
  notification_configs: ["/integrations/notification-config", "configs", "id"],
  notification_preferences: ["/notifications/preferences", "preferences", "type"],
  notification_types: ["/notifications/types", "categories", "name"],
  chat_channels: ["/integrations/chat/channels", "channels", "id"],
  erp_connections: ["/erp/connections", "connections", "id"],
  erp_field_mappings: ["/erp/field-mappings", "mappings", "id"],
  erp_import_connections: ["/erp/import/connections", "connections", "id"],
  erp_import_runs: ["/erp/import/runs", "import_runs", "id"],
  erp_mappings: ["/erp/mappings", "mappings", "id"],
  erp_sync_logs: ["/erp/sync/logs", "logs", "id"],
  erp_unmapped_columns: ["/erp/unmapped-columns", "unmapped_columns", "id"],
  gl_category_mappings: ["/gl-category-mappings", "mappings", "id"],
  chart_of_accounts: ["/chart-of-accounts", "accounts", "account_code"],
};
const PAGED = ["/automations/events", "/automations/history"];
const OBJECTS = [
  "/automations/history/stats",
  "/automations/stats",
  "/agent-actions/stats",
  "/alerts/date-drift/count",
  "/billing/usage",
  "/billing/config",
  "/custom-fields/discovered",
  "/feature-flags",
  "/bootstrap",
  "/company-settings",
];
/** Endpoint of one row, and the list that its rows are named by. */
const DETAILS: Readonly<Record<string, string>> = {
  "/automations/executions/{id}": "automation_executions",
  "/automations/executions/{id}/preview": "automation_executions",
  "/automations/history/agent/{id}": "automation_history",
  "/agent-actions/{action_id}/reasoning": "pending_agent_actions",
  "/erp/import/runs/{id}/rows": "erp_import_runs",
};
const paths = [...Object.values(LISTS).map(([path]) => path), ...OBJECTS, ...Object.keys(DETAILS)];

const simulators: Simulator[] = [];
afterAll(async () => {
  for (const simulator of simulators) await simulator.close();
});

async function start(seed: number, sizes = {}, vocabulary?: VocabularyName): Promise<Simulator> {
  const simulator = await startSimulator({ seed, sizes, vocabulary, now: stillClock().now });
  simulators.push(simulator);
  return simulator;
}

/** All rows of a list; paged ones page by page. */
async function rowsOf(simulator: Simulator, stream: string, limit = 7): Promise<Json[]> {
  const [path, field] = LISTS[stream]!;
  const rows: Json[] = [];
  let cursor = "";
  for (;;) {
    const envelope = await read(simulator, `${path}?limit=${limit}${cursor}`);
    rows.push(...((field === "" ? envelope.data : envelope.data[field]) as unknown as Json[]));
    if (!PAGED.includes(path)) expect(envelope.pagination).toBeUndefined();
    const next = envelope.pagination?.next_cursor ?? null;
    if (next === null) return rows;
    cursor = `&cursor=${next}`;
  }
}

const isOfAgent = (row: Json): boolean => row["source"] === "agent";
const filled = (template: string, key: unknown): string =>
  template.replace(/\{[^}]+\}/, encodeURIComponent(String(key)));

async function checkAll(simulator: Simulator): Promise<string[]> {
  const wrong: string[] = [];
  for (const [stream, [path, field]] of Object.entries(LISTS)) {
    const { data } = await read(simulator, path);
    const rows = await rowsOf(simulator, stream, 50);
    wrong.push(...checkShape(field === "" ? rows : { ...data, [field]: rows }, shapeAt(path), path));
  }
  for (const path of OBJECTS) wrong.push(...checkShape((await read(simulator, path)).data, shapeAt(path), path));
  for (const [template, stream] of Object.entries(DETAILS)) {
    for (const row of simulator.truth.rows(stream)) {
      if (template.includes("/agent/") && !isOfAgent(row)) continue;
      const data = simulator.truth.get(filled(template, row[LISTS[stream]![2]]));
      wrong.push(...checkShape(data, shapeAt(template), template));
    }
  }
  return wrong;
}

const wrong: string[] = [];
beforeAll(async () => {
  for (const seed of [1, 2, 3]) {
    const simulator = await start(seed);
    wrong.push(...(await checkAll(simulator)));
    for (const stream of Object.keys(LISTS)) {
      simulator.update(stream, 3);
      simulator.insert(stream, 2);
      simulator.delete(stream, 1);
    }
    wrong.push(...(await checkAll(simulator)));
  }
  for (let seed = 4; seed < 34; seed += 1) {
    const sizes = { orders: 60, invoices: 30, items: 20, findings: 0, ingested: 60 };
    const simulator = await startSimulator({ seed, sizes, now: stillClock().now });
    for (const path of paths.filter(path => !path.includes("{"))) {
      wrong.push(...checkShape((await read(simulator, path)).data, shapeAt(path), path));
    }
    await simulator.close();
  }
});

test("every endpoint answers in the documented shape, before and after changes", () => {
  expect(wrong).toEqual([]);
});

test("what may be null sometimes is, and loose numbers come as numbers and as text", () => {
  const missing: string[] = [];
  const visit = (shape: Shape | null, place: string): void => {
    if (shape?.kind === "array") visit(shape.items, `${place}[]`);
    if (shape?.kind !== "object") return;
    for (const field of shape.fields) {
      const at = `${place}.${field.name}`;
      const kinds = field.types.includes("any") ? [] : field.types.map(type => (type === "i" ? "n" : type));
      for (const kind of field.nullable ? [...kinds, "null"] : kinds) {
        if (seen.get(at)?.has(kind) !== true) missing.push(`${at} is never ${kind}`);
      }
      if (field.node !== undefined) visit(field.node, at);
    }
  };
  for (const path of paths) visit(shapeAt(path), path);
  expect(missing).toEqual([]);
});

test("told in the other vocabulary, every answer has the documented shape too", async () => {
  for (const seed of [1, 2]) expect(await checkAll(await start(seed, {}, "other"))).toEqual([]);
});

test("lists are complete, and their rows told apart by their key", async () => {
  const simulator = await start(5);
  for (const [stream, [, , key]] of Object.entries(LISTS)) {
    const rows = await rowsOf(simulator, stream);
    expect(rows).toEqual([...simulator.truth.rows(stream)]);
    expect(rows).toHaveLength(simulator.truth.count(stream));
    expect(rows.length).toBeGreaterThan(0);
    const keys = rows.map(row => row[key]);
    // A document may wait for two approvals.
    if (stream === "pending_approvals") expect(new Set(keys).size).toBeLessThan(keys.length);
    else expect(new Set(keys).size).toBe(keys.length);
  }
});

test("an update shows in the row and in its details, an inserted row stands first, a deleted one is gone", async () => {
  const simulator = await start(6);
  for (const [stream, [, , key]] of Object.entries(LISTS)) {
    const before = new Map((await rowsOf(simulator, stream)).map(row => [row[key], JSON.stringify(row)]));
    const [changed = ""] = simulator.update(stream, 1);
    const after = (await rowsOf(simulator, stream)).map(row => [row[key], JSON.stringify(row)] as const);
    if (stream !== "pending_approvals")
      expect(after.filter(([name, text]) => before.get(name) !== text).map(([name]) => name)).toEqual([changed]);
    const [added] = simulator.insert(stream, 1);
    expect((await rowsOf(simulator, stream))[0]?.[key]).toBe(added);
    simulator.delete(stream, [String(added)]);
    const left = await rowsOf(simulator, stream);
    expect(left).toHaveLength(after.length);
  }
});

test("details follow their rows, and unknown ids answer 404", async () => {
  const simulator = await start(7);
  for (const [template, stream] of Object.entries(DETAILS)) {
    const rows = [...simulator.truth.rows(stream)].filter(row => !template.includes("/agent/") || isOfAgent(row));
    const key = String(rows[0]?.[LISTS[stream]![2]]);
    const before = JSON.stringify(simulator.truth.get(filled(template, key)));
    simulator.update(stream, [key]);
    expect(JSON.stringify(simulator.truth.get(filled(template, key)))).not.toBe(before);
    expect((await ask(simulator, filled(template, "no-such-id"))).status).toBe(404);
    simulator.delete(stream, [key]);
    expect((await ask(simulator, filled(template, key))).status).toBe(404);
    simulator.restore(stream, [key]);
  }
  const [other] = [...simulator.truth.rows("automation_history")].filter(row => !isOfAgent(row));
  expect((await ask(simulator, `/automations/history/agent/${other?.["id"]}`)).status).toBe(404);
});

test("rows name vendors, orders, invoices, rules and executions that there are", async () => {
  const simulator = await start(8);
  const known = (stream: string, key: string) => new Set([...simulator.truth.rows(stream)].map(row => row[key]));
  const orders = known("purchase_orders", "po_number");
  const rules = known("automation_rules", "id");
  const executions = known("automation_executions", "id");
  const accounts = known("chart_of_accounts", "account_code");
  const invoices = known("invoices", "doc_id");
  const strays = (stream: string, column: string, there: ReadonlySet<unknown>) =>
    [...simulator.truth.rows(stream)].map(row => row[column]).filter(value => value !== null && !there.has(value));
  expect(strays("date_drift_alerts", "po_number", orders)).toEqual([]);
  expect(strays("automation_executions", "rule_id", rules)).toEqual([]);
  expect(strays("automation_history", "rule_id", rules)).toEqual([]);
  expect(strays("pending_approvals", "doc_id", invoices)).toEqual([]);
  expect(strays("gl_category_mappings", "gl_account_code", accounts)).toEqual([]);
  expect(strays("automation_events", "entity_id", new Set([...orders, ...invoices]))).toEqual([]);
  const ofRules = [...simulator.truth.rows("automation_history")].filter(row => !isOfAgent(row));
  expect(ofRules.filter(row => !executions.has(row["record_id"]))).toEqual([]);
});

test("a company without anything has none of it, and all of it answers", async () => {
  const simulator = await start(9, { orders: 0, invoices: 0, items: 0, findings: 0, ingested: 0 });
  for (const path of paths.filter(path => !path.includes("{"))) {
    expect(checkShape((await read(simulator, path)).data, shapeAt(path), path)).toEqual([]);
  }
  for (const stream of ["automation_executions", "pending_approvals", "erp_import_runs", "billing_usage_history"])
    expect(simulator.truth.count(stream)).toBe(0);
});
