import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { load, sampleEnv, writeConfig } from "./sample.ts";

test("an empty file is the contract's defaults", async () => {
  const file = writeConfig("");
  const { config, warnings } = await loadConfig(file, sampleEnv);
  const { companies, ...rest } = config;
  expect(companies.map(one => [one.name, one.baseUrl, one.key()])).toEqual([
    ["acme", "https://procurement.example.com", "key-from-the-environment"],
  ]);
  expect(warnings).toEqual([]);
  expect(rest).toEqual({
    api: {
      maxConcurrency: 8,
      requestsPerSecond: undefined,
      timeoutMs: 30_000,
      maxWaitMs: 600_000,
      clock: "check",
      memoryBytes: 128_000_000,
    },
    destination: {
      type: "duckdb",
      path: join(dirname(file), "warehouse.duckdb"),
      readers: "snapshot",
      keepVersions: 2,
      memoryMb: 80,
      grantSelectTo: [],
      connectWaitMs: 0,
      publishEveryMs: 900_000,
      schema: "procurement",
      stateSchema: "_tributary",
    },
    streams: {
      preset: "core",
      include: [],
      exclude: [],
      start: undefined,
      defaults: {
        unknownFields: "keep",
        details: { audit: 0.02, fresh: { withinMs: 172_800_000, share: 0.9 } },
        maxRejectShare: 0.05,
        history: false,
      },
      settings: {},
    },
    deletes: { maxShare: 0.2, minRows: 50, confirmMax: 500 },
    retentionMs: 400 * 86_400_000,
    problems: { maxShare: 0.05, onExceed: "warn" },
    privacy: { pii: "keep", key: undefined, exclude: [], hash: [], mask: [] },
    formats: { dates: ["iso"], timezone: "UTC" },
    schedules: [
      {
        name: "nightly",
        cron: "0 2 * * *",
        timezone: "UTC",
        streams: [],
        maxTimeMs: 14_400_000,
        waitMs: 1_800_000,
        retries: 2,
        retryAfterMs: 300_000,
      },
    ],
    server: { host: "127.0.0.1", port: 8787, token: undefined, login: undefined },
    freshness: { lateAfterMs: 93_600_000 },
    notify: { atMostEveryMs: 3_600_000, targets: [] },
    reports: [],
    hooks: undefined,
    meanings: {
      credit: { total_amount: "negative", doc_type: ["*credit*"] },
      paid: {},
      held: { hold_reason: "filled" },
      open: { is_open: true },
      late: { on_time: false },
      processed: {},
      dismissed: { dismiss_reason: "filled", dismissed_at: "filled" },
      resolved: { resolved_by: "filled", resolution_notes: "filled", resolved_at: "filled" },
    },
    views: true,
    backfill: { confirmAbove: 5000 },
  });
});

test("several companies take from api what they leave out", async () => {
  const { config, secrets } = await load(
    `api: { base_url: https://one.example/api/v1/ }
companies:
  - name: one
  - name: two
    key: \${TWO}
    base_url: https://two.example/prefix/
`,
    { ...sampleEnv, TWO: "key-two" },
  );
  expect(config.companies.map(one => [one.name, one.baseUrl, one.key()])).toEqual([
    ["one", "https://one.example", "key-from-the-environment"],
    ["two", "https://two.example/prefix", "key-two"],
  ]);
  expect([...secrets].sort()).toEqual(["key-from-the-environment", "key-two"]);
});

test("companies with keys of their own need none under api", async () => {
  const { config, secrets } = await load("companies: [{ name: one, key: abcd }]", {});
  expect(config.companies[0]?.key()).toBe("abcd");
  expect(secrets).toEqual(["abcd"]);
});

test("a PostgreSQL destination, per-stream settings and the other options become what the program works with", async () => {
  const { config, effective } = await load(
    `destination:
  type: postgres
  url: \${URL}
  grant_select_to: [bi_reader]
streams:
  start: 2024-02-29
  settings:
    invoices: { details: { audit: "0.5", fresh: { within: 1d }, refresh: 7d, with: [c] }, max_details: 5, volatile: [a], statuses: [b] }
server: { listen: "[::1]:0" }
`,
    { ...sampleEnv, URL: "postgres://me:pa%20ss@db:5432/w" },
  );
  expect(config.destination).toEqual({
    type: "postgres",
    url: "postgres://me:pa%20ss@db:5432/w",
    grantSelectTo: ["bi_reader"],
    connectWaitMs: 15_000,
    lockWaitMs: 120_000,
    publishEveryMs: 900_000,
    schema: "procurement",
    stateSchema: "_tributary",
  });
  expect(config.streams.start).toBe("2024-02-29");
  expect(config.streams.settings["invoices"]).toEqual({
    fullScanPages: undefined,
    fullScanEveryMs: undefined,
    key: [],
    lookbackMs: undefined,
    details: {
      ...{ audit: 0.5, fresh: { withinMs: 86_400_000, share: 0.9 }, refreshMs: 604_800_000 },
      ...{ with: ["c"], without: undefined },
    },
    maxDetails: 5,
    volatile: ["a"],
    statuses: ["b"],
    values: [],
    parameters: {},
    from: {},
    rename: {},
    unknownFields: "keep",
    maxRejectShare: undefined,
    history: undefined,
  });
  expect(config.server).toMatchObject({ host: "::1", port: 0 });
  expect(effective["destination"]).not.toHaveProperty("path");
});

