import fc from "fast-check";
import { expect, test } from "vitest";
import { createRedactor } from "../../../src/secrets.ts";
import { cleaned, isClean } from "../../../src/source/archive/cleaning.ts";

const nothing = (text: string): string => text;

test("JSON is kept as it came but for line breaks: numerals digit for digit, names in their order", () => {
  const json = '{\r\n "b": 12345678901234567.1234567890,\n "a": [1.0, -0, 1e400, "x\\ny"], "__proto__": {} }';
  expect(cleaned(json, nothing)).toBe(
    '{   "b": 12345678901234567.1234567890,  "a": [1.0, -0, 1e400, "x\\ny"], "__proto__": {} }',
  );
});

test("fields with confidential names are left out, wherever they stand and however they are written", () => {
  const fields = ['"api_key": "k1"', '"webhookSecret":{"a":["k2",{"b":"}"}]}', '"\\u0070assword":12', '"token":null'];
  const others = ['"first":{"x":"\\\\"}', '"monkey":1.50', '"key_figures":["api_key"]'];
  for (const field of fields) {
    for (const place of [0, 1, 2, 3]) {
      const members = others.toSpliced(place, 0, field);
      const text = cleaned(`{"rows":[{${members.join(" , ")}}]}`, nothing)!;
      expect(JSON.parse(text)).toEqual(JSON.parse(`{"rows":[{${others.join(",")}}]}`));
      expect(text).toContain("1.50");
    }
  }
  expect(cleaned(`{${fields.join(",")}}`, nothing)).toBe("{}");
  expect(cleaned(`{"a":1, ${fields.join(" , ")} }`, nothing)!.replaceAll(" ", "")).toBe('{"a":1}');
});

test("what is secret is replaced, and what is left is JSON", () => {
  const redact = createRedactor(["sk_live_1234", "n4711abc", "98765432109876543210"]);
  const json = JSON.stringify({
    text: "the key is sk_live_1234.",
    sk_live_1234: "\n4711abc",
    coded: Buffer.from("sk_live_1234").toString("base64"),
    beside: 1,
  }).replace('"beside":1', '"beside":98765432109876543210,"amount":98765432109876543211.5');
  const text = cleaned(json, redact)!;
  expect(JSON.parse(text)).toMatchObject({ text: "the key is •••.", "•••": expect.any(String), beside: "•••" });
  expect(text).not.toMatch(/sk_live|n4711abc|9876543210,/);
  expect(redact(text)).toBe(text);
});

test("a short or common secret takes no name and no count away", () => {
  const json = '{"id":"x-1","public":true,"rows":[{"id":7,"status":"public","note":"a page of 7"}],"at":"a"}';
  expect(cleaned(json, createRedactor(["id", "public", "7", "a"]))).toBe(
    json.replace('"status":"public"', '"status":"•••"').replace('"at":"a"', '"at":"•••"'),
  );
});

test("a secret that stands across values can't be kept out, and nothing is kept", () => {
  expect(cleaned('{"a":["one","two"]}', createRedactor(['one","two']))).toBeUndefined();
});

test("nesting a hundred thousand deep and strings of ten megabytes take no more than their time", () => {
  const PARTS = 8;
  /** Milliseconds of this thread's time, whatever else the machine does. */
  const timed = (levels: number): number => {
    const text = "\\\\x".repeat(30 * levels);
    const json = `{"api_key":${"[".repeat(levels)}${"]".repeat(levels)},"text":"${text}"}`;
    const begun = process.threadCpuUsage();
    const found = cleaned(json, nothing);
    const { user, system } = process.threadCpuUsage(begun);
    expect(found === `{"text":"${text}"}`).toBe(true);
    return (user + system) / 1_000;
  };
  const least = (measure: () => number) => Math.min(...Array.from({ length: 3 }, measure));
  const eighth = least(() => timed(100_000 / PARTS));
  // As long as its parts one by one, give or take; if it grew with the square, eight times that.
  expect(least(() => timed(100_000))).toBeLessThan(4 * PARTS * Math.max(eighth, 5));
});

