import { expect, onTestFinished, test } from "vitest";
import { startSimulator } from "../../../simulator/simulator.ts";
import type { Company } from "../../../src/config/config.ts";
import { ConfigError } from "../../../src/errors.ts";
import { createSharedClients, openService } from "../../../src/sync/run/service.ts";
import { identityEndpoint } from "../../../streams/identity.ts";
import { stillClock } from "../../support/clock.ts";
import { sentence, silentLog } from "../../support/log.ts";

const settings = {
  maxConcurrency: 3,
  requestsPerSecond: undefined,
  requestsPerDay: undefined,
  timeoutMs: 30_000,
  maxWaitMs: 600_000,
  clock: "ignore" as const,
  memoryBytes: 176e6,
};

const company = (name: string, key: string, baseUrl = "https://one.example.com"): Company => ({
  name,
  baseUrl,
  key: () => key,
  refreshKey: async () => key,
});

const clock = stillClock();
const tools = {
  clock,
  random: () => 0.5,
  log: silentLog,
  signal: new AbortController().signal,
  version: "0.0.0",
  maxRequests: undefined,
};

test("companies with one key at one origin have one limiter; another key or origin has its own", () => {
  const { limiterOf } = createSharedClients(settings, clock);
  const acme = limiterOf(company("acme", "k1"));
  expect(limiterOf(company("north", "k1", "https://one.example.com/eu"))).toBe(acme);
  expect(limiterOf(company("beta", "k2"))).not.toBe(acme);
  expect(limiterOf(company("gamma", "k1", "https://two.example.com"))).not.toBe(acme);
  acme.pause(5_000, "429");
  expect(limiterOf(company("north", "k1")).state.pausedUntil).toBe(clock.now() + 5_000);
  expect(limiterOf(company("beta", "k2")).state.pausedUntil).toBeUndefined();
});

test("requests in flight are bounded for the key, whichever company they are for", async () => {
  const simulator = await startSimulator({ key: "k1", faults: { latencyMs: 20 } });
  onTestFinished(() => simulator.close());
  const sharedClients = createSharedClients(settings, clock);
  const names = ["acme", "north", "south"];
  const services = await Promise.all(
    names.map(name =>
      openService(company(name, "k1", simulator.url), settings, identityEndpoint, tools, sharedClients),
    ),
  );
  onTestFinished(async () => {
    for (const api of sharedClients.apis) await api.close();
  });
  expect(services.map(({ failure }) => failure)).toEqual([undefined, undefined, undefined]);
  await Promise.all(services.flatMap(({ api }) => Array.from({ length: 10 }, () => api.get("/items", { limit: 1 }))));
  expect(simulator.requests.total).toBe(3 + 30);
  expect(simulator.requests.maxInFlight).toBe(3);
});

test("a key that can't be read any more is that company's failure, and no request is sent for it", async () => {
  const simulator = await startSimulator({ key: "k1" });
  onTestFinished(() => simulator.close());
  const lost: Company = {
    ...company("acme", "k1", simulator.url),
    refreshKey: () => Promise.reject(new ConfigError(sentence("The key's file is gone."))),
  };
  const sharedClients = createSharedClients(settings, clock);
  const service = await openService(lost, settings, identityEndpoint, tools, sharedClients);
  for (const api of sharedClients.apis) await api.close();
  expect(service.failure).toMatchObject({ exitCode: 2, message: "The key's file is gone." });
  expect(simulator.requests.total).toBe(0);
});
