import { expect, test } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { refusal, refused } from "./sample.ts";

const dollar = "$";

const near = (name: string) => ({ near: name, under: [], known: [] });

test.each([
  ["api:\n  max_concurency: 3", "2:3 api.max_concurency", "unknown_key", near("max_concurrency")],
  ["compnay: x", "1:1 compnay", "unknown_key", near("company")],
  ["meanings: { payed: {} }", "1:13 meanings.payed", "unknown_key", near("paid")],
  [
    "streams:\n  settings:\n    items: { lookbak: 1d }",
    "3:14 streams.settings.items.lookbak",
    "unknown_key",
    near("lookback"),
  ],
  ["timeout: 3s", "1:1 timeout", "unknown_key", { under: ["api"], known: [] }],
  ["server: { zzz: 1 }", "1:11 server.zzz", "unknown_key", { under: [], known: ["listen", "token", "login"] }],
  ["__proto__: { a: 1 }", "1:1 __proto__", "unknown_key", { under: [] }],
  ["archive: { keep: 30d }", "1:10 archive.path", "missing", { reason: "expected a folder's path" }],
  ["api: 3", "1:6 api", "wrong_type", { reason: "expected keys and values below it", got: "3" }],
  ["api:\n  max_concurrency: lots", "2:20 api.max_concurrency", "wrong_type", { got: '"lots"' }],
  ["api:\n  max_concurrency: 0", "2:20 api.max_concurrency", "invalid_value", { got: "0" }],
  ["api:\n  timeout: 25d", "2:12 api.timeout", "invalid_value", { got: '"25d"' }],
  ["api:\n  key: two words", "2:8 api.key", "invalid_value", { got: "something else (not shown)" }],
  [`company: ${dollar}{NONE}`, "1:10 company", "variable_not_set", { name: "NONE" }],
  ["company: a\ncompanies: [{ name: b }]", "2:1 companies", "company_and_companies", {}],
  ["companies: [{ name: b }, { name: b }]", "1:34 companies[1].name", "repeated_name", {}],
  ["destination: { type: postgres }", "1:14 destination.url", "postgres_without_url", {}],
  ["destination: { schema: _TRIBUTARY }", "1:14 destination.state_schema", "state_schema_taken", {}],
  [
    "reports: [{ mail: { smtp: smtp://h, from: a@example.com, to: [b@example.com], when: always, every: week } }]",
    "1:100 reports[0].mail.every",
    "every_without_changed",
    { every: "week" },
  ],
  ["reports: [{ after: [weekly], out: a }]", "1:20 reports[0].after", "unknown_schedule", { name: "weekly" }],
])("%j is one fault, with its place, code and fields", async (yaml, place, code, fields) => {
  expect(await refused(yaml)).toMatchObject({
    code: "config.unusable",
    fields: { faults: [{ where: `config.yaml:${place}`, code: `config.${code}`, fields }] },
  });
});

test.each([
  [
    "streams:\n  settings:\n    search: { values: { q: steel } }",
    "config.yaml:3:23 streams.settings.search.values: expected a list such as [{ type: site, id: S-1 }]",
  ],
  [
    "meanings: { paid: { payment_status: paid } }",
    "config.yaml:1:37 meanings.paid.payment_status: expected negative, positive, filled, true or false, or a list of values such as [paid, '*settled*'], got \"paid\"",
  ],
  ["streams: { settings: { search: { values: [] } } }", "expected at least one set of values"],
  ["streams: { settings: { search: { values: [q] } } }", "expected values by parameter such as { id: S-1 }"],
  ["streams: { settings: { search: { values: [{ q: [a] }] } } }", "values[0].q: expected a value of one line"],
  ["streams: { settings: { search: { parameters: { q: steel } } } }", "parameters.q: expected a list such as [30, 90]"],
  ["streams: { settings: { search: { from: { q: orders } } } }", "expected a column such as orders.customer_id"],
  ["streams: { settings: { search: { rename: [q] } } }", "expected names by parameter such as { at: as_of }"],
  ["api: { timeout: 25d }", "(1ms to 24d), got"],
  ["api: { requests_per_second: 0 }", "api.requests_per_second: expected a number above 0"],
  ["api: { base_url: procurement.example.com }", "api.base_url: expected the service's address"],
  ["api: { base_url: 'https://me:pw@host' }", "without user, query or fragment"],
  ["api: { key: 'two words' }", "api.key: expected an API key of printable characters without spaces or line breaks"],
  ["companies: []", "companies: expected at least one company"],
  ["companies: [{ key: abcd }]", "companies[0].name: expected a company's name"],
  ["company: 5", "company: expected a company's name, got 5"],
  [
    "destination: { type: postgress }",
    'destination.type: expected duckdb or postgres or ducklake (did you mean postgres?), got "postgress"',
  ],
  ["destination: { url: 'mysql://a/b' }", "destination.url: expected an address such as postgres://"],
  ["destination: { path: ':memory:' }", "destination.path: expected a file's path"],
  ["destination: { path: ~/w.duckdb }", "~, :memory: and addresses such as s3:// are not understood"],
  ["archive: { path: s3://bucket/raw }", "addresses such as s3:// are not understood"],
  ["destination: { schema: pg_x }", "destination.schema: expected a schema name"],
  ["destination: { keep_versions: 0 }", "destination.keep_versions: expected a whole number from 1"],
  ["streams: { start: 2023-02-30 }", 'streams.start: expected a date such as 2023-01-31, got "2023-02-30"'],
  ["streams: { include: items }", 'streams.include: expected a list such as [a, b], got "items"'],
  ["streams: { defaults: { history: always } }", 'streams.defaults.history: expected true or false, got "always"'],
  [
    "streams: { settings: { items: { history: 30d } } }",
    'streams.settings.items.history: expected true or false, got "30d"',
  ],
  [
    "streams: { defaults: { unknown_fields: columns } }",
    "streams.defaults.unknown_fields: expected keep or column or fail",
  ],
  ["archive: { path: ./a, on_error: ignore }", "archive.on_error: expected fail or warn"],
  ["deletes: { max_share: 20 }", "deletes.max_share: expected a share from 0 to 1 (0.2 is 20 %), got 20"],
  ["problems: { on_exceed: explode }", "problems.on_exceed: expected warn or fail"],
  ["formats: { timezone: Europe/Berln }", "(did you mean Europe/Berlin?)"],
  ["formats: { timezone: +02:00 }", "formats.timezone: expected a time zone of the IANA list"],
  ["formats: { dates: [us] }", "formats.dates[0]: expected iso or MM/DD/YYYY or DD.MM.YYYY"],
  ["schedules: [{ name: n, cron: daily }]", "schedules[0].cron: expected a cron expression of five fields"],
  ["server: { listen: 8787 }", "server.listen: expected host:port such as 127.0.0.1:8787, got 8787"],
  ["server: { listen: 'a:99999' }", "server.listen: expected host:port"],
  [
    "server: { token: 0123456789abcde }",
    "server.token: expected 16 or more printable characters without spaces (`openssl",
  ],
  [
    "server: { login: { user: a, password: '1234567' } }",
    'server.login.password: expected 8 or more characters (`openssl rand -hex 12` makes a password), got "•••"',
  ],
  ["- a\n- b", 'config.yaml:1:1 Expected keys such as "api:" and "destination:"'],
])("refuses %j", async (yaml, message) => {
  expect(await refusal(yaml)).toContain(message);
});

