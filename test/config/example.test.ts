import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import type { z } from "zod";
import { configSchema, DESTINATION_KEYS, isOpen } from "../../src/config/schema.ts";
import { streams } from "../../streams/index.ts";
import { load, sampleEnv } from "./sample.ts";
import { schemaKeys } from "./schema_keys.ts";

const example = readFileSync(join(import.meta.dirname, "../../config.example.yaml"), "utf8");
const env = {
  ...sampleEnv,
  DATABASE_URL: "postgres://me:pw@db/warehouse",
  AWS_ACCESS_KEY_ID: "AKIA",
  AWS_SECRET_ACCESS_KEY: "a secret key",
  AWS_SESSION_TOKEN: "a session",
  TRIBUTARY_TOKEN: "a-token-for-the-page",
  TRIBUTARY_PASSWORD: "a password",
  TRIBUTARY_HOOK_SECRET: "guessed-by-nobody-at-all",
  TRIBUTARY_HASH_KEY: "sixteen-or-more-characters",
  SMTP_URL: "smtp://mail.example.com",
  SLACK_WEBHOOK: "https://hooks.example.com/services/T0/B0/x",
};

// A commented-out setting has its key right after the #; prose has a space there.
const commentedOut = /^( *)#(?=\S)/;
const settingLines = example.split("\n").filter(line => commentedOut.test(line));
const switchedOn = (line: string): string => example.replace(line, () => line.replace(commentedOut, "$1"));
const allSwitchedOn = example.replace(new RegExp(commentedOut, "gm"), "$1");

/** Every key of a value, spelled as in the schema, as often as it stands there. */
function valueKeys(value: unknown, above = ""): string[] {
  if (Array.isArray(value)) return value.flatMap(item => valueKeys(item, `${above}[]`));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (above === "streams.settings") return valueKeys(inner, `${above}.*`);
    const path = above === "" ? key : `${above}.${key}`;
    return [path, ...(userNamed.test(path) ? [] : valueKeys(inner, path))];
  });
}

// What stands below is named by the user.
const userNamed = /^streams\.settings\.\*\.(values|parameters|from|rename)$|^meanings\.\w+$/;

test("the example holds every key of the schema once, and no other", () => {
  const held = valueKeys(parse(allSwitchedOn));
  const wanted = schemaKeys(configSchema);
  expect([...new Set(held)].sort()).toEqual([...wanted].sort());
  const repeated = held.filter((key, index) => held.indexOf(key) < index && !key.startsWith("streams.settings.*"));
  expect(repeated).toEqual([]);
});

test("what is not commented out is what the schema takes by itself", () => {
  const { streams: shown, ...others } = parse(example) as z.output<typeof configSchema>;
  const { streams: taken, ...defaults } = configSchema.parse({
    api: { base_url: "https://procurement.example.com", key: "some-key" },
  });
  defaults.api.key = others.api.key;
  expect(others).toEqual(defaults);
  // Each stream brings its own settings' defaults along.
  expect({ ...shown, settings: {} }).toEqual(taken);
});

test("the example's settings of a feed are what its stream does by itself", () => {
  const { settings } = (parse(example) as z.output<typeof configSchema>).streams;
  expect(Object.keys(settings)).toEqual(["findings", "ingested"]);
  for (const [name, shown] of Object.entries(settings)) {
    const mode: Readonly<Record<string, unknown>> = { ...streams.find(stream => stream.name === name)?.mode };
    if (shown.full_scan_pages !== undefined) expect(mode["fullScanPages"]).toBe(shown.full_scan_pages);
    if (shown.full_scan_every !== undefined) expect(`${mode["fullScanEveryDays"]}d`).toBe(shown.full_scan_every);
    if (shown.lookback !== undefined) expect(`${mode["lookbackDays"]}d`).toBe(shown.lookback);
  }
});

test("the example loads as it is", async () => {
  const { config, warnings } = await load(example, env);
  expect(warnings).toEqual([]);
  expect(Object.keys(config.streams.settings)).toEqual(["findings", "ingested"]);
});

const available = settingLines.filter(line => !/companies/.test(line));
test.each(available)("the example loads with this line switched on: %s", async line => {
  const { effective } = await load(switchedOn(line), env);
  const key = /^ *#(\w+):/.exec(line)?.[1];
  expect(line).toMatch(commentedOut);
  const shown = JSON.stringify(effective);
  // What belongs to the other destinations stays away from what is effective here.
  const { postgres, ducklake } = DESTINATION_KEYS;
  const storage = Object.keys(configSchema.shape.destination.unwrap().shape.storage.unwrap().shape);
  if (![...postgres, ...ducklake, ...storage].includes(key ?? "")) expect(shown).toContain(`"${key}":`);
});

test("the example loads with companies instead of company, and with PostgreSQL instead of DuckDB", async () => {
  const companies = settingLines.find(line => line.startsWith("#companies")) ?? "";
  const several = await load(switchedOn(companies).replace("company: acme", ""), env);
  expect(several.config.companies.map(one => one.name)).toEqual(["acme"]);
  const postgres = allSwitchedOn.replace(/^company:.*$/gm, "").replace("type: duckdb", "type: postgres");
  const { config } = await load(postgres, env);
  expect(config.destination).toMatchObject({ type: "postgres", url: env.DATABASE_URL, grantSelectTo: ["bi_reader"] });
  const lake = await load(postgres.replace("type: postgres", "type: ducklake"), env);
  expect(lake.config.destination).toMatchObject({
    type: "ducklake",
    catalog: env.DATABASE_URL,
    dataPath: "s3://bucket/warehouse",
    storage: { keyId: "AKIA", secret: "a secret key", urlStyle: "vhost" },
    keepSnapshotsMs: 30 * 86_400_000,
    grantSelectTo: ["bi_reader"],
  });
  expect(lake.secrets).toEqual(expect.arrayContaining(["pw", "a secret key", "a session"]));
});

test("only names and options may come from a variable without becoming secrets", () => {
  const guarded = schemaKeys(configSchema).filter(key => {
    const path = key.split(/\.|(\[\])/).filter(part => part !== undefined && part !== "");
    return !isOpen(path.map(part => (part === "[]" ? 0 : part)));
  });
  const leaves = guarded.filter(
    key => !guarded.some(other => other.startsWith(`${key}.`) || other.startsWith(`${key}[`)),
  );
  expect(leaves).toEqual(expect.arrayContaining(["api.key", "api.base_url", "destination.url"]));
  expect(leaves).not.toContain("destination.path");
  expect(leaves).not.toContain("api.max_concurrency");
  expect(leaves).not.toContain("company");
});
