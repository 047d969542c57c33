import { describe, expect, it } from "vitest";
import { isConfidential } from "../../src/rows/confidential.ts";
import { Encoder } from "../../src/rows/encoder.ts";
import { createHasher } from "../../src/rows/hash.ts";
import { canonicalJson } from "../../src/rows/json.ts";
import { isoUtc } from "../../src/rows/moment.ts";
import { unknownFields } from "../../src/rows/unknown_fields.ts";
import { createRedactor } from "../../src/secrets.ts";
import { streams } from "../../streams/index.ts";
import { everything } from "./store.ts";

const SECRET = "whsec_4711";
const names = ["webhook_secret", "webhookSecret", "client_secret", "Password", "api_key", "apiKey", "access-token"];
const harmless = [
  "secretary",
  "key",
  "field_key",
  "tokens_used",
  "password_changed_at",
  "is_secret_santa",
  "token_count",
];

describe("values that open something", () => {
  it.each(names)("%s is one by its name", name => expect(isConfidential(name)).toBe(true));
  it.each(harmless)("%s is none", name => expect(isConfidential(name)).toBe(false));

  it("are left out of JSON, at any depth", () => {
    const nested = { a: [{ webhook_secret: SECRET, url: "x" }], connection: { settings: { clientSecret: SECRET } } };
    expect(canonicalJson(nested).text).toBe('{"a":[{"url":"x"}],"connection":{"settings":{}}}');
  });

  it("are left out of the fields that no document names, and are no such field alone", () => {
    expect(unknownFields({ api_key: SECRET }, {})).toBeUndefined();
    expect(unknownFields({ api_key: SECRET, colour: "red" }, {})).toEqual({ colour: "red" });
  });

  it("have no column", () => {
    const columns = streams.flatMap(({ tables }) => [tables.main, ...tables.children].flatMap(table => table.columns));
    expect(columns.map(({ name }) => name).filter(isConfidential)).toEqual([]);
  });

  it("are replaced in what is told of a row before it is cut", async () => {
    const token = `tok_${"x7Y".repeat(200)}`;
    const encoder = new Encoder({
      tables: everything,
      formats: isoUtc,
      hasher: await createHasher(),
      ignored: [],
      highWaterColumn: undefined,
      redact: createRedactor([token]),
    });
    encoder.add({ id: "k", colour: [token], text: { of: token }, lines: [{ line_no: "1", size: token }] }, {}, {});
    encoder.add({ id: token }, {}, {});
    const { drift, problems, rejects } = encoder.take();
    expect(drift.map(({ column, example }) => [column, example])).toEqual([
      ["colour", '["•••"]'],
      ["text", '{"of":"•••"}'],
      ["size", '"•••"'],
    ]);
    expect(problems).toMatchObject([{ column: "text", example: '{"of":"•••"}' }]);
    expect(rejects).toMatchObject([{ key: "id=•••" }]);
  });
});