test.each([
  ["api:\n  timeout: 3s\n timeout: 4s", "config.yaml:3:1 All mapping items must start at the same column"],
  ["api: [", "config.yaml:1:7 "],
  ["company: a\ncompany: b", "config.yaml:2:1 Map keys must be unique"],
  ["company: a: b", "config.yaml:1:10 Nested mappings are not allowed in compact mappings"],
  ["company: !secret x", "config.yaml:1:10 Unresolved tag"],
  ["company: a\n---\ncompany: b", "config.yaml:2:1 "],
  [`companies: [{ name: a, key: ${dollar}{KEY} }]`, `a value with ${dollar}{…} inside { } or [ ] must stand in quotes`],
])("malformed YAML names its place: %j", async (yaml, message) => {
  const told = await refusal(yaml);
  expect(told).toContain("The configuration isn't valid YAML.");
  expect(told).toContain(message);
});

test("a missing variable is named, with the place that wants it", async () => {
  const yaml = `api:\n  base_url: ${dollar}{SERVICE_URL}\n  key: ${dollar}{EMPTY}\n`;
  expect(await refusal(yaml, { EMPTY: "" })).toBe(
    `The configuration can't be used.
config.yaml:2:13 api.base_url: the environment variable SERVICE_URL is not set: set it, or give its value another way
config.yaml:3:8 api.key: the environment variable EMPTY is set but empty: give it a value`,
  );
});

test("the key's own variable is asked for even when the file says nothing", async () => {
  expect(await refusal("company: a", {})).toContain("api.key: the environment variable PROCUREMENT_API_KEY is not set");
});

test.each([
  [`${dollar}{a-b}`, `expected ${dollar}{NAME}`],
  [`${dollar}{NAME`, "without its }"],
  [`${dollar}{file:/nowhere/at/all}`, "the file /nowhere/at/all could not be read (ENOENT)"],
])("refuses the substitution %j", async (template, message) => {
  expect(await refusal(`api:\n  key: "${template}"\n`)).toContain(`config.yaml:2:8 api.key: `);
  expect(await refusal(`api:\n  key: "${template}"\n`)).toContain(message);
});

test("an address has no default: the key would go to somebody else's service", async () => {
  const wanted = "api.base_url: expected the service's address, without /api/v1, got none";
  for (const text of ["api: { key: x, base_url: }", "api: { key: x }\n# base_url"])
    expect(await refusal(text)).toContain(wanted);
  const companies = "companies: [{ name: one, key: x, base_url: https://one.example }, { name: two, key: y }]";
  expect(await refusal(companies)).toContain(wanted);
});

test("everything wrong is said at once, in the file's order, without what a variable holds", async () => {
  const yaml = `api:
  max_wait: ${dollar}{HIDDEN}
  key: literal secret
destination: { type: postgres, url: "mysql://u:hidden-pw@h" }
zzz: 1
`;
  const told = await refused(yaml, { HIDDEN: "hidden-value" });
  const keys = told.message.split("\n").map(line => line.split(" ")[1]?.replace(/:$/, ""));
  expect(keys).toEqual(["configuration", "api.max_wait", "api.key", "destination.url", "zzz"]);
  expect(JSON.stringify(told)).not.toMatch(/hidden-value|literal secret|hidden-pw/);
});

test("a missing file names init", async () => {
  const missing = loadConfig("/nowhere/config.yaml", {});
  await expect(missing).rejects.toMatchObject({
    exitCode: 2,
    code: "config.no_file",
    fields: { file: "/nowhere/config.yaml" },
    message: expect.stringContaining("`tributary init` writes one"),
  });
});
