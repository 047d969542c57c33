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
import { loaded } from "./loaded.ts";

const sizes = { orders: 20, invoices: 20, items: 10, findings: 10, ingested: 10 };

/** What the check says of every stream that is on. */
async function linesOf(streamKeys: object): Promise<{ lines: CheckLine[]; requests: number }> {
  const clock = stillClock();
  const simulator = await startSimulator({ sizes, now: clock.date });
  onTestFinished(() => simulator.close());
  const api = { base_url: simulator.url, key: simulator.key };
  const { config } = await loaded({ api, streams: streamKeys });
  const say = () => undefined;
  const check = {
    company: config.companies[0]!,
    settings: config.api,
    identity: identityEndpoint,
    streams: selectedByConfig(configured(streams, config), config.streams),
    askingOf: (name: string) => policyOf(config, name),
    tools: {
      clock,
      random: Math.random,
      log: { info: say, warn: say, debug: say },
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
    "refused by the simulator: each endpoint needs a route in a domain of simulator/",
  ).toEqual([]);
  const of = (name: string) => lines.find(line => line.name === name)!;
  expect(of("contracts").message).toContain("GET /contracts answered");
  expect(of("automation_rules").message).toContain("GET /automations/rules answered");
  expect(of("automation_history").message).toContain("GET /automations/history answered");
  expect(of("analytics_spend").message).toContain("GET /analytics/spend answered");
  expect(of("search").message).toContain("GET /search answered");
  expect(of("identities").message).toBe("not tried: its values come from purchase_orders");
  expect(of("fact_lineage").message).toBe("not tried: it asks for what communication_facts brings");
  expect(of("parked_imports").message).toBe("not tried: it asks for what import_review_census brings");
  expect(requests).toBeLessThanOrEqual(lines.length);
});