const words = [
  "secret",
  "secrets",
  "password",
  "passwd",
  "passphrase",
  "api",
  "key",
  "access",
  "token",
  "webhook",
  "monkey",
];
const letters = ["K", "S", "\u212a", "\u017f", "\u0130", "é", "“", "\u00a0", "😀", "a", "1", "_", "-", " ", "."];
const escapes = ["\\u006b", "\\u0054", "\\u00e9", '\\"', "\\\\", "\\/", "\\n"];
const secrets = ["sk_live_1234", "pä“ß-wörd", 'a b"c\\d/e', "\u00e9\u00e9\u00e9\u00e9", "token", "12", "7"];
const hidden = [
  ...secrets.map(secret => JSON.stringify(secret).slice(1, -1)),
  ...secrets.map(encodeURIComponent),
  ...secrets.map(secret => Buffer.from(`x${secret}`).toString("base64")),
  ...[
    "\\u0073k_live_1234",
    "&#115;k_live_1234",
    "p&auml;",
    "https://",
    "://a:b@",
    "://a:p“ ä@h",
    "a@b.example",
    "&",
    "%",
    "%7",
  ],
];
const name = fc
  .array(
    fc.oneof(
      fc.constantFrom(...words),
      fc.constantFrom(...letters, ...escapes),
      fc.mixedCase(fc.constantFrom(...words)),
    ),
    {
      minLength: 1,
      maxLength: 4,
    },
  )
  .map(parts => `"${parts.join("")}"`);
const text = fc
  .array(fc.constantFrom(...words, ...letters, ...escapes, ...hidden), { maxLength: 4 })
  .map(parts => `"${parts.join("")}"`);
const { value } = fc.letrec<{ value: string; object: string }>(tie => ({
  object: fc
    .array(fc.tuple(name, fc.constantFrom("", " ", "\t ", "\n"), tie("value")), { maxLength: 3 })
    .map(members => `{${members.map(([key, space, of]) => `${key}${space}:${space}${of}`).join(",")}}`),
  value: fc.oneof(
    { depthSize: "small" },
    text,
    fc.constantFrom("1", "12", "7.70", "null"),
    tie("object"),
    fc.array(tie("value"), { maxLength: 2 }).map(items => `[${items.join(",")}]`),
  ),
}));

test("what is taken for clean by its bytes is what cleaning leaves as it is", () => {
  const taken = { clean: 0, other: 0 };
  fc.assert(
    fc.property(value, fc.subarray(secrets), (json, known) => {
      expect(() => JSON.parse(json)).not.toThrow();
      const redact = createRedactor(known);
      const isTaken = isClean(Buffer.from(json), redact);
      taken[isTaken ? "clean" : "other"]++;
      if (isTaken) expect(cleaned(json, redact)).toBe(json);
    }),
    { numRuns: 2_000 },
  );
  expect(Math.min(taken.clean, taken.other)).toBeGreaterThan(200);
});

test("usual pages are taken for clean: accents, signs, addresses and names that only sound confidential", () => {
  const row =
    '{"template_key":"Nuts & bolts, 5 %","key_figures":1,"monkey":"the token","site":"https://x.example/?a=b#c"}';
  const redact = createRedactor(["sk_live_1234"]);
  expect(isClean(Buffer.from(`[${row},"Vis à tête","password","ada@x.example"]`), redact)).toBe(true);
  for (const other of [
    '{"api_key" :1}',
    '{"to\u212aen":1}',
    '["sk_live_1234"]',
    '["://a:b@c"]',
    '["%41"]',
    "[1,\n2]",
    '["\\u00e9"]',
  ])
    expect(isClean(Buffer.from(other), redact)).toBe(false);
});