test("what is asked for is text, as it is written", async () => {
  const { config } = await load(
    `streams:
  settings:
    lane_intelligence: { values: [{ origin_zip: 01234, dest_zip: 9876, mode: "\${MODE}" }] }
    purchase_order_as_of:
      from: { po_number: purchase_orders.po_number }
      parameters: { at: [2026-01-01, 2026-02-01T00:00:00Z] }
      rename: { at: as_of }
    analytics_spend: { parameters: { period: [30, 90.50, 12345678901234567890] } }
    vendor_orders_as_of: { from: { vendor_id: [purchase_orders.vendor_id, invoices.vendor_id] } }
    vendor_completeness: { details: { refresh: 36h } }
`,
    { ...sampleEnv, MODE: "ltl" },
  );
  const { settings } = config.streams;
  expect(settings["lane_intelligence"]?.values).toEqual([{ origin_zip: "01234", dest_zip: "9876", mode: "ltl" }]);
  expect(settings["purchase_order_as_of"]).toMatchObject({
    from: { po_number: ["purchase_orders.po_number"] },
    parameters: { at: ["2026-01-01", "2026-02-01T00:00:00Z"] },
    rename: { at: "as_of" },
  });
  expect(settings["analytics_spend"]?.parameters).toEqual({ period: ["30", "90.50", "12345678901234567890"] });
  expect(settings["vendor_orders_as_of"]?.from["vendor_id"]).toHaveLength(2);
  expect(settings["vendor_completeness"]?.details?.refreshMs).toBe(129_600_000);
});

test("a numeral with zeros before or after it is the same number where a number is wanted", async () => {
  const { config } = await load("api: { max_concurrency: 08 }\nstreams: { defaults: { details: { audit: 0.50 } } }");
  expect(config.api.maxConcurrency).toBe(8);
  expect(config.streams.defaults.details.audit).toBe(0.5);
});

test("variables: defaults, literals, numbers and files with their last line break removed", async () => {
  const file = writeConfig(
    `company: "a $\${B} \${NONE:-c}"
api:
  key: \${file:key.txt}
  max_concurrency: \${MANY}
  timeout: \${EMPTY:-5s}
`,
  );
  writeFileSync(join(dirname(file), "key.txt"), "file-key\r\n");
  const { config, secrets } = await loadConfig(file, { MANY: "12", EMPTY: "" });
  const literal = "a $" + "{B} c";
  expect(config.companies[0]?.name).toBe(literal);
  expect(config.api.maxConcurrency).toBe(12);
  expect(config.api.timeoutMs).toBe(5_000);
  // Names and options are no secrets: redacting "12" would make every log line unreadable.
  expect(secrets).toEqual(["file-key"]);
});

test("a key is read again from its file, and the new one is a secret too", async () => {
  const file = writeConfig(`api:\n  key: \${file:key.txt}\n`);
  const keyFile = join(dirname(file), "key.txt");
  writeFileSync(keyFile, "first-key\n");
  const { config, secrets } = await loadConfig(file, {});
  const company = config.companies[0]!;
  writeFileSync(keyFile, "second-key\n");
  expect(company.key()).toBe("first-key");
  expect(await company.refreshKey()).toBe("second-key");
  expect(company.key()).toBe("second-key");
  expect(secrets).toEqual(["first-key", "second-key"]);
});

test("what is secret without a variable: a key and the password inside an address", async () => {
  const { secrets } = await load(
    `api: { key: plain-key }
destination: { type: postgres, url: "postgres://me:p%40ss@db/w?sslpassword=other" }
`,
    {},
  );
  expect([...secrets].sort()).toEqual(["other", "p%40ss", "p@ss", "plain-key"]);
});

test("settings without effect are said", async () => {
  const { warnings } = await load(
    `api: { base_url: http://intern.example }
destination: { url: "postgres://a/b", grant_select_to: [x] }
`,
  );
  const idle = { code: "config.key_without_effect" };
  expect(warnings).toMatchObject([
    { ...idle, fields: { key: "url", type: "duckdb", types: ["postgres"] } },
    { ...idle, fields: { key: "grant_select_to", type: "duckdb", types: ["postgres", "ducklake"] } },
    { code: "config.unencrypted_key", fields: { host: "intern.example" } },
  ]);
});

test("TRIBUTARY_CONFIG names the file when no option does, and at() finds keys in it", async () => {
  const file = writeConfig("company: other\nstreams:\n  settings:\n    itms: { max_details: 0 }\n");
  const { config, at } = await loadConfig(undefined, { ...sampleEnv, TRIBUTARY_CONFIG: file });
  expect(config.companies[0]?.name).toBe("other");
  expect(at(["streams", "settings", "itms"])).toBe(`${file}:4:5`);
  expect(at(["streams", "include", 0])).toBe(`${file}:2:1`);
});

test("YAML anchors, null values and a list in block style mean what YAML says", async () => {
  const { config } = await load(
    `api:
streams:
  include: &names
    - a
    - b
  exclude: *names
  settings:
`,
  );
  expect(config.streams.include).toEqual(["a", "b"]);
  expect(config.streams.exclude).toEqual(["a", "b"]);
  expect(config.api.maxConcurrency).toBe(8);
});

test("the views' schema has to fit into a name of PostgreSQL's and be nobody else's, unless there are no views", async () => {
  const long = "s".repeat(54);
  const refused = (code: string) => ({ fields: { faults: [{ code }] } });
  await expect(load(`destination: { schema: ${long} }`)).rejects.toMatchObject(refused("config.views_schema_too_long"));
  const taken = load("destination: { state_schema: procurement_analytics }");
  await expect(taken).rejects.toMatchObject(refused("config.state_schema_of_views"));
  expect((await load(`views: false\ndestination: { schema: ${long} }`, sampleEnv)).config.views).toBe(false);
});
