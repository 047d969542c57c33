import fc from "fast-check";
import { expect, test } from "vitest";
import { createRedactor, redactJson, secretsInUrl } from "../src/secrets.ts";

const mask = "•••";
const printable = fc.string({ minLength: 4, maxLength: 40, unit: "binary-ascii" });
const anyText = fc.string({ minLength: 4, maxLength: 30, unit: "grapheme" });
const secretText = fc.oneof(printable, anyText).filter(text => text.isWellFormed() && !/^[\s•]*$/.test(text));

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const base64url = (text: string): string => Buffer.from(text).toString("base64url");
const json = (text: string): string => JSON.stringify(text).slice(1, -1);
const html = (text: string): string => text.replace(/[&<>"']/g, character => `&#${character.codePointAt(0)};`);
const spellings: Record<string, (text: string) => string> = {
  plain: text => text,
  url: encodeURIComponent,
  urlLowerCase: text => encodeURIComponent(text).replace(/%[0-9A-F]{2}/g, hex => hex.toLowerCase()),
  everyByte: text => [...Buffer.from(text)].map(byte => `%${byte.toString(16).padStart(2, "0")}`).join(""),
  form: text => new URLSearchParams({ q: text }).toString().slice(2),
  json,
  jsonInJson: text => json(json(text)),
  html,
};

test.each(Object.keys(spellings))("no secret survives spelled as %s", name => {
  const spell = spellings[name] ?? json;
  fc.assert(
    fc.property(secretText, fc.string(), fc.string(), (secret, before, after) => {
      const shown = createRedactor([secret])(`<${before}|${spell(secret)}|${after}>`);
      expect(shown).toContain(mask);
      expect(shown.includes(secret)).toBe(false);
      expect(shown.includes(spell(secret))).toBe(false);
    }),
    { numRuns: 300 },
  );
});

test("no secret survives when each of its characters is spelled another way", () => {
  const ways = fc.infiniteStream(fc.constantFrom(...Object.values(spellings)));
  fc.assert(
    fc.property(secretText, fc.string(), ways, (secret, before, chosen) => {
      const spelled = Array.from(secret, character => chosen.next().value(character)).join("");
      expect(createRedactor(["another one", secret])(`${before} ${spelled}`)).toContain(mask);
    }),
    { numRuns: 1_000 },
  );
});

test.each([
  ["ab/cd", "see ab\\/cd", `see ${mask}`],
  ['/\\ "', 'only signs: /\\\\+\\"', `only signs: ${mask}`],
  ["R&D budget", "R&amp;D+budget", mask],
  ["é", "%C3%A9", mask],
  ["a b", "a+b ab", `${mask} ab`],
])("%j is found in %j", (secret, text, shown) => {
  expect(createRedactor([secret])(text)).toBe(shown);
});

test.each([
  ["base64", base64],
  ["base64url", base64url],
] as const)("no secret survives inside longer text in %s, whatever stands before it", (_, encode) => {
  fc.assert(
    fc.property(secretText, fc.string({ maxLength: 7 }), fc.string({ maxLength: 7 }), (secret, before, after) => {
      const shown = createRedactor([secret])(`x ${encode(before + secret + after)} y`);
      expect(shown).toContain(mask);
      // Whatever groups are left decode to nothing of the secret, at any offset.
      const rests = shown.split(/[^A-Za-z0-9+/_-]+/).flatMap(rest => [0, 1, 2, 3].map(cut => rest.slice(cut)));
      const decoded = rests.map(rest => Buffer.from(rest, "base64").toString("utf8"));
      expect(decoded.some(text => text.includes(secret))).toBe(false);
    }),
    { numRuns: 300 },
  );
});

test("text without secrets stays as it is", () => {
  fc.assert(
    fc.property(fc.string(), text => {
      expect(createRedactor(["a secret that is not in it"])(text)).toBe(text);
    }),
  );
});

test("short secrets go where they stand alone, and leave words alone", () => {
  const redact = createRedactor(["abc", "7", ""]);
  expect(redact("key=abc, abcd, 7 rows, 17 rows, YWJj")).toBe(`key=${mask}, abcd, ${mask} rows, 17 rows, ${mask}`);
});

test("of two secrets with the same beginning the longer one leaves no tail", () => {
  expect(createRedactor(["hunter", "hunter-two"])("hunter-two hunter")).toBe(`${mask} ${mask}`);
});

test("a secret added later is redacted from then on", () => {
  const secrets = ["first-key"];
  const redact = createRedactor(secrets);
  expect(redact("second-key")).toBe("second-key");
  secrets.push("second-key");
  expect(redact("first-key second-key")).toBe(`${mask} ${mask}`);
});

test("passwords inside addresses are secrets, also of addresses nobody named", () => {
  expect(secretsInUrl("postgres://me:p%40ss@host:5432/db?sslpassword=x&application_name=y")).toEqual([
    "p%40ss",
    "x",
    "p@ss",
  ]);
  expect(secretsInUrl("https://host/path")).toEqual([]);
  expect(secretsInUrl("not an address")).toEqual([]);
  expect(createRedactor([])("proxy http://me:hidden@proxy:3128 failed")).toBe(
    `proxy http://me:${mask}@proxy:3128 failed`,
  );
});

test("a JSON document stays one", () => {
  const redact = createRedactor(["12345", 'pass"word']);
  const document = { rows: 12345, note: 'the pass"word', list: [1, true, null, "12345"], k12345: 0 };
  expect(redactJson(document, redact)).toEqual({
    rows: mask,
    note: `the ${mask}`,
    list: [1, true, null, mask],
    [`k${mask}`]: 0,
  });
});
