import { expect, onTestFinished, test } from "vitest";
import { startSimulator } from "../../../simulator/simulator.ts";
import { selectedByConfig } from "../../../src/config/selection.ts";
import type { CheckLine } from "../../../src/operations/check/line.ts";
import { checkService } from "../../../src/operations/check/service.ts";
import { configured } from "../../../src/privacy/configured_catalog.ts";
import { policyOf } from "../../../src/sync/run/jobs.ts";
import { identityEndpoint } from "../../../streams/identity.ts";
import { streams } from "../../../streams/index.ts";
import { stillClock } from "../../support/clock.ts";
import { silentLog } from "../../support/log.ts";
import { loaded } from "./loaded.ts";

const sizes = { orders: 20, invoices: 20, items: 10, findings: 10, ingested: 10 };

/** What the check says of every stream that is on. */
async function linesOf(streamKeys: object): Promise<{ lines: CheckLine[]; requests: number }> {
  const clock = stillClock();
  const simulator = await startSimulator({ sizes, now: clock.date });
  onTestFinished(() => simulator.close());
  const api = { base_url: simulator.url, key: simulator.key };
  const { config } = await loaded({ api, streams: streamKeys });
  const check = {
    company: config.companies[0]!,
    settings: config.api,
    identity: identityEndpoint,
    streams: selectedByConfig(configured(streams, config), config.streams),
    askingOf: (name: string) => policyOf(config, name),
    tools: {
      clock,
      random: Math.random,
      log: silentLog,
      signal: new AbortController().signal,
      version: "0.0.0",
      maxRequests: undefined,
    },
  };
  const lines: CheckLine[] = [];
  for await (const line of checkService(check)) lines.push(line);
  return { lines, requests: simulator.requests.entries.length };
}

test("every stream of every kind is tried with one request, or says why it is not", async () => {
  const settings = {
    entities: { values: [{ type: "vendor", id: "V-1" }] },
    search: { values: [{ q: "steel" }] },
    identities: { parameters: { type: ["vendor"] }, from: { id: "purchase_orders.vendor_id" } },
  };
  const { lines, requests } = await linesOf({ preset: "all", settings });
  expect(
    lines.filter(line => line.level === "fail").map(({ name, message }) => `${name}: ${message}`),
    "refused by the simulator: each endpoint stands in simulator/documented.json",
  ).toEqual([]);
  for (const [name, code, fields] of [
    ["contracts", "list_answered", { path: "/contracts" }],
    ["automation_rules", "list_answered", { path: "/automations/rules" }],
    ["automation_history", "list_answered", { path: "/automations/history" }],
    ["analytics_spend", "answered", { path: "/analytics/spend" }],
    ["search", "answered", { path: "/search" }],
    ["identities", "values_not_loaded", { tables: ["purchase_orders"] }],
    ["fact_lineage", "depends_on_values", { stream: "communication_facts" }],
    ["parked_imports", "depends_on_values", { stream: "import_review_census" }],
  ] as const)
    expect(lines.find(line => line.name === name)).toMatchObject({ code: `check.${code}`, fields });
  expect(requests).toBeLessThanOrEqual(lines.length);
});
